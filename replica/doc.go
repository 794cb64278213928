// Package replica is the engine that moves ranges between nodes: the ordered stream
// of writes, its acknowledgements, and the phases of a handoff.
//
// It owns what travels on a connection between two nodes and when a range changes
// hands. It does not own the table of ranges (replica/table), the connections
// (replica/bus), the data (package store), nor who answers clients (package resp); it
// declares what it needs of them.
//
// Read [Stream] and [Receive] first; SAFETY is argued in DESIGN.md.
package replica
