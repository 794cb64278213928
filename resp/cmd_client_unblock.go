package resp

import "github.com/ringside-kv/ringside/resp/wire"

// cmdClientUnblock ends the wait of another client's command, as if its time were over, or
// with an error.
func cmdClientUnblock(x *call) {
	how := waitTimedOut
	switch {
	case len(x.args) > 4:
		x.wrongSubcommand("CLIENT")
		return
	case len(x.args) == 3 || wire.EqualFold(x.args[3], "timeout"):
	case wire.EqualFold(x.args[3], "error"):
		how = waitUnblocked
	default:
		x.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	id, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	c := x.srv.connection(id)
	x.Bool(c != nil && c.release(how))
}
