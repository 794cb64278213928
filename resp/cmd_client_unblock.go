package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdClientUnblock ends the wait of another client's command, as if its time were over, or
// with an error.
func cmdClientUnblock(x *call) {
	how := waitTimedOut
	switch {
	case len(x.Args) > 4:
		x.WrongSubcommand("CLIENT")
		return
	case len(x.Args) == 3 || wire.EqualFold(x.Args[3], "timeout"):
	case wire.EqualFold(x.Args[3], "error"):
		how = waitUnblocked
	default:
		x.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	id, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	c := x.srv.connection(id)
	x.Bool(c != nil && c.endWait(how))
}
