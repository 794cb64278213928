package resp

// conn is one client connection.
type conn struct{}
