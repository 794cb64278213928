package quota

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// filled returns a store with keys: for each the database and whether it has an expiry.
func filled(t *testing.T, keys map[string]bool, of func(key string) int) *store.Store {
	t.Helper()
	st, err := store.Open(store.Config{Dir: "/d", FS: memdisk.New(), Strategy: "buckets", Hash: "native", Token: database.TokenFunc(buckets.Token), Cache: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, expires := range keys {
		at := int64(0)
		if expires {
			at = st.Now() + 1_000_000
		}
		put(t, st, database.AppendKey(nil, database.Head(of(name)), []byte(name)), "v", at)
	}
	return st
}

// put writes a string.
func put(t *testing.T, st *store.Store, key []byte, value string, expiry int64) {
	t.Helper()
	u := st.NewUnit()
	u.Begin(st.Now(), []store.Place{store.PlaceOf(database.TokenFunc(buckets.Token), key)})
	v, err := u.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.PutString(key, v, []byte(value), expiry, false); err != nil {
		t.Fatal(err)
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

func anyDatabase(int, bool) bool { return true }

// TestDrawFindsAllKeys draws until each key was drawn that may be, and no other.
func TestDrawFindsAllKeys(t *testing.T) {
	for name, key := range map[string]func(i int) string{
		"spread":  func(i int) string { return "key:" + strconv.Itoa(i) },
		"one tag": func(i int) string { return "{tag}:" + strconv.Itoa(i) },
	} {
		t.Run(name, func(t *testing.T) {
			keys := make(map[string]bool)
			for i := range 300 {
				keys[key(i)] = i%3 == 0
			}
			half := func(key string) int { return int(key[len(key)-1]) % 2 * 3 }
			st := filled(t, keys, half)
			spans := []ring.Range{ring.Whole}
			d := drawer{store: st, spans: func() []ring.Range { return spans }}
			for _, r := range []request{
				{policy: settings.AllKeysLRU, database: -1, count: 16, may: anyDatabase},
				{policy: settings.VolatileTTL, database: -1, count: 16, may: anyDatabase},
				{policy: settings.AllKeysLFU, database: 3, count: 16, may: anyDatabase},
				{policy: settings.VolatileLRU, database: 0, count: 16, may: anyDatabase},
				{policy: settings.AllKeysLRU, database: -1, count: 16, may: func(n int, _ bool) bool { return n == 0 }},
			} {
				want := make(map[string]bool)
				for k, expires := range keys {
					n := half(k)
					if (r.database < 0 || r.database == n) && r.may(n, expires) && (expires || !r.policy.IsVolatile()) {
						want[string(database.AppendKey(nil, database.Head(n), []byte(k)))] = true
					}
				}
				drawn := make(map[string]int)
				for draws := 0; len(drawn) < len(want); draws++ {
					if draws == 20_000 {
						t.Fatalf("%+v: %d of %d keys in %d draws", r, len(drawn), len(want), draws)
					}
					all, err := d.draw(&r)
					if err != nil {
						t.Fatal(err)
					}
					if len(all) > r.count+len(keys) {
						t.Fatalf("%d keys in one draw", len(all))
					}
					for _, c := range all {
						if !want[string(c.key)] {
							t.Fatalf("%+v: %q was drawn", r, c.key)
						}
						if c.bytes != int64(len(c.key)+1) {
							t.Fatalf("%q: %d bytes", c.key, c.bytes)
						}
						drawn[string(c.key)]++
					}
				}
			}
		})
	}
}

// TestDrawStaysInSpans draws where the node is the primary of a part only.
func TestDrawStaysInSpans(t *testing.T) {
	keys := make(map[string]bool)
	for i := range 500 {
		keys[fmt.Sprint("key:", i)] = i%2 == 0
	}
	st := filled(t, keys, func(string) int { return 0 })
	spans := []ring.Range{{Start: 0, End: 1 << 30}, {Start: 3 << 30, End: 3<<30 + 1<<28}}
	d := drawer{store: st, spans: func() []ring.Range { return spans }}
	for _, p := range []settings.Policy{settings.AllKeysRandom, settings.VolatileRandom} {
		for range 200 {
			all, err := d.draw(&request{policy: p, database: -1, count: 8, may: anyDatabase})
			if err != nil || len(all) == 0 {
				t.Fatal(len(all), err)
			}
			for _, c := range all {
				if token := buckets.Token(c.key); !spans[0].Contains(token) && !spans[1].Contains(token) {
					t.Fatalf("%s: %q is of another node", p, c.key)
				}
			}
		}
	}
	if d.cached == 0 {
		t.Error("draws were from disk though the cache knows all keys")
	}
	spans = nil
	if all, err := d.draw(&request{policy: settings.AllKeysLRU, database: -1, count: 8, may: anyDatabase}); len(all) > 0 || err != nil {
		t.Errorf("%d keys of no range, %v", len(all), err)
	}
}

func TestDrawOfEmptyStore(t *testing.T) {
	st := filled(t, nil, nil)
	d := drawer{store: st, spans: func() []ring.Range { return []ring.Range{ring.Whole} }}
	for p := range settings.Policies() {
		for _, of := range []int{-1, 0, 3} {
			if all, err := d.draw(&request{policy: p, database: of, count: 8, may: anyDatabase}); len(all) > 0 || err != nil {
				t.Errorf("%s of %d: %d keys, %v", p, of, len(all), err)
			}
		}
	}
}

// TestDrawIsFromDiskIfCacheKnowsFewKeys draws keys of which the cache knows none, since their values are too long.
func TestDrawIsFromDiskIfCacheKnowsFewKeys(t *testing.T) {
	st := filled(t, map[string]bool{"a": false, "b": false, "c": false}, func(string) int { return 0 })
	const long = 30
	for i := range long {
		put(t, st, fmt.Appendf(nil, "long:%d", i), strings.Repeat("v", 20_000), 0)
	}
	spans := []ring.Range{ring.Whole}
	d := drawer{store: st, spans: func() []ring.Range { return spans }, cached: cachedDraws}
	r := &request{policy: settings.AllKeysLRU, database: -1, count: 20, may: anyDatabase}
	found := make(map[string]bool)
	for range 200 {
		all, err := d.draw(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.cached != (len(c.key) == 1) {
				t.Fatalf("%+v", c)
			}
			found[string(c.key)] = true
		}
		if d.cached > 0 {
			t.Fatal("the next draw is from the cache, which knows 3 of 33 keys")
		}
	}
	if len(found) != long+3 {
		t.Errorf("%d keys were drawn", len(found))
	}
}

func TestIsIn(t *testing.T) {
	spans := []ring.Range{{Start: 10, End: 20}, {Start: 30, End: 40}, {Start: 90, End: 5}}
	for token, want := range map[ring.Token]bool{0: true, 4: true, 5: false, 10: true, 19: true, 20: false, 35: true, 89: false, 90: true, 1 << 31: true} {
		if isIn(spans, token) != want {
			t.Errorf("%d: %v", token, !want)
		}
	}
	if !isIn([]ring.Range{ring.Whole}, 7) {
		t.Error("the whole circle")
	}
}
