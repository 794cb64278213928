// Package client carries Redis commands to nodes. So far it owns the transport that
// a node forwards with: batches of raw commands of many clients travel to a peer
// over few connections, and the raw replies come back, unparsed on the way.
//
// It does not own connections' beginnings (they are dialled and accepted for it, by
// package replica/bus in a node), the placement, or what a command means.
//
// Read [Peer] and [Call] first, which send; then [ServeForward] and [Batch], which
// answer; frame.go says what travels, link.go how connections come and go.
package client
