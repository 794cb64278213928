package ringtest

import (
	"errors"
	"math"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func (s Suite) hashTags(t *testing.T) {
	for _, same := range [][]string{
		{"{user1000}.following", "{user1000}.followers", "user1000", "a{user1000}b"},
		{"foo{bar}{zap}", "bar"},
		{"foo{{bar}}zap", "{bar"},
		{"{\x00\xff}a", "\x00\xff"},
	} {
		want := s.Strategy.Token([]byte(same[0]))
		for _, key := range same[1:] {
			if got := s.Strategy.Token([]byte(key)); got != want {
				t.Errorf("%q lies at %08x, %q at %08x", same[0], want, key, got)
			}
		}
	}
	for _, pair := range [][2]string{{"foo{}{bar}", "bar"}, {"a{}", "b{}"}, {"{a", "a"}} {
		if s.Strategy.Token([]byte(pair[0])) == s.Strategy.Token([]byte(pair[1])) {
			t.Errorf("%q and %q lie together", pair[0], pair[1])
		}
	}
}

func (s Suite) badInput(t *testing.T) {
	good := ring.Member{ID: "a", Weight: 1}
	for name, tt := range map[string]struct {
		in   ring.Input
		want error
	}{
		"no nodes":                {ring.Input{}, ring.ErrNoMembers},
		"a duplicate id":          {ring.Input{Members: []ring.Member{good, good}}, ring.ErrDuplicate},
		"an empty id":             {ring.Input{Members: []ring.Member{{Weight: 1}}}, ring.ErrID},
		"weight 0":                {ring.Input{Members: []ring.Member{{ID: "a"}}}, ring.ErrWeight},
		"a negative weight":       {ring.Input{Members: []ring.Member{{ID: "a", Weight: -1}}}, ring.ErrWeight},
		"a weight without number": {ring.Input{Members: []ring.Member{{ID: "a", Weight: math.NaN()}}}, ring.ErrWeight},
		"an endless weight":       {ring.Input{Members: []ring.Member{{ID: "a", Weight: math.Inf(1)}}}, ring.ErrWeight},
		"negative backups":        {ring.Input{Members: []ring.Member{good}, Backups: -1}, ring.ErrBackups},
	} {
		if p, err := s.Strategy.Desired(tt.in); !errors.Is(err, tt.want) || p != nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	// A tiny weight beside a large one, and more backups than nodes, are no faults.
	p, err := s.Strategy.Desired(ring.Input{
		Members: []ring.Member{{ID: "a", Weight: math.SmallestNonzeroFloat64}, {ID: "b", Weight: ring.MaxWeight}},
		Backups: math.MaxInt,
	})
	if err != nil || p.Lookup(0).Primary == "" {
		t.Errorf("a tiny weight: %v", err)
	}
}
