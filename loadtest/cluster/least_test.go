package cluster

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// Counted by hand, for 1,200 keys of 10 bytes.
func TestLeast(t *testing.T) {
	even := func(keys int64, ids ...string) Holdings {
		h := Holdings{Nodes: map[string]Holding{}, Total: Holding{1200, 12000}}
		for _, id := range ids {
			h.Nodes[id] = Holding{keys, 10 * keys}
		}
		return h
	}
	uneven := even(800, "a", "b", "c")
	uneven.Nodes["a"], uneven.Nodes["b"] = Holding{900, 9000}, Holding{700, 7000}
	for _, tt := range []struct {
		name    string
		before  Holdings
		members string
		weight  float64 // of the last; 0 is 1
		backups int
		want    int64
	}{
		{"nothing happens", even(800, "a", "b", "c"), "abc", 0, 1, 0},
		{"one joins three: a quarter of all copies", even(800, "a", "b", "c"), "abcd", 0, 1, 600},
		{"one joins three without backups", even(400, "a", "b", "c"), "abcd", 0, 0, 300},
		{"two join three", even(800, "a", "b", "c"), "abcde", 0, 1, 960},
		{"one leaves, or dies: what it had", even(600, "a", "b", "c", "d"), "abc", 0, 1, 600},
		{"two of four leave", even(600, "a", "b", "c", "d"), "ab", 0, 1, 1200},
		{"one stays: it gets what it has not, once", even(800, "a", "b", "c"), "a", 0, 1, 400},
		{"the first backups are made", even(1200, "a"), "ab", 0, 1, 1200},
		{"one joins three with two backups", even(1200, "a", "b", "c"), "abcd", 0, 2, 900},
		{"two join one with backups", even(1200, "a"), "abc", 0, 1, 1600},
		{"what is uneven is evened out", uneven, "abc", 0, 1, 100},
		{"backups are missing", even(700, "a", "b", "c"), "abc", 0, 1, 300},
		{"one of weight 2 joins three", even(800, "a", "b", "c"), "abcd", 2, 1, 960},
		{"one of weight 9 gets everything once", even(800, "a", "b", "c"), "abcd", 9, 1, 1200},
		{"nothing was there", Holdings{}, "abc", 0, 1, 0},
	} {
		var members []ring.Member
		for i, id := range tt.members {
			m := ring.Member{ID: string(id), Weight: 1}
			if i == len(tt.members)-1 && tt.weight > 0 {
				m.Weight = tt.weight
			}
			members = append([]ring.Member{m}, members...) // in any order
		}
		if got, want := Least(tt.before, members, tt.backups), (Holding{tt.want, 10 * tt.want}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}

func TestLeastToIsWhatNodesGain(t *testing.T) {
	before := Holdings{Nodes: map[string]Holding{"a": {600, 6000}, "b": {600, 6000}}, Total: Holding{1200, 12000}}
	after := Holdings{Nodes: map[string]Holding{"a": {400, 4000}, "b": {800, 8000}}, Total: Holding{1200, 12000}}
	if got := LeastTo(before, after); got != (Holding{200, 2000}) {
		t.Errorf("%+v", got)
	}
	// Keys written meanwhile do not count: only shares do.
	after = Holdings{Nodes: map[string]Holding{"a": {800, 8000}, "b": {1600, 16000}}, Total: Holding{2400, 24000}}
	if got := LeastTo(before, after); got != (Holding{200, 2000}) {
		t.Errorf("with twice the keys: %+v", got)
	}
	if got := LeastTo(before, Holdings{}); got != (Holding{}) {
		t.Errorf("nothing is known afterwards: %+v", got)
	}
}
