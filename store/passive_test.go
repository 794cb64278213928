package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// TestPassiveRangesExpireNothing, neither by themselves nor by a read, which does not see
// it all the same; once they are active again they do.
func TestPassiveRangesExpireNothing(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	passive := ring.Range{Start: 1 << 31, End: 0}
	s.SetActive(ring.Range{Start: 0, End: 1 << 31})
	keys := map[bool]string{}
	followed := int64(0)
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		in := passive.Contains(testToken([]byte(key)))
		s.set(t, key, "v", s.now()+60_000)
		keys[in] = key
		if in {
			followed++
		}
	}
	if len(keys) != 2 {
		t.Fatal("the keys lie all on one side")
	}
	s.skew.Add(61_000)
	resptest.WaitFor(t, "the others vanish", func() bool { return s.Keys() == followed })
	if _, _, err := s.expirer.expireDue(s.now(), []byte{layout.KindExpiry}); err != nil || s.Keys() != followed {
		t.Errorf("%d keys, want %d, %v", s.Keys(), followed, err)
	}
	if _, ok := s.get(t, keys[true]); ok {
		t.Error("an expired key is seen")
	}
	u := s.NewUnit()
	k := []byte(keys[true])
	u.Begin(s.now(), []Place{u.Place(k)})
	v, err := u.Get(k)
	if err != nil || v.Exists() {
		t.Error(v, err)
	}
	if err := u.PutString(k, v, []byte("new"), 0, false); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(nil); !errors.Is(err, ErrPassive) || !errors.Is(err, ErrReadOnly) {
		t.Errorf("a write over an expired key of a passive range: %v", err)
	}
	if s.Keys() != followed {
		t.Errorf("%d keys, want %d", s.Keys(), followed)
	}
	s.audit(t)
	s.SetActive(ring.Whole)
	resptest.WaitFor(t, "they vanish", func() bool { return s.Keys() == 0 })
	s.audit(t)
}

// TestPassiveRanges are all those that are not active.
func TestPassiveRanges(t *testing.T) {
	rnd := seeded(t)
	for range 200 {
		var passive layout.TokenSet
		var active []ring.Range
		var probes []ring.Token
		for range rnd.IntN(12) {
			r := ring.Range{Start: ring.Token(rnd.Uint32N(8) << 29), End: ring.Token(rnd.Uint32N(8) << 29)}
			if rnd.IntN(3) == 0 {
				r = randomRange(rnd)
			}
			active = append(active, r)
			probes = append(probes, r.Start, r.Start-1, r.End, r.End-1)
		}
		passive.Set(layout.Complement(layout.UnionOf(active)))
		for _, p := range append(probes, ring.Token(rnd.Uint32())) {
			want := !slices.ContainsFunc(active, func(r ring.Range) bool { return r.Contains(p) })
			if passive.Contains(p) != want {
				t.Fatalf("%08x: passive is %t beside %v", p, !want, active)
			}
		}
	}
}
