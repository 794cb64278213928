package table

import (
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// Members have seats in the order in which they came and left, also across a snapshot and a switch
// between two strategies with seats.
func TestSeatsFollowMembers(t *testing.T) {
	first := found("n0", 4)
	first.Seated = true
	s := steps(t, new(State), first, &Register{Node: "n1", Incarnation: 1}, &Register{Node: "n2", Incarnation: 1})
	nodes := func(want ...string) {
		t.Helper()
		var got []string
		for i, node := range s.Seats().Nodes {
			if i%4 == 0 { // of four seats each
				got = append(got, node)
			}
		}
		if !slices.Equal(got, want) || s.Placement().Seats() != s.Seats() {
			t.Errorf("%v, want %v", got, want)
		}
		read := new(State)
		if err := read.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil || mustBytes(t, read) != mustBytes(t, s) {
			t.Errorf("read back: %v", err)
		}
	}
	nodes("n0", "n1", "n2")
	if v := mustBytes(t, s)[0]; v != untunedSnapshot {
		t.Errorf("version %d", v)
	}
	s = steps(t, s, &Leave{"n1", 1})
	nodes("n0", "", "n2")
	s = steps(t, s, &Register{Node: "n3", Incarnation: 1})
	nodes("n0", "n3", "n2")
	starts := []NodeStart{{"n0", 1}, {"n1", 1}, {"n2", 1}, {"n3", 1}}
	next := s.Cluster().Strategy
	next.Name = "memento"
	seats := s.Seats()
	s = steps(t, s, &SetStrategy{next, 0, starts, true})
	if s.Seats() != seats {
		t.Error("a switch to another strategy with seats makes others")
	}
	next.Name = "maglev"
	s = steps(t, s, &SetStrategy{next, s.Cluster().Since, starts, false})
	if s.Seats() != nil || mustBytes(t, s)[0] >= untunedSnapshot {
		t.Errorf("%v under a strategy without seats", s.Seats())
	}
}

// A snapshot whose seats are not those of the members is refused.
func TestDamagedSeatsAreRefused(t *testing.T) {
	first := found("n0", 4)
	first.Seated = true
	s := steps(t, new(State), first)
	for _, seats := range []*ring.Seats{
		{Nodes: []string{"n1", "n0", "n0", "n0", "n0"}},
		{Nodes: []string{"n0"}},
		{Nodes: []string{"n0", "n0", "n0", "n0", ""}},
	} {
		damaged := s.draft(s.Index()).State
		damaged.seats = seats
		if err := new(State).UnmarshalBinary([]byte(mustBytes(t, damaged))); err == nil {
			t.Errorf("%v is read", seats.Nodes)
		}
	}
}
