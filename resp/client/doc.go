// Package client carries Redis commands to nodes, in two ways.
//
// For applications it owns the routing client: a [Ring] knows which node serves which
// keys, sends each command straight there over few connections that all callers share,
// follows redirects and changes of the placement, and says what has become of a command
// that failed. It speaks to a cluster of Ringside, whatever its strategy, to a node alone,
// and to Redis.
//
// For nodes it owns the transport with which they forward: batches of raw commands of many
// clients travel to a peer over few connections, and the raw replies come back, unparsed
// on the way. It does not own the beginnings of these connections: they are dialled and
// accepted for it, by package replica/bus.
//
// It does not own what a command means, which servers tell, nor where keys lie, which is
// in package ring and the strategies.
//
// To use it, read [Open], [Config], [Ring] and [Reply], then [Pipeline]; errors.go says
// what became of a command. To change it, read on with rounds.go (what follows from an
// outcome), lane.go (one connection) and follow.go (how changes are learnt). Of the nodes'
// transport read [Peer] and [Call] first, which send; then [ServeForward] and [Batch],
// which answer; frame.go says what travels, link.go how connections come and go.
package client
