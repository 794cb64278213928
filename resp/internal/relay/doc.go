// Package relay says how a node hands requests of its clients to other nodes: the way that batches of them
// take, and the statuses that come back beside the replies. Package resp sends and runs the batches,
// resp/node carries them over the bus. A [Peer] is such a way for packages that only ask and wait.
package relay
