package collection

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// A removal of all members of a sorted set, or of nearly all, changes no entry for each of them.
func TestRemovalOfMostMembersChangesFewEntries(t *testing.T) {
	oneGoroutine(t)
	const n, expiry = 5000, 1 << 50
	for name, c := range map[string]struct {
		from, to int // the scores of those that go
		most     uint64
	}{
		"all":              {0, n, 10},
		"all but the ends": {50, n - 50, 1000},
		"all but the last": {0, n - 1, 1000},
		"half":             {n / 2, n, n/2 + 100},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, vfs.NewMem())
			model := map[string]float64{}
			in(t, s, func(u *store.Unit) {
				z := zsetOf(t, u, "z", DefaultPacked, nil)
				for i := range n {
					member := fmt.Sprint("member", i)
					model[member] = float64(i)
					if err := z.Set([]byte(member), float64(i)); err != nil {
						t.Fatal(err)
					}
				}
				z.MarkLarge()
				if err := z.Flush(); err != nil {
					t.Fatal(err)
				}
				z.table.setExpiry(expiry)
			}, "z")
			in(t, s, func(u *store.Unit) {
				z := zsetOf(t, u, "z", DefaultPacked, nil)
				was := u.ElementChanges()
				got, err := z.RemoveRange(RankKey(nil, float64(c.from), nil), RankKey(nil, float64(c.to), nil))
				if err == nil {
					err = z.Flush()
				}
				if err != nil || got != int64(c.to-c.from) {
					t.Fatalf("%d removed, %v, want %d", got, err, c.to-c.from)
				}
				if made := u.ElementChanges() - was; made > c.most {
					t.Errorf("%d entries were changed, want at most %d", made, c.most)
				}
			}, "z")
			for i := c.from; i < c.to; i++ {
				delete(model, fmt.Sprint("member", i))
			}
			in(t, s, func(u *store.Unit) {
				z := zsetOf(t, u, "z", DefaultPacked, nil)
				if z.Len() != int64(len(model)) {
					t.Fatalf("%d members, want %d", z.Len(), len(model))
				}
				if v := z.Value(); len(model) > 0 && (v.Expiry != expiry || !v.Raw) {
					t.Errorf("expiry %d, large %v, want %d and true", v.Expiry, v.Raw, int64(expiry))
				}
				rank := int64(0)
				for _, e := range inOrder(model) {
					score, ok, err := z.Score([]byte(e.member))
					if err != nil || !ok || score != e.score {
						t.Fatalf("%s has %v %v, %v, want %v", e.member, score, ok, err, e.score)
					}
					if rank%100 == 0 {
						if got, err := z.Rank(RankKey(nil, e.score, []byte(e.member))); err != nil || got != rank {
							t.Fatalf("%s has rank %d, %v, want %d", e.member, got, err, rank)
						}
					}
					rank++
				}
				checkCounts(t, z)
			}, "z")
		})
	}
}
