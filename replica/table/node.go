package table

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Bounds of the table.
const (
	// maxNodes are those that are not gone.
	maxNodes = 1 << 14
	// maxGone is how many nodes that are gone are remembered, so that an old
	// directory of theirs is known as such. The oldest is forgotten first.
	maxGone = 4096
	// maxPins is how many points an operator may pick for one node.
	maxPins = 1 << 16
	// maxCopies bounds the nodes of one range.
	maxCopies = 255
	// maxRows leaves room above the largest useful rings and keeps a slip from
	// filling every node's memory.
	maxRows = 1 << 22
)

// A Role says what a node is for.
type Role uint8

// Roles.
const (
	Store   Role = iota // holds data and counts for voters
	Proxy               // routes, without data or vote
	Witness             // counts for voters, without data
)

// String returns the role as the --role flag has it.
func (r Role) String() string {
	return [...]string{"store", "proxy", "witness", "?"}[r&3]
}

// A NodeState says how far a node belongs to the cluster.
type NodeState uint8

// States of a node.
const (
	Joining NodeState = iota // registered, has no copy that counts yet
	Member                   // has, or had, a copy that counts; who holds no data is one at once
	Leaving                  // hands over what it has
	Gone                     // left or forgotten; remembered for its incarnation alone
)

// String returns the state as reports have it.
func (s NodeState) String() string {
	return [...]string{"joining", "member", "leaving", "gone"}[s&3]
}

// A Node is a registered node. Its pins must not be changed.
type Node struct {
	ID string
	// Incarnation numbers its starts; each is above all before it.
	Incarnation uint64
	// Server is its id in the Raft group; empty while it is in none.
	Server string
	Role   Role
	State  NodeState
	// Intact reports that the present start found all that the node had acknowledged.
	Intact   bool
	Weight   float64
	Pins     []ring.Token
	OnlyPins bool
	// Since is the table index at which State became what it is.
	Since uint64
	// Failed is the table index at which others took its place, the last time; 0 if
	// never. It answers nothing that was asked of it before that.
	Failed uint64
	// Anew is the start with which its present directory began, if an earlier directory
	// had been registered under this id; else 0. Of what the node served before that it
	// has nothing: see [State.Lost].
	Anew uint64
}

// Member is the node as the strategies see it.
func (n *Node) Member() ring.Member {
	return ring.Member{ID: n.ID, Weight: n.Weight, Pins: n.Pins, OnlyPins: n.OnlyPins}
}

// Counts reports whether the strategy gives the node a share.
func (n *Node) Counts() bool {
	return n.Role == Store && (n.State == Joining || n.State == Member)
}

// Votes reports whether the node counts for voters.
func (n *Node) Votes() bool {
	return n.Role != Proxy && (n.State == Joining || n.State == Member)
}

// leavingHolders are the stores that leave and still hold a copy.
func (s *State) leavingHolders() map[string]bool {
	found := make(map[string]bool)
	for i := range s.nodes {
		if n := &s.nodes[i]; n.Role == Store && n.State == Leaving && s.holds(n.ID) {
			found[n.ID] = true
		}
	}
	return found
}

// holds reports whether any range has a copy of a node in its set.
func (s *State) holds(id string) bool {
	for row := range s.rows.all() {
		if row.Holds(id) {
			return true
		}
	}
	return false
}

func (n *Node) validate() error {
	if err := n.Member().Validate(); err != nil {
		return refuse(ErrInvalid, "%v", err)
	}
	switch {
	case n.Incarnation == 0:
		return refuse(ErrInvalid, "%s: incarnation 0", n.ID)
	case len(n.Server) > maxText:
		return refuse(ErrInvalid, "%s: a server id of %d bytes", n.ID, len(n.Server))
	case len(n.Pins) > maxPins:
		return refuse(ErrInvalid, "%s: %d pins, %d are allowed", n.ID, len(n.Pins), maxPins)
	}
	return nil
}

func (n *Node) code(c *codec) {
	c.text(&n.ID)
	c.number(&n.Incarnation)
	c.text(&n.Server)
	small(c, &n.Role, Witness)
	small(c, &n.State, Gone)
	c.flag(&n.Intact)
	c.float(&n.Weight)
	c.tokenList(&n.Pins)
	c.flag(&n.OnlyPins)
	c.number(&n.Since)
	c.number(&n.Failed)
	c.number(&n.Anew)
}

// place finds a node among those ordered by id.
func place(nodes []Node, id string) (int, bool) {
	return slices.BinarySearchFunc(nodes, id, func(n Node, id string) int { return cmp.Compare(n.ID, id) })
}
