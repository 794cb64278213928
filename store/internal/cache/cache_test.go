package cache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A small cache under random use must never give a line that is not the last
// one put, and must keep finding what it says it holds.
func TestCacheAgreesWithAMap(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for _, size := range []int64{1, 4 << 20} {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 1))
		c, err := New(size)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]byte{}
		c.SetComplete()
		found, asked := 0, 0
		for i := range 300_000 {
			key := fmt.Appendf(nil, "key-%d", rnd.IntN(40_000))
			// Few tokens, so that places collide in their upper half.
			p := layout.PlaceOf(testToken, key)
			switch op := rnd.IntN(10); {
			case op < 4:
				line := make([]byte, rnd.IntN(300))
				if rnd.IntN(500) == 0 {
					line = make([]byte, rnd.IntN(2*maxLine))
				}
				for j := range line {
					line[j] = byte(i + j)
				}
				if rnd.IntN(2) == 0 {
					h := layout.Header{Type: layout.String, Expiry: int64(rnd.IntN(2)), Value: line}
					line = h.Append(nil)
				}
				c.Put(p, key, line)
				want[string(key)] = line
			case op < 5:
				c.Remove(p, key)
				delete(want, string(key))
			case op < 6 && rnd.IntN(20_000) == 0:
				c.Clear()
				clear(want)
			case op < 6 && rnd.IntN(2_000) == 0:
				from := layout.Place(rnd.Uint64())
				if rnd.IntN(4) == 0 {
					from = 0
				}
				in := func(p layout.Place) bool { return p >= from }
				var marks []uint64
				if rnd.IntN(2) == 0 {
					marks = c.SweepAhead(in)
				}
				c.Sweep(marks, in)
				for key := range want {
					if in(layout.PlaceOf(testToken, []byte(key))) {
						delete(want, key)
					}
				}
				for i := range c.shards {
					if s := &c.shards[i]; from == 0 && s.begin != s.end {
						t.Fatalf("step %d: %d bytes of nothing are kept", i, s.end-s.begin)
					}
				}
			case op < 7:
				head, elided, answer := c.Head(p, key, nil)
				asked++
				w, in := want[string(key)]
				if answer == Absent && in {
					t.Fatalf("step %d: key %s exists, says the map, and does not, says the cache", i, key)
				}
				if answer != Hit {
					continue
				}
				found++
				if !in || len(head)+elided != len(w) || !bytes.HasPrefix(w, head) || elided != layout.InlineString(w) {
					t.Fatalf("step %d: key %s: got %d bytes and %d left out, want %d (known %v)", i, key, len(head), elided, len(w), in)
				}
			default:
				line, answer := c.Get(p, key, nil)
				asked++
				if _, in := want[string(key)]; answer == Absent && in {
					t.Fatalf("step %d: key %s exists, says the map, and does not, says the cache", i, key)
				}
				if answer != Hit {
					continue
				}
				found++
				if w, in := want[string(key)]; !in || !bytes.Equal(w, line) {
					t.Fatalf("step %d: key %s: got %d bytes, want %d (known %v)", i, key, len(line), len(w), in)
				}
			}
		}
		if hits, misses := c.Answers(); hits != int64(found) || misses != int64(asked-found) {
			t.Errorf("it has counted %d hits and %d misses of %d and %d", hits, misses, found, asked-found)
		}
		if found < 1000 {
			t.Fatalf("only %d hits: the cache forgets too much to test anything", found)
		}
		for i := range c.shards {
			if s := &c.shards[i]; s.stubs < 0 || s.stubs > s.live {
				t.Fatalf("a shard counts %d bytes of stubs, of %d", s.stubs, s.live)
			}
		}
		used, lines := c.Usage()
		count := int64(0)
		for key := range want {
			if _, _, answer := c.Head(layout.PlaceOf(testToken, []byte(key)), []byte(key), nil); answer == Hit {
				count++
			}
		}
		if count != lines {
			t.Fatalf("%d lines by count, %d by search", lines, count)
		}
		if used > int64(len(c.mem)) {
			t.Fatalf("uses %d of %d bytes", used, len(c.mem))
		}
		c.Close()
	}
}

// Lines that are read stay when others only pass through.
func TestCacheKeepsLinesThatAreRead(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	c, err := New(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	hot := func(i int) []byte { return fmt.Appendf(nil, "hot-%d", i) }
	line := bytes.Repeat([]byte("x"), 100)
	for i := range 1000 {
		c.Put(layout.PlaceOf(testToken, hot(i)), hot(i), line)
	}
	for i := range 200_000 {
		cold := fmt.Appendf(nil, "cold-%d", i)
		c.Put(layout.PlaceOf(testToken, cold), cold, line)
		h := hot(i % 1000)
		c.Get(layout.PlaceOf(testToken, h), h, nil)
	}
	kept := 0
	for i := range 1000 {
		if _, answer := c.Get(layout.PlaceOf(testToken, hot(i)), hot(i), nil); answer == Hit {
			kept++
		}
	}
	if kept < 900 {
		t.Fatalf("kept %d of 1000 hot lines", kept)
	}
}

// A line that takes the place of a stub is a line.
func TestLineReplacesStubInPlace(t *testing.T) {
	c, err := New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	key := []byte("key")
	p := layout.PlaceOf(testToken, key)
	long := layout.Header{Type: layout.String, Value: make([]byte, 4<<10)}
	c.Put(p, key, long.Append(nil))
	for i := 0; ; i++ {
		if _, answer := c.Peek(p, key, nil); answer == Miss {
			break
		}
		other := fmt.Appendf(nil, "other-%d", i)
		c.Put(layout.PlaceOf(testToken, other), other, long.Append(nil))
	}
	if _, elided, answer := c.Head(p, key, nil); answer != Hit || elided != 4<<10 {
		t.Fatalf("the stub says %d bytes, answer %d", elided, answer)
	}
	short := layout.Header{Type: layout.String, Value: []byte("x")}
	c.Put(p, key, short.Append(nil))
	if line, answer := c.Get(p, key, nil); answer != Hit || !bytes.Equal(line, short.Append(nil)) {
		t.Errorf("answer %d, %q", answer, line)
	}
}

// benchCache returns a cache of a million keys, which has lines of all of them.
func benchCache(b *testing.B) (*Cache, [][]byte, []layout.Place) {
	c, err := New(256 << 20)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	keys := make([][]byte, 1<<20)
	places := make([]layout.Place, len(keys))
	line := bytes.Repeat([]byte("x"), 66)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%012d", i)
		places[i] = layout.PlaceOf(testToken, keys[i])
		c.Put(places[i], keys[i], line)
	}
	return c, keys, places
}

// BenchmarkPipelineGet reads 16 keys at a time out of a million.
func BenchmarkPipelineGet(b *testing.B) {
	for _, prefetch := range []bool{false, true} {
		b.Run(fmt.Sprintf("prefetch=%v", prefetch), func(b *testing.B) { benchmarkPipelineGet(b, prefetch) })
	}
}

func benchmarkPipelineGet(b *testing.B, prefetch bool) {
	const pipeline = 16
	c, keys, places := benchCache(b)
	n := len(keys)
	rand.Shuffle(n, func(i, j int) {
		keys[i], keys[j], places[i], places[j] = keys[j], keys[i], places[j], places[i]
	})
	var dst []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := i * pipeline & (n - 1)
		if prefetch {
			c.Prefetch(places[at : at+pipeline])
		}
		for j := at; j < at+pipeline; j++ {
			dst, _ = c.Get(places[j], keys[j], dst[:0])
		}
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c, keys, places := benchCache(b)
	n := len(keys)
	var dst []byte
	b.ReportAllocs()
	hits := 0
	for i := 0; b.Loop(); i++ {
		j := i * 7919 & (n - 1)
		var answer Answer
		if dst, answer = c.Get(places[j], keys[j], dst[:0]); answer == Hit {
			hits++
		}
	}
	b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
}
