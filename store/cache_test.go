package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
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
		c, err := newCache(size)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]byte{}
		c.setWhole()
		found, asked := 0, 0
		for i := range 300_000 {
			key := fmt.Appendf(nil, "key-%d", rnd.IntN(40_000))
			// Few tokens, so that places collide in their upper half.
			p := PlaceOf(testToken, key)
			switch op := rnd.IntN(10); {
			case op < 4:
				line := make([]byte, rnd.IntN(300))
				if rnd.IntN(500) == 0 {
					line = make([]byte, rnd.IntN(2*maxCachedLine))
				}
				for j := range line {
					line[j] = byte(i + j)
				}
				c.put(p, key, line)
				want[string(key)] = line
			case op < 5:
				c.remove(p, key)
				delete(want, string(key))
			case op < 6 && rnd.IntN(20_000) == 0:
				c.clear()
				clear(want)
			case op < 6 && rnd.IntN(2_000) == 0:
				from := Place(rnd.Uint64())
				if rnd.IntN(4) == 0 {
					from = 0
				}
				in := func(p Place) bool { return p >= from }
				var marks []uint64
				if rnd.IntN(2) == 0 {
					marks = c.sweepAhead(in)
				}
				c.sweep(marks, in)
				for key := range want {
					if in(PlaceOf(testToken, []byte(key))) {
						delete(want, key)
					}
				}
				for i := range c.shards {
					if s := &c.shards[i]; from == 0 && s.begin != s.end {
						t.Fatalf("step %d: %d bytes of nothing are kept", i, s.end-s.begin)
					}
				}
			default:
				line, answer := c.get(p, key, nil)
				asked++
				if _, in := want[string(key)]; answer == cacheAbsent && in {
					t.Fatalf("step %d: key %s exists, says the map, and does not, says the cache", i, key)
				}
				if answer != cacheHit {
					continue
				}
				found++
				if w, in := want[string(key)]; !in || !bytes.Equal(w, line) {
					t.Fatalf("step %d: key %s: got %d bytes, want %d (known %v)", i, key, len(line), len(w), in)
				}
			}
		}
		if hits, misses := c.answers(); hits != int64(found) || misses != int64(asked-found) {
			t.Errorf("it has counted %d hits and %d misses of %d and %d", hits, misses, found, asked-found)
		}
		if found < 1000 {
			t.Fatalf("only %d hits: the cache forgets too much to test anything", found)
		}
		used, lines := c.usage()
		count := int64(0)
		for key := range want {
			if _, answer := c.get(PlaceOf(testToken, []byte(key)), []byte(key), nil); answer == cacheHit {
				count++
			}
		}
		if count != lines {
			t.Fatalf("%d lines by count, %d by search", lines, count)
		}
		if used > int64(len(c.mem)) {
			t.Fatalf("uses %d of %d bytes", used, len(c.mem))
		}
		c.close()
	}
}

// Lines that are read stay when others only pass through.
func TestCacheKeepsWhatIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	c, err := newCache(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	hot := func(i int) []byte { return fmt.Appendf(nil, "hot-%d", i) }
	line := bytes.Repeat([]byte("x"), 100)
	for i := range 1000 {
		c.put(PlaceOf(testToken, hot(i)), hot(i), line)
	}
	for i := range 200_000 {
		cold := fmt.Appendf(nil, "cold-%d", i)
		c.put(PlaceOf(testToken, cold), cold, line)
		h := hot(i % 1000)
		c.get(PlaceOf(testToken, h), h, nil)
	}
	kept := 0
	for i := range 1000 {
		if _, answer := c.get(PlaceOf(testToken, hot(i)), hot(i), nil); answer == cacheHit {
			kept++
		}
	}
	if kept < 900 {
		t.Fatalf("kept %d of 1000 hot lines", kept)
	}
}

func BenchmarkCacheGet(b *testing.B) {
	c, err := newCache(256 << 20)
	if err != nil {
		b.Fatal(err)
	}
	defer c.close()
	const n = 1 << 20
	keys := make([][]byte, n)
	places := make([]Place, n)
	line := bytes.Repeat([]byte("x"), 66)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key:%012d", i)
		places[i] = PlaceOf(testToken, keys[i])
		c.put(places[i], keys[i], line)
	}
	var dst []byte
	b.ReportAllocs()
	hits := 0
	for i := 0; b.Loop(); i++ {
		j := i * 7919 & (n - 1)
		var answer cacheAnswer
		if dst, answer = c.get(places[j], keys[j], dst[:0]); answer == cacheHit {
			hits++
		}
	}
	b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
}
