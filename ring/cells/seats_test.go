package cells

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// TestSeatsMoveOnlyWhatTheyMust takes keys through changes of the members in any order. A key may only
// leave a node that left or lost weight, or go to one that came or gained weight.
func TestSeatsMoveOnlyWhatTheyMust(t *testing.T) {
	for name, algorithm := range map[string]SeatAlgorithm{"anchor": Anchor, "memento": Memento} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := NewSeated(name, algorithm, false)
			weights := map[string]float64{"n1": 1}
			var seats *ring.Seats
			var before []string
			var had map[string]float64
			keys := make([]uint64, 5000)
			for i := range keys {
				keys[i] = rnd.Uint64()
			}
			for step := range 60 {
				for range 1 + rnd.IntN(3) {
					switch id := fmt.Sprintf("n%d", 1+rnd.IntN(30)); {
					case weights[id] == 0:
						weights[id] = float64(1+rnd.IntN(8)) / 4
					case rnd.IntN(2) == 0 && len(weights) > 1:
						delete(weights, id)
					default:
						weights[id] = float64(1+rnd.IntN(8)) / 4
					}
				}
				var members []ring.Member
				for id, w := range weights {
					members = append(members, ring.Member{ID: id, Weight: w})
				}
				members, _ = ring.SortedMembers(members)
				chooser, after, err := s.Choose(members, seats)
				if err != nil {
					t.Fatal(err)
				}
				if err := after.Validate(); err != nil {
					t.Fatal(err)
				}
				seats = after
				now := make([]string, len(keys))
				for i, key := range keys {
					now[i] = members[chooser.Choose(key, 1, nil)[0]].ID
					if before == nil || before[i] == now[i] {
						continue
					}
					if from, to := before[i], now[i]; weights[from] >= had[from] && weights[to] <= had[to] {
						t.Fatalf("step %d: a key moved from %s, of weight %v and then %v, to %s, of weight %v and then %v",
							step, from, had[from], weights[from], to, had[to], weights[to])
					}
				}
				before, had = now, map[string]float64{}
				for id, w := range weights {
					had[id] = w
				}
			}
		})
	}
}

// Nodes that leave together and return together have what they had.
func TestSeatsAreRestored(t *testing.T) {
	all, _ := ring.SortedMembers([]ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 2}, {ID: "c", Weight: 0.1}, {ID: "d", Weight: 1}, {ID: "e", Weight: 3}})
	var none *ring.Seats
	first := none.With(all)
	less := first.With(slices.DeleteFunc(slices.Clone(all), func(m ring.Member) bool { return m.ID == "b" || m.ID == "d" }))
	if len(less.Free) != 12 || less.With(all) == first {
		t.Errorf("%+v", less)
	}
	if again := less.With(all); !slices.Equal(again.Nodes, first.Nodes) || len(again.Free) != 0 {
		t.Errorf("%v, at first %v", again.Nodes, first.Nodes)
	}
	if first.With(all) != first {
		t.Error("no change makes other seats")
	}
}

// The published claim is that shares stay as even as those of jump hash, whatever was removed.
func TestSeatsAreEvenAfterRemovals(t *testing.T) {
	for name, algorithm := range map[string]SeatAlgorithm{"anchor": Anchor, "memento": Memento} {
		s := NewSeated(name, algorithm, false)
		var members []ring.Member
		for i := range 100 {
			members = append(members, ring.Member{ID: fmt.Sprintf("n%03d", i), Weight: 1})
		}
		_, seats, err := s.Choose(members, nil)
		if err != nil {
			t.Fatal(err)
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for len(members) > 10 {
			at := rnd.IntN(len(members))
			members = slices.Delete(members, at, at+1)
			if _, seats, err = s.Choose(members, seats); err != nil {
				t.Fatal(err)
			}
		}
		chooser, _, err := s.Choose(members, seats)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]int, len(members))
		const keys = 100_000
		for range keys {
			counts[chooser.Choose(rnd.Uint64(), 1, nil)[0]]++
		}
		// The deviation of a share of 10,000 is 95.
		if low, high := slices.Min(counts), slices.Max(counts); low < 9600 || high > 10_400 {
			t.Errorf("%s: from %d to %d keys of 10,000", name, low, high)
		}
	}
}
