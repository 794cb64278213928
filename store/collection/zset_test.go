package collection

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A scored is a member as a model has it.
type scored struct {
	member string
	score  float64
}

// inOrder returns the members of a model as a sorted set has them.
func inOrder(m map[string]float64) (all []scored) {
	for member, score := range m {
		all = append(all, scored{member, score})
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member))
	})
	return all
}

// checkCounts compares all blocks with what they are of.
func checkCounts(t *testing.T, z *ZSet) {
	t.Helper()
	if z.table.v.Whole() {
		return
	}
	if err := z.Flush(); err != nil {
		t.Fatal(err)
	}
	runs, err := z.runs()
	if err != nil {
		t.Fatal(err)
	}
	log := changesOf(runs)
	ends := map[string]bool{string(lastEnd): true}
	for level := z.levels; level > 0; level-- {
		here := map[string]bool{}
		var before []byte
		it := z.table.blocks(level, nil)
		total := int64(0)
		for it.Next() {
			end := slices.Clone(it.Sub()[2:])
			children, members, err := blockOf(it.Value())
			if err != nil {
				t.Fatal(err)
			}
			n, seen := int64(0), int64(0)
			if level == 1 {
				err := z.walk(before, nil, append(slices.Clone(end), 0), false, func([]byte, []byte) bool { n++; return true })
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range log {
					if bytes.Compare(c.at, before) > 0 && bytes.Compare(c.at, end) <= 0 {
						n -= c.members
					}
				}
				seen = n
			} else {
				below := z.table.blocks(level-1, before)
				for below.Next() && bytes.Compare(below.Sub()[2:], end) <= 0 {
					_, m, _ := blockOf(below.Value())
					n++
					seen += m
				}
				if err := below.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if n != children || seen != members {
				t.Fatalf("level %d of %d, up to %q: %d children, %d members, there are %d and %d", level, z.levels, end, children, members, n, seen)
			}
			if members == 0 && !bytes.Equal(end, lastEnd) {
				t.Fatalf("level %d: the block up to %q is empty", level, end)
			}
			if children > z.shape().maxBlock {
				t.Fatalf("level %d: a block of %d", level, children)
			}
			here[string(end)] = true
			before = end
			total++
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		if level == z.levels && total != z.tops || total > z.shape().maxBlock && level == z.levels {
			t.Fatalf("%d blocks at the top, %d are said to be", total, z.tops)
		}
		for end := range ends {
			if !here[end] {
				t.Fatalf("no block of level %d ends at %q", level, end)
			}
		}
		ends = here
	}
}

// compareZSet looks at everything that can be asked of a sorted set.
func compareZSet(t *testing.T, z *ZSet, rnd *rand.Rand, m map[string]float64) {
	t.Helper()
	want := inOrder(m)
	n := int64(len(want))
	if z.Len() != n {
		t.Fatalf("%d members, want %d", z.Len(), n)
	}
	for _, back := range []bool{false, true} {
		var got []scored
		add := func(member []byte, score float64) bool {
			got = append(got, scored{string(member), score})
			return true
		}
		if err := z.Range(nil, nil, back, add); err != nil {
			t.Fatal(err)
		}
		if back {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v\nwant %v", got, want)
		}
		if n == 0 {
			continue
		}
		from := rnd.Int64N(n)
		to := from + rnd.Int64N(n-from)
		got = nil
		if err := z.RangeAt(from, to, back, add); err != nil {
			t.Fatal(err)
		}
		if back {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want[from:to+1]) {
			t.Fatalf("from %d to %d: %v\nwant %v", from, to, got, want[from:to+1])
		}
	}
	for range 3 {
		member, score := fmt.Sprint(rnd.IntN(100)), float64(rnd.IntN(100)-50)
		got, err := z.Rank(RankKey(nil, score, []byte(member)))
		rank, _ := slices.BinarySearchFunc(want, scored{member, score}, func(a, b scored) int {
			return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member))
		})
		if err != nil || got != int64(rank) {
			t.Fatalf("%s with %v has rank %d, %v, want %d", member, score, got, err, rank)
		}
		s, ok, err := z.Score([]byte(member))
		if has, there := m[member]; err != nil || ok != there || s != has {
			t.Fatalf("%s has %v, %v, %v, want %v", member, s, ok, err, m[member])
		}
	}
}

// zsetOf opens a sorted set to change it.
func zsetOf(t *testing.T, u *store.Unit, key string, limit int, s *shape) *ZSet {
	t.Helper()
	z := &ZSet{oddShape: s}
	z.Limit(limit)
	if err := z.Open(u, []byte(key)); err != nil {
		t.Fatal(err)
	}
	return z
}

// Whatever is done to sorted sets, in units of any size, with any limit of what is kept whole
// and counts of any size, they hold what a map would in the order of its values, within the
// unit and behind it, and after the store was opened again.
func TestZSetIsAMapInOrder(t *testing.T) {
	randomtest.Draw(t, 4)
	oneGoroutine(t)
	small := &shape{maxBlock: 6, fillBlock: 3, countFrom: 12, maxLog: 60, perByte: 1, maxLeft: 4, planFrom: 10}
	for name, c := range map[string]struct {
		limit   int
		shape   *shape
		members int
	}{
		"packed":        {DefaultPacked, nil, 30},
		"both":          {40, small, 8},
		"small counts":  {1, small, 60},
		"many levels":   {1, &shape{maxBlock: 4, fillBlock: 2, countFrom: 8, maxLog: 30, perByte: 1, maxPages: 1000, maxLeft: 40, planFrom: 5}, 400},
		"many pages":    {1, &shape{maxBlock: 6, fillBlock: 3, countFrom: 12, maxLog: 20, perByte: 1, maxPages: 400, maxLeft: 9, planFrom: 50}, 60},
		"usual":         {DefaultPacked, nil, 5000},
		"large members": {DefaultPacked, small, 500},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.members > 300 {
				t.Skip("all in one goroutine: nothing to see for the race detector")
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			fs := vfs.NewMem()
			s := open(t, fs)
			keys := []string{"a", "b"}
			model := map[string]map[string]float64{"a": {}, "b": {}}
			n := 200
			if c.members > 300 {
				n = 20_000 / c.members
			}
			for round := range rounds(n) {
				in(t, s, func(u *store.Unit) {
					for range 1 + rnd.IntN(6) {
						key := keys[rnd.IntN(2)]
						z := zsetOf(t, u, key, c.limit, c.shape)
						changeZSet(t, z, rnd, model, key, c.members, round%40 > 30)
						if err := z.Flush(); err != nil {
							t.Fatal(err)
						}
						checkCounts(t, zsetOf(t, u, key, c.limit, c.shape))
						compareZSet(t, zsetOf(t, u, key, c.limit, c.shape), rnd, model[key])
					}
				}, keys...)
				in(t, s, func(u *store.Unit) {
					key := keys[rnd.IntN(2)]
					z := &ZSet{oddShape: c.shape}
					if err := z.OpenWhole(u, []byte(key)); err != nil {
						t.Fatal(err)
					}
					compareZSet(t, z, rnd, model[key])
				})
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, fs)
			size := int64(0)
			for _, key := range keys {
				in(t, s, func(u *store.Unit) {
					z := &ZSet{oddShape: c.shape}
					if err := z.OpenWhole(u, []byte(key)); err != nil {
						t.Fatal(err)
					}
					compareZSet(t, z, rnd, model[key])
					if v := z.Value(); v.Exists() {
						size += v.Size + int64(len(key))
					}
				})
				got := map[string]float64{}
				for member, score := range contents(t, s, key, store.ZSet) {
					got[member] = ScoreOf([]byte(score))
				}
				if !maps.Equal(got, model[key]) {
					t.Fatalf("as a table %s is %v, want %v", key, got, model[key])
				}
			}
			if load, err := s.RangeLoad(ring.Whole); err != nil || load.Bytes != size {
				t.Errorf("%+v, %v, want %d bytes", load, err, size)
			}
		})
	}
}

// changeZSet does some things to a sorted set and to its model.
func changeZSet(t *testing.T, z *ZSet, rnd *rand.Rand, model map[string]map[string]float64, key string, members int, shrinks bool) {
	t.Helper()
	m := model[key]
	member := func() string {
		s := fmt.Sprint(rnd.IntN(members))
		if members == 500 && rnd.IntN(3) == 0 {
			return fmt.Sprintf("%0300s", s)
		}
		return s
	}
	score := func() float64 {
		switch rnd.IntN(20) {
		case 0:
			return math.Inf(1 - 2*rnd.IntN(2))
		case 1:
			return rnd.NormFloat64()
		}
		return float64(rnd.IntN(100) - 50)
	}
	var err error
	what := rnd.IntN(10)
	if shrinks {
		what = 6 + rnd.IntN(3)
	}
	switch {
	case what < 6:
		for range 1 + rnd.IntN(members) {
			e, s := member(), score()
			m[e] = s
			if err = z.Set([]byte(e), s); err != nil {
				break
			}
		}
	case what == 6:
		for range 1 + rnd.IntN(members/4+1) {
			e := member()
			_, there := m[e]
			delete(m, e)
			gone, deleteErr := z.Delete([]byte(e))
			if err = deleteErr; err != nil || gone != there {
				t.Fatalf("%s is removed: %v, %v, want %v", e, gone, err, there)
			}
		}
	case what < 9 && len(m) > 0:
		all := inOrder(m)
		from, to := rnd.IntN(len(all)+1), rnd.IntN(len(all)+1)
		if rnd.IntN(3) == 0 {
			from = 0
		}
		if rnd.IntN(3) == 0 {
			to = len(all)
		}
		keyOf := func(i int) []byte {
			if i == len(all) {
				return nil
			}
			return RankKey(nil, all[i].score, []byte(all[i].member))
		}
		if from >= to {
			return
		}
		for _, e := range all[from:to] {
			delete(m, e.member)
		}
		n, removeErr := z.RemoveRange(keyOf(from), keyOf(to))
		if err = removeErr; n != int64(to-from) {
			t.Fatalf("%d are removed, want %d", n, to-from)
		}
	case what == 9 && rnd.IntN(4) > 0:
		back, most := rnd.IntN(2) == 0, int64(rnd.IntN(members/4+2))
		all := inOrder(m)
		if back {
			slices.Reverse(all)
		}
		all = all[:min(int64(len(all)), most)]
		var got []scored
		err = z.Pop(most, back, func(member []byte, score float64) { got = append(got, scored{string(member), score}) })
		if !slices.Equal(got, all) {
			t.Fatalf("%d, back %v: %v\nwant %v", most, back, got, all)
		}
		for _, e := range all {
			delete(m, e.member)
		}
	case what == 9:
		clear(m)
		for range rnd.IntN(members) {
			m[member()] = score()
		}
		err = z.Replace(func(set func([]byte, float64) error) error {
			for e, s := range m {
				if err := set([]byte(e), s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestZSetRefusesMembersTwice(t *testing.T) {
	s := open(t, vfs.NewMem())
	for _, n := range []int{3, 3000} {
		in(t, s, func(u *store.Unit) {
			z := zsetOf(t, u, "k", DefaultPacked, nil)
			err := z.Replace(func(set func([]byte, float64) error) error {
				for i := range n {
					if err := set(fmt.Append(nil, i%(n-1)), float64(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != ErrDuplicate || z.Len() != 0 {
				t.Errorf("%v, %d members", err, z.Len())
			}
		}, "k")
	}
}

func TestScoresSortAsNumbers(t *testing.T) {
	scores := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, 2, math.MaxFloat64, math.Inf(1)}
	for i, s := range scores {
		key := RankKey(nil, s, []byte("m"))
		if ScoreOf(key) != s {
			t.Errorf("%v becomes %v", s, ScoreOf(key))
		}
		if bytes.Compare(key, RankKeyBehind(nil, s)) >= 0 {
			t.Errorf("%v is not before what is behind it", s)
		}
		if i > 0 && bytes.Compare(RankKeyBehind(nil, scores[i-1]), RankKey(nil, s, nil)) > 0 {
			t.Errorf("%v comes before %v", s, scores[i-1])
		}
	}
	if !bytes.Equal(RankKey(nil, 0, nil), RankKey(nil, math.Copysign(0, -1), nil)) {
		t.Error("there are two zeros")
	}
	if bytes.Compare(RankKeyBehind(nil, math.Inf(1)), lastEnd) >= 0 {
		t.Error("a score sorts behind the last end")
	}
}
