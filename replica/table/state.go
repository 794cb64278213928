package table

import (
	"iter"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/ring"
)

// A State is the table at one moment. It never changes and may be read from any
// goroutine; whatever it hands out is shared, and must not be changed either. The
// zero State is the one before a cluster is founded. States share what they have in
// common, so that a change costs in proportion to what it touches.
type State struct {
	cluster Cluster
	// index is that of the last command that was applied, and basis that of the last
	// one that changed what a plan is made from.
	index, basis uint64
	// The last numbers that were given out: they are never used twice.
	lastHandoff, lastLineage uint64

	nodes    []Node     // ordered by id
	handoffs []*Handoff // ordered by id
	rows     rows

	comparisons Comparisons
	load        LoadBalance
	seats       *ring.Seats // nil under strategies without seats
	databases   int         // 0 is 1
	policies    *database.Policies
	values      *agreed.Values

	placed    sync.Once
	placement *ring.Placement
}

// Founded reports whether there is a cluster. Without one there are no nodes and no
// rows.
func (s *State) Founded() bool { return s.cluster.Generation != 0 }

// Cluster is what the nodes have in common.
func (s *State) Cluster() Cluster { return s.cluster }

// Index is the table index: that of the last command that changed the state.
func (s *State) Index() uint64 { return s.index }

// Basis is the index of the last change that matters to a plan: of nodes, sets,
// primaries, bounds or handoffs. [Plan] names it.
func (s *State) Basis() uint64 { return s.basis }

// Len is the number of rows.
func (s *State) Len() int { return s.rows.n }

// Row returns the row with a token. There is none before a cluster is founded.
func (s *State) Row(t ring.Token) (*Row, bool) {
	if s.rows.n == 0 {
		return nil, false
	}
	return s.rows.at(t), true
}

// Rows goes over all rows in the order of their starts; only the last may wrap.
func (s *State) Rows() iter.Seq[*Row] { return s.rows.all() }

// Emptied reports whether a row's primary has a new directory since it served the row.
func (s *State) Emptied(row *Row) bool {
	at, ok := place(s.nodes, row.Primary)
	return ok && row.Incarnation < s.nodes[at].Anew
}

// Lost reports whether no node has anything of a row any more, whichever comes back: its only
// member has a new directory. It stays so until it is made anew by [Recreate].
func (s *State) Lost(row *Row) bool { return len(row.Backups) == 0 && s.Emptied(row) }

// Placement is the rows as the rest of Ringside reads them; nil before a cluster is
// founded. It is made when it is first asked for, which takes time in proportion to
// all rows.
func (s *State) Placement() *ring.Placement {
	s.placed.Do(func() {
		if s.rows.n == 0 {
			return
		}
		flat := make([]ring.Row, 0, s.rows.n)
		for row := range s.rows.all() {
			flat = append(flat, row.Row)
		}
		p, err := ring.NewPlacement(flat)
		if err != nil {
			panic("table: the rows of a state are no placement: " + err.Error())
		}
		s.placement = p.WithSeats(s.seats)
	})
	return s.placement
}

// Node returns a node that has registered, also one that is gone.
func (s *State) Node(id string) (Node, bool) {
	if i, ok := place(s.nodes, id); ok {
		return s.nodes[i], true
	}
	return Node{}, false
}

// Comparisons are when which part of the circle was compared last.
func (s *State) Comparisons() Comparisons { return s.comparisons }

// Nodes are all nodes that have registered, ordered by id, also those that are gone.
func (s *State) Nodes() []Node { return slices.Clone(s.nodes) }

// MembersOf are the nodes among which a strategy shares the ranges, ordered by id.
func (s *State) MembersOf() []ring.Member {
	var members []ring.Member
	for i := range s.nodes {
		if s.nodes[i].Counts() {
			members = append(members, zones.Member(s.values, s.nodes[i].Member()))
		}
	}
	return members
}

// Seats are those of the members; nil under a strategy without seats. See [ring.Seats].
func (s *State) Seats() *ring.Seats { return s.seats }

// Handoffs are those that are not done, ordered by id.
func (s *State) Handoffs() []*Handoff { return slices.Clone(s.handoffs) }

// Handoff returns one that is not done.
func (s *State) Handoff(id uint64) (*Handoff, bool) {
	if i, ok := placeOf(s.handoffs, id); ok {
		return s.handoffs[i], true
	}
	return nil, false
}

// Apply returns the state after a command, which stands at an index above all before
// it. If the command is refused, the error wraps one of the reasons that this package
// lists, and the state stays as it is: s itself is returned.
func (s *State) Apply(index uint64, command Command) (*State, error) {
	if index <= s.index {
		return s, refuse(ErrInvalid, "index %d after %d", index, s.index)
	}
	if _, founds := command.(*Found); !founds && !s.Founded() {
		return s, ErrNotFounded
	}
	d := s.draft(index)
	if err := command.apply(d); err != nil {
		return s, err
	}
	if d.seats != nil && d.basis == index {
		d.seats = d.seats.With(d.MembersOf())
	}
	return d.State, nil
}
