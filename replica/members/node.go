package members

import "strconv"

// A Role says what a node is there for.
type Role string

// Roles.
const (
	RoleStore Role = "store" // holds data
	RoleProxy Role = "proxy" // routes, holds no data
	// RoleWitness takes part in agreeing on the placement, and is else a proxy.
	RoleWitness Role = "witness"
)

// A Status is what gossip thinks of a node.
type Status uint8

// Statuses. The zero Status is none.
const (
	// Alive: it answers, or is not yet missed for long enough.
	Alive Status = iota + 1
	// Failed: it does not answer. It may be cut off, or slow.
	Failed
	// Left: it said that it goes, and went.
	Left
)

// String returns the status as reports and logs have it.
func (s Status) String() string {
	switch s {
	case Alive:
		return "alive"
	case Failed:
		return "failed"
	case Left:
		return "left"
	default:
		return "status " + strconv.Itoa(int(s))
	}
}

// A Node is what is known of one node. Nodes can be compared by ==.
type Node struct {
	ID          string
	Incarnation uint64 // of its latest start that has been seen
	Role        Role
	Weight      float64
	Version     string // of its build
	BusAddr     string // host:port where nodes connect
	ClientAddr  string // host:port where clients connect
	GossipAddr  string // IP:port where it gossips
	Status      Status
	// Generation is that of the cluster which the node is in, 0 before it is in any.
	Generation uint64
	// Expect is with how many nodes, itself among them, it waits to found a cluster; 0
	// if it does not.
	Expect int
}
