// Package load decides which ranges should move to even the load on nodes, whatever the strategy is.
//
// A node counts the operations and bytes of each cell of the circle in its [Meter], whose rates
// decay. The node that decides collects one [Profile] per node, with the rates and the stored bytes of its
// cells, and [Propose] chooses the cheapest moves that bring the busiest node near the mean. A move
// becomes a [ring.Override] in the placement table: the strategy places all ranges as before, and an
// override then gives its range to another node, so that the quota of both nodes follows the load. A
// backup that becomes the primary costs no bytes and is preferred; every other move carries its range once.
// [Balancer] holds decisions back: an imbalance must last, a proposal must gain enough, and a load that keeps
// moving makes the pauses between decisions longer, so that ranges do not flap.
//
// The package does no I/O, starts no goroutine and looks at no clock: callers pass the time.
//
// Read [Rate] and [Meter] first, then [Propose].
package load
