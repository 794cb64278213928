package table

import (
	"errors"
	"testing"
)

// A switch keeps the founding settings, and the state goes through its binary form; until the first
// switch an older build can read it.
func TestSwitchIsPartOfTheState(t *testing.T) {
	s := steps(t, new(State), found("n0", 4), &Register{Node: "n1", Incarnation: 1})
	founding := s.Cluster().Strategy
	version := func(s *State) byte { t.Helper(); return mustBytes(t, s)[0] }
	if v := version(s); v != unswitchedSnapshot {
		t.Errorf("version %d before a switch", v)
	}
	next := founding
	next.Name, next.Points = "ketama", 80
	starts := []NodeStart{{"n0", 1}, {"n1", 1}}
	for name, refused := range map[string]struct {
		SetStrategy
		want error
	}{
		"already in force": {SetStrategy{founding, 0, starts, false}, ErrInvalid},
		"older switch":     {SetStrategy{next, 7, starts, false}, ErrStale},
		"node unasked":     {SetStrategy{next, 0, starts[:1], false}, ErrIncarnation},
		"other start":      {SetStrategy{next, 0, []NodeStart{starts[0], {"n1", 2}}, false}, ErrIncarnation},
		"other hash":       {SetStrategy{Settings{Name: "ketama", Hash: "slot"}, 0, starts, false}, ErrInvalid},
		"no name":          {SetStrategy{Settings{Hash: founding.Hash}, 0, starts, false}, ErrInvalid},
	} {
		if after, err := s.Apply(s.Index()+1, &refused.SetStrategy); !errors.Is(err, refused.want) || after != s {
			t.Errorf("%s: %v", name, err)
		}
	}
	before := s.Basis()
	s = steps(t, s, &SetStrategy{next, 0, starts, false})
	of := s.Cluster()
	if of.Strategy != next || of.FoundedWith() != founding || of.Since != s.Index() || !of.Unfinished || s.Basis() == before {
		t.Errorf("%+v", of)
	}
	if v := version(s); v != unbalancedSnapshot {
		t.Errorf("version %d after a switch", v)
	}
	read := new(State)
	if err := read.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil || read.Cluster() != of {
		t.Errorf("%+v, %v", read.Cluster(), err)
	}
	if after, err := s.Apply(s.Index()+1, &EndSwitch{of.Since, before}); !errors.Is(err, ErrStale) || after != s {
		t.Errorf("the end by an older table: %v", err)
	}
	s = steps(t, s, &EndSwitch{of.Since, s.Basis()})
	if of := s.Cluster(); of.Unfinished || of.Strategy != next {
		t.Errorf("%+v", of)
	}
	back := founding
	s = steps(t, s, &SetStrategy{back, of.Since, starts, false})
	if of := s.Cluster(); of.Strategy != founding || of.FoundedWith() != founding || of.Since != s.Index() {
		t.Errorf("%+v", of)
	}
}
