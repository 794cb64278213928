package table

import (
	"errors"
	"reflect"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// Load balancing goes through the state's binary form; until it is first changed an older build can read it.
func TestLoadBalanceIsPartOfTheState(t *testing.T) {
	s := steps(t, new(State), found("n0", 4), &Register{Node: "n1", Incarnation: 1})
	starts := []NodeStart{{"n0", 1}, {"n1", 1}}
	moved := []ring.Override{{Range: ring.Range{Start: 5, End: 9}, Node: "n1", Home: "n0"}}
	for name, refused := range map[string]struct {
		SetLoadBalance
		want error
	}{
		"older change":   {SetLoadBalance{true, nil, 7, 0, starts}, ErrStale},
		"other strategy": {SetLoadBalance{true, nil, 0, 7, starts}, ErrStale},
		"node unasked":   {SetLoadBalance{true, nil, 0, 0, starts[:1]}, ErrIncarnation},
		"bad override":   {SetLoadBalance{true, []ring.Override{{Node: "n0", Home: "n0"}}, 0, 0, starts}, ErrInvalid},
	} {
		if after, err := s.Apply(s.Index()+1, &refused.SetLoadBalance); !errors.Is(err, refused.want) || after != s {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := mustBytes(t, s)[0]; v != unswitchedSnapshot {
		t.Errorf("version %d without load balancing", v)
	}
	before := s.Basis()
	s = steps(t, s, &SetLoadBalance{On: true, Starts: starts})
	if l := s.LoadBalance(); !l.On || l.Since != s.Index() || s.Basis() != before {
		t.Errorf("%+v, basis %d of %d", l, s.Basis(), before)
	}
	s = steps(t, s, &SetLoadBalance{On: true, Overrides: moved, After: s.LoadBalance().Since, Starts: starts})
	if l := s.LoadBalance(); !l.On || !reflect.DeepEqual(l.Overrides, moved) || s.Basis() == before {
		t.Errorf("%+v", l)
	}
	bytes := []byte(mustBytes(t, s))
	read := new(State)
	if err := read.UnmarshalBinary(bytes); err != nil || bytes[0] != unseatedSnapshot || !reflect.DeepEqual(read.LoadBalance(), s.LoadBalance()) {
		t.Errorf("version %d: %+v, %v", bytes[0], read.LoadBalance(), err)
	}
	// A switch of the strategy leaves all ranges to the new one. Meanwhile none can be given away.
	next := s.Cluster().Strategy
	next.Name = "ketama"
	s = steps(t, s, &SetStrategy{next, 0, starts, false})
	if l := s.LoadBalance(); !l.On || len(l.Overrides) > 0 || l.Since != s.Index() {
		t.Errorf("after a switch: %+v", l)
	}
	set := &SetLoadBalance{On: true, Overrides: moved, After: s.LoadBalance().Since, Strategy: s.Cluster().Since, Starts: starts}
	if after, err := s.Apply(s.Index()+1, set); !errors.Is(err, ErrBusy) || after != s {
		t.Errorf("during a switch: %v", err)
	}
}
