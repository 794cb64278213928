package resp

// A call is one command being executed: its arguments, the connection it came
// from and the reply that it writes. A connection reuses one call for all its
// commands, so nothing may keep it, or the arguments, after the command.
type call struct {
	*reply          // of the connection
	cmd    *command // the row, of the subcommand if there is one
	args   [][]byte // args[0] is the name as the client wrote it
	srv    *Server
	conn   *conn
}
