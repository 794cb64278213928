package resp

// cmdClientUnblock ends the wait of another client's command, as if its time were over, or
// with an error.
func cmdClientUnblock(x *call) {
	how := waitTimedOut
	switch {
	case len(x.args) > 4:
		x.wrongSubcommand("CLIENT")
		return
	case len(x.args) == 3 || equalFold(x.args[3], "timeout"):
	case equalFold(x.args[3], "error"):
		how = waitUnblocked
	default:
		x.err("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	}
	id, ok := parseInt(x.args[2])
	if !ok {
		x.err(msgNotInteger)
		return
	}
	c := x.srv.connection(id)
	x.boolean(c != nil && c.release(how))
}
