package status

// Moves are what this node knows of the moving of data.
type Moves struct {
	Cluster, Generation string // empty before the node is in one
	Leader              string // who leads those that agree on the placement, if known
	// Paused and Throttle hold for the whole cluster.
	Paused   bool
	Throttle int64 // bytes a second of one node; 0 is no bound
	// Switching reports a switch of the strategy that is not finished.
	Switching bool
	// Running are the handoffs in which this node has a part and that are not done.
	Running int
	// PendingKeys and PendingBytes are still to be handed over by this node, as far as
	// is known.
	PendingKeys, PendingBytes int64
	// Waiting are the handoffs by this node that do not go on, by the cause, which is one
	// of a few words. Causes without any are in it as well, once the node is in a cluster.
	Waiting map[string]int
	// Short and Lost are ranges of the whole cluster: see [Report].
	Short, Lost int
	Moved
	Feeding Feeding
	// Lease is the node's own.
	Lease Lease
	// Scrub is how far this node's check of copies is.
	Scrub Scrub
}
