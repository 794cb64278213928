package collection

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/store"
)

// What is read ahead at an end of a sorted set is never taken for what others have made of
// it meanwhile: in the same unit through another ZSet, in another unit, in one that was given
// up, or in another collection under the same key.
func TestPopsSeeConcurrentChanges(t *testing.T) {
	randomtest.Draw(t, 3)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	s := open(t, fs)
	keys := []string{"a", "b"}
	model := map[string]map[string]float64{"a": {}, "b": {}}
	odd := &shape{maxBlock: 6, fillBlock: 3, countFrom: 12, maxLog: 60, perByte: 1, maxPages: 100, maxLeft: 7, planFrom: 3}
	units := []*store.Unit{s.NewUnit(), s.NewUnit()}
	sets := []*ZSet{{oddShape: odd}, {oddShape: odd}}
	for round := range rounds(400) {
		if round%80 == 79 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, fs)
			units = []*store.Unit{s.NewUnit(), s.NewUnit()}
		}
		u, z := units[rnd.IntN(2)], sets[rnd.IntN(2)]
		u.Begin(1000, []store.Place{u.Place([]byte("a")), u.Place([]byte("b"))})
		before := map[string]map[string]float64{"a": maps.Clone(model["a"]), "b": maps.Clone(model["b"])}
		for range rnd.IntN(12) {
			popSome(t, u, z, odd, rnd, model, keys[rnd.IntN(2)])
		}
		if rnd.IntN(10) == 0 {
			u.Abort()
			model = before
			continue
		}
		var done store.Signal
		wait, err := u.Commit(&done)
		if err == nil && wait {
			err = done.Wait()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// popSome takes some members from an end, or does something else to a sorted set, through z
// or another one.
func popSome(t *testing.T, u *store.Unit, z *ZSet, odd *shape, rnd *rand.Rand, model map[string]map[string]float64, key string) {
	t.Helper()
	m := model[key]
	if rnd.IntN(3) == 0 {
		z = &ZSet{oddShape: odd}
	}
	z.Limit(1)
	back := rnd.IntN(2) == 0
	what := rnd.IntN(12)
	for range 1 + rnd.IntN(6) {
		if err := z.Open(u, []byte(key)); err != nil {
			t.Fatal(err)
		}
		var err error
		switch {
		case len(m) < 30 || what == 0:
			for range 10 {
				member, score := fmt.Sprint(rnd.IntN(200)), float64(rnd.IntN(100))
				if rnd.IntN(8) == 0 { // longer than what a header keeps of an end
					member = fmt.Sprintf("%0150s", member)
				}
				m[member] = score
				if err = z.Set([]byte(member), score); err != nil {
					break
				}
			}
		case what == 1:
			all := inOrder(m)
			e := all[rnd.IntN(3)]
			if rnd.IntN(2) == 0 {
				e = all[len(all)-1-rnd.IntN(3)]
			}
			delete(m, e.member)
			_, err = z.Delete([]byte(e.member))
		case what == 2 && rnd.IntN(4) == 0:
			z.table.Clear()
			clear(m)
		case what == 3 || what == 4: // what is at one end goes to one, or beyond it
			all := inOrder(m)
			e := all[rnd.IntN(2)]
			if back {
				e = all[len(all)-1-rnd.IntN(2)]
			}
			m[e.member] = []float64{all[0].score - 1, all[0].score, all[len(all)-1].score, all[len(all)-1].score + 1}[rnd.IntN(4)]
			err = z.Set([]byte(e.member), m[e.member])
		case what == 5 || what == 6: // some at one end go as a range
			all := inOrder(m)
			n := rnd.IntN(6)
			from, to := []byte(nil), RankKey(nil, all[n].score, []byte(all[n].member))
			gone := all[:n]
			if rnd.IntN(2) == 0 {
				from = RankKey(nil, all[0].score-rnd.Float64(), nil)
			}
			if back {
				e := all[len(all)-n-1]
				from, to, gone = RankKey(nil, e.score, append([]byte(e.member), 0)), nil, all[len(all)-n:]
				if rnd.IntN(2) == 0 {
					to = RankKeyBehind(nil, all[len(all)-1].score)
				}
			}
			var got int64
			if got, err = z.RemoveRange(from, to); got != int64(n) {
				t.Fatalf("%d are removed, want %d", got, n)
			}
			for _, e := range gone {
				delete(m, e.member)
			}
		default:
			all := inOrder(m)
			if back {
				slices.Reverse(all)
			}
			var got []scored
			err = z.Pop(1, back, func(member []byte, score float64) { got = append(got, scored{string(member), score}) })
			if !slices.Equal(got, all[:1]) {
				t.Fatalf("back %v: %v, want %v", back, got, all[:1])
			}
			delete(m, all[0].member)
		}
		if err == nil {
			err = z.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	checkCounts(t, zsetOf(t, u, key, 1, odd))
	if rnd.IntN(4) == 0 {
		compareZSet(t, zsetOf(t, u, key, 1, odd), rnd, m)
	}
}

// Rank keys of members that were popped one by one stay where they are, but not many, and
// nothing is seen of them whatever comes to lie beyond the ends.
func TestPoppedMembersLeaveLittleBehind(t *testing.T) {
	for _, back := range []bool{false, true} {
		s := open(t, vfs.NewMem())
		u := s.NewUnit()
		z := &ZSet{oddShape: &shape{maxBlock: 6, fillBlock: 3, countFrom: 12, maxLog: 60, perByte: 1, maxPages: 100, maxLeft: 20, planFrom: 30}}
		z.Limit(1)
		model := map[string]float64{}
		most := int64(0)
		at := func(i int) float64 {
			if back {
				return float64(-i)
			}
			return float64(i)
		}
		change := func(change func() error) {
			t.Helper()
			if err := z.Open(u, []byte("k")); err != nil {
				t.Fatal(err)
			}
			if err := cmp.Or(change(), z.Flush()); err != nil {
				t.Fatal(err)
			}
		}
		const members = 200
		u.Begin(1000, []store.Place{u.Place([]byte("k"))})
		for i := range members {
			member := fmt.Sprint(i)
			model[member] = at(i)
			change(func() error { return z.Set([]byte(member), at(i)) })
		}
		if _, err := u.Commit(nil); err != nil {
			t.Fatal(err)
		}
		for i := range members / 2 {
			if i%10 == 0 {
				u.Begin(1000, []store.Place{u.Place([]byte("k"))})
			}
			change(func() error {
				return z.Pop(1, back, func(member []byte, score float64) {
					if score != at(i) {
						t.Fatalf("%s is popped, want that of %v", member, at(i))
					}
					delete(model, string(member))
				})
			})
			if most = max(most, z.left); z.left > 20 {
				t.Fatalf("%d are left", z.left)
			}
			if i%10 != 9 {
				continue
			}
			if i == 59 { // before half of what was popped
				model["back again"] = at(30)
				change(func() error { return z.Set([]byte("back again"), at(30)) })
				compareZSet(t, z, rand.New(rand.NewPCG(1, 1)), model)
				delete(model, "back again")
				change(func() error { _, err := z.Delete([]byte("back again")); return err })
			}
			if _, err := u.Commit(nil); err != nil {
				t.Fatal(err)
			}
			in(t, s, func(u *store.Unit) {
				z := zsetOf(t, u, "k", 1, z.oddShape)
				compareZSet(t, z, rand.New(rand.NewPCG(1, 1)), model)
				keys := int64(0)
				it := u.Elements([]byte("k"), z.Value(), []byte{kindScore}, []byte{kindScore + 1}, false)
				for it.Next() {
					keys++
				}
				if err := it.Close(); err != nil || keys != z.Len()+z.left {
					t.Errorf("%d rank keys of %d members and %d that are left: %v", keys, z.Len(), z.left, err)
				}
			}, "k")
		}
		if most < 10 {
			t.Errorf("never more than %d were left", most)
		}
		var left []int64
		for i := range 5 {
			u.Begin(1000, []store.Place{u.Place([]byte("k"))})
			change(func() error { return z.Set([]byte("between"), at(members-2)+float64(i)/8) })
			change(func() error { return z.Pop(1, back, func([]byte, float64) {}) })
			if _, err := u.Commit(nil); err != nil {
				t.Fatal(err)
			}
			left = append(left, z.left)
		}
		// Or who comes by turns, and puts something at the end that another one takes, would
		// have a deletion of a range each time.
		if slices.Max(left[1:]) > left[0] {
			t.Errorf("%v are left by who pops now and then", left)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What one unit has read ahead at an end is of use to the next ones, through any ZSet, and to none once a
// member has come or gone beside the pops.
func TestLaterUnitsUseWhatWasReadAhead(t *testing.T) {
	oneGoroutine(t)
	s := open(t, vfs.NewMem())
	odd := &shape{maxBlock: 64, fillBlock: 32, countFrom: 12, maxLog: 60, perByte: 1, maxPages: 1 << 16, maxLeft: 100, planFrom: 3}
	member := func(i int) []byte { return fmt.Appendf(nil, "member:%04d", i) }
	next := 0
	// use calls do with a sorted set of its own, in a unit of its own.
	use := func(do func(z *ZSet)) {
		t.Helper()
		in(t, s, func(u *store.Unit) {
			z := &ZSet{oddShape: odd}
			z.Limit(1)
			if err := z.Open(u, []byte("k")); err != nil {
				t.Fatal(err)
			}
			do(z)
			if err := z.Flush(); err != nil {
				t.Fatal(err)
			}
		}, "k")
	}
	set := func(i int) {
		t.Helper()
		use(func(z *ZSet) {
			if err := z.Set(member(i), float64(i)); err != nil {
				t.Fatal(err)
			}
		})
	}
	// pop pops some members in one unit, and checks whether it finds the first one at hand.
	pop := func(n int, atHand bool) {
		t.Helper()
		use(func(z *ZSet) {
			if got := new(ahead).recall(z, false); got != atHand {
				t.Errorf("at %d members are at hand: %v, want %v", next, got, atHand)
			}
			for range n {
				if err := z.Pop(1, false, func(m []byte, score float64) {
					if string(m) != string(member(next)) || score != float64(next) {
						t.Fatalf("%s is popped, want %d", m, next)
					}
				}); err != nil {
					t.Fatal(err)
				}
				next++
				if err := z.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	const members = 4000 // the log is not moved into the counts before long
	use(func(z *ZSet) {
		for i := range members {
			if err := z.Set(member(i), float64(i)); err != nil {
				t.Fatal(err)
			}
		}
	})
	for i := range 12 { // pages
		set(members + i)
	}
	pop(2, false)
	for range 3 {
		pop(3, true)
	}
	pop(1, true)
	next--
	set(next) // back at its end
	pop(4, false)
	pop(1, true)
	use(func(z *ZSet) {
		if _, err := z.Delete(member(next + 7)); err != nil {
			t.Fatal(err)
		}
	})
	pop(4, false)
	pop(1, true)
	set(2 * members) // at the other end: the log cannot tell that it does not matter
	pop(2, false)
	next++ // it is gone
	pop(1, true)
	use(func(z *ZSet) {
		if _, err := z.Delete(member(next)); err != nil { // as a pop does
			t.Fatal(err)
		}
	})
	next++
	for range 40 {
		pop(1, true)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
