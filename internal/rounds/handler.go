package rounds

// A Handler serves a connection.
type Handler interface {
	// Ready is called in a round when something has arrived. The connection is the handler's until
	// it is parked or closed.
	Ready(Turn)
	// Resume is called instead, in a goroutine of its own, when the connection was closed, its deadline
	// for reads is over, or turns take long just now.
	Resume()
}
