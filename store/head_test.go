package store

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// A cache a quarter as large as the data has stubs of most keys. What overwrites or removes by
// them keeps counts, expiry times and values right.
func TestHeadOfDroppedStringIsEnoughToReplaceIt(t *testing.T) {
	randomtest.DrawShort(t, 4)
	const keys, size = 3000, 6000
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	value := func(i, step int) string { return fmt.Sprint(i, " ", step, strings.Repeat(" ", rnd.IntN(size))) }
	want := map[string]string{}
	write := func(i, step int) {
		key := fmt.Sprint("key-", i)
		expiry := int64(0)
		if rnd.IntN(3) == 0 {
			expiry = s.now() + 3_600_000
		}
		s.inUnit(t, func(u *Unit) {
			v, err := u.Head([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Inline) != 0 {
				t.Fatalf("the head of %s has content", key)
			}
			if old, ok := want[key]; ok != v.Exists() || int64(len(old)) != v.Size {
				t.Fatalf("the head of %s says %d bytes, want %d", key, v.Size, len(old))
			}
			if v.Exists() && rnd.IntN(4) == 0 {
				u.Delete([]byte(key), v)
				delete(want, key)
				return
			}
			text := value(i, step)
			if err := u.PutString([]byte(key), v, []byte(text), expiry, false); err != nil {
				t.Fatal(err)
			}
			want[key] = text
		}, key)
	}
	for i := range keys {
		write(i, 0)
	}
	_, before := s.cache.Answers()
	for step := range keys {
		write(rnd.IntN(keys), step)
	}
	if _, after := s.cache.Answers(); after-before > keys/4 {
		t.Errorf("%d of %d heads were not in the cache", after-before, keys)
	}
	if n := s.Keys(); n != int64(len(want)) {
		t.Errorf("%d keys, want %d", n, len(want))
	}
	for key, text := range want {
		if got, _ := s.get(t, key); got != text {
			t.Fatalf("%s has %d bytes, want %d", key, len(got), len(text))
		}
	}
	s.audit(t)
}
