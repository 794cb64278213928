package buckets

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestConfigFaults(t *testing.T) {
	_, err := New(Config{Mask: 0xF0, SplitUnder: -1})
	if !errors.Is(err, ErrMask) || !strings.Contains(err.Error(), "negative") {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{Mask: 0x1FFF, Slots: true}); !errors.Is(err, ErrMask) {
		t.Errorf("mask 1FFF by slot: %v", err)
	}
}

func TestInputFaults(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	a := ring.Member{ID: "a", Weight: 1}
	for name, tt := range map[string]struct {
		in   ring.Input
		want error
	}{
		"no nodes": {ring.Input{}, ring.ErrNoMembers},
		"twice":    {ring.Input{Members: []ring.Member{a, a}}, ring.ErrDuplicate},
		"weight":   {ring.Input{Members: []ring.Member{{ID: "a"}}}, ring.ErrWeight},
		"backups":  {ring.Input{Members: []ring.Member{a}, Backups: -1}, ring.ErrBackups},
		"pins":     {ring.Input{Members: []ring.Member{{ID: "a", Weight: 1, Pins: []ring.Token{1}}}}, ring.ErrPins},
	} {
		if p, err := s.Desired(tt.in); !errors.Is(err, tt.want) || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A learner of the present placement is no copy: what it has may be half of it.
func TestLearnersDoNotCount(t *testing.T) {
	s, err := New(Config{Mask: 1, SplitUnder: 1})
	if err != nil {
		t.Fatal(err)
	}
	present, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "a", Learners: []string{"b"}},
		{Range: ring.Range{Start: 1 << 31}, Primary: "a", Learners: []string{"b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Desired(ring.Input{Members: []ring.Member{{ID: "b", Weight: 1}}, Present: present.Without("a")})
	if err != nil {
		t.Fatal(err)
	}
	if plan := ring.NewPlan(present.Without("a"), p); len(plan.Lost) != 1 || plan.Lost[0] != ring.Whole {
		t.Errorf("%+v", plan)
	}
}
