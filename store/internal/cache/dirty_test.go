package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// TestDirtyLinesAreKept has a small cache under random use beside a map of what Pebble would have: what the
// cache does not answer must be the same there.
func TestDirtyLinesAreKept(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	t.Run("long lines", func(t *testing.T) { testDirtyLines(t, 16<<20, 600_000, 60_000, 500) })
	// The index is full before the rings are.
	t.Run("short lines", func(t *testing.T) { testDirtyLines(t, 8<<20, 800_000, 200_000, 4) })
}

func testDirtyLines(t *testing.T, cache int64, steps, keys, size int) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	c, err := New(cache)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want, pebble := map[string][]byte{}, map[string][]byte{}
	c.SetComplete()
	refused, cleaned, missed := 0, 0, 0
	place := func(key []byte) layout.Place { return layout.PlaceOf(testToken, key) }
	clean := func(slice uint16) {
		for _, p := range c.AppendDirty(nil, slice) {
			c.EachDirty(p, func(key, line []byte, gone bool) {
				cleaned++
				if w, ok := want[string(key)]; ok == gone || !bytes.Equal(w, line) {
					t.Fatalf("key %s is dirty with %d bytes (gone %v), want %d", key, len(line), gone, len(w))
				}
				if gone {
					delete(pebble, string(key))
				} else {
					pebble[string(key)] = bytes.Clone(line)
				}
			})
			c.Clean(p)
		}
		c.ForgetDirty(slice)
	}
	put := func(m map[string][]byte, key, line []byte) {
		if line == nil {
			delete(m, string(key))
		} else {
			m[string(key)] = line
		}
	}
	for i := range steps {
		key := fmt.Appendf(nil, "key-%d", rnd.IntN(keys))
		p := place(key)
		switch op := rnd.IntN(20); {
		case op < 9:
			var line []byte
			if rnd.IntN(8) > 0 {
				line = bytes.Repeat([]byte{byte(i)}, 1+rnd.IntN(size))
				if size > 100 && rnd.IntN(200) == 0 {
					line = bytes.Repeat([]byte{byte(i)}, maxLine-rnd.IntN(100))
				}
			}
			if !c.MayBeDirty(key, line) {
				t.Fatal("a line may not be dirty")
			}
			if !c.PutDirty(p, key, line, rnd.IntN(2) == 0) {
				refused++
				if put(pebble, key, line); line == nil {
					c.Remove(p, key)
				} else {
					c.Put(p, key, line)
				}
			}
			put(want, key, line)
		case op < 11:
			line := bytes.Repeat([]byte{byte(i)}, 1+rnd.IntN(size))
			switch rnd.IntN(5) {
			case 0:
				line = nil
				c.Remove(p, key)
			case 1:
				c.PutUntouched(p, key, line)
			case 2:
				c.Refresh(p, key, line)
			default:
				c.Put(p, key, line)
			}
			put(pebble, key, line)
			put(want, key, line)
		case op < 12:
			clean(layout.SliceOf(p))
		case op == 12 && rnd.IntN(20_000) == 0:
			for slice := range 1 << 16 {
				clean(uint16(slice))
			}
			if n := c.DirtyBytes(); n != 0 {
				t.Fatalf("step %d: %d bytes are dirty after all was cleaned", i, n)
			}
		case op == 13 && rnd.IntN(20_000) == 0:
			from := layout.Place(rnd.Uint64())
			in := func(p layout.Place) bool { return p >= from }
			var marks []uint64
			if rnd.IntN(2) == 0 {
				marks = c.SweepAhead(in)
				for key, line := range want {
					if got, answer := c.Peek(place([]byte(key)), []byte(key), nil); answer == Absent || answer == Hit && !bytes.Equal(got, line) ||
						answer == Miss && !bytes.Equal(pebble[key], line) {
						t.Fatalf("step %d: key %s: %v ahead of a sweep", i, key, answer)
					}
				}
			}
			c.Sweep(marks, in)
			for _, m := range []map[string][]byte{want, pebble} {
				for key := range m {
					if in(place([]byte(key))) {
						delete(m, key)
					}
				}
			}
		case op == 14 && rnd.IntN(100_000) == 0:
			c.Clear()
			clear(want)
			clear(pebble)
		default:
			line, answer := c.Get(p, key, nil)
			w, ok := want[string(key)]
			switch {
			case answer == Absent && ok:
				t.Fatalf("step %d: key %s does not exist, says the cache", i, key)
			case answer == Hit && (!ok || !bytes.Equal(w, line)):
				t.Fatalf("step %d: key %s has %d bytes, want %d", i, key, len(line), len(w))
			case answer == Miss:
				missed++
				stored, has := pebble[string(key)]
				if has != ok || !bytes.Equal(stored, w) {
					t.Fatalf("step %d: key %s is neither in the cache nor in Pebble as it should be", i, key)
				}
				if has && rnd.IntN(2) == 0 {
					c.Fill(p, key, stored, unchanged{}, 0)
				}
			}
		}
	}
	t.Logf("refused %d, cleaned %d, missed %d", refused, cleaned, missed)
	if cleaned == 0 || size > 100 && (refused == 0 || missed == 0) {
		t.Error("the test has not come by what it is for")
	}
	for i := range c.shards {
		s := &c.shards[i]
		if s.dirtyBytes < 0 || s.dirtyBytes > s.live {
			t.Errorf("shard %d counts %d dirty bytes of %d", i, s.dirtyBytes, s.live)
		}
	}
	for slice := range 1 << 16 {
		if slices.Contains(c.AppendDirty(nil, uint16(slice)), 0) {
			t.Fatal("a place without a key is listed")
		}
		clean(uint16(slice))
	}
	for key, line := range want {
		if !bytes.Equal(pebble[key], line) {
			t.Fatalf("key %s is not in Pebble after all was cleaned", key)
		}
	}
	if len(want) != len(pebble) || c.DirtyBytes() != 0 {
		t.Fatalf("%d keys, %d in Pebble, %d bytes dirty", len(want), len(pebble), c.DirtyBytes())
	}
}

type unchanged struct{}

func (unchanged) Unchanged(uint64) bool { return true }
