package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
)

// A small cache of elements and keys never gives a value that is not the last one put, takes
// no key for an element, nor says of an element that exists that it does not.
func TestCacheOfElementsAgreesWithAMap(t *testing.T) {
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
		gens := make([]uint64, 20)
		next := uint64(0)
		begin := func(i int) {
			for key := range want {
				if generationIn([]byte(key)) == gens[i] {
					delete(want, key)
				}
			}
			next++
			gens[i] = next
			c.begin(next)
		}
		for i := range gens {
			begin(i)
		}
		found, absent, rows := 0, 0, 0
		var into Items
		for i := range rounds(300_000) {
			g := rnd.IntN(len(gens))
			key := fmt.Appendf(binary.BigEndian.AppendUint64(nil, gens[g]), "f%d", rnd.IntN(2000))
			item := rnd.IntN(2) == 0
			if item {
				key = append(key[:8], ItemKind)
				key = binary.BigEndian.AppendUint64(key, 1<<63-1000+uint64(rnd.IntN(2000)))
			}
			p := Place(g) // all of one collection are at one place
			switch op := rnd.IntN(12); {
			case op < 4:
				value := make([]byte, rnd.IntN(100))
				if rnd.IntN(500) == 0 {
					value = make([]byte, rnd.IntN(2*maxCachedLine))
				}
				for j := range value {
					value[j] = byte(i + j)
				}
				c.putElement(p, key, value)
				want[string(key)] = value
			case op < 6:
				c.removeElement(p, key)
				delete(want, string(key))
			case op < 7:
				c.put(p, key, []byte("of a key"))
			case op < 8 && rnd.IntN(500) == 0:
				begin(g)
			case op < 8 && rnd.IntN(500) == 0: // another store has changed it
				want[string(key)] = []byte("elsewhere")
				c.loseElement(p, key)
			case op < 8 && rnd.IntN(5000) == 0: // what is there still, but soon not here
				c.sweepAhead(func(at Place) bool { return at == p })
				c.sweep(nil, func(at Place) bool { return at == p })
			case item && rnd.IntN(2) == 0:
				n := 1 + rnd.IntN(20)
				into.clear()
				if !c.items(p, gens[g], key[8:], n, &into) {
					continue
				}
				rows++
				for j := range n {
					if w, in := want[string(key)]; !in || !bytes.Equal(w, into.At(j)) {
						t.Fatalf("step %d: item %d of %d from %x: got %d bytes, want %d (%v)", i, j, n, key, len(into.At(j)), len(w), in)
					}
					binary.BigEndian.PutUint64(key[9:], binary.BigEndian.Uint64(key[9:])+1)
				}
			default:
				_, value, answer := c.element(p, key, nil, nil)
				w, in := want[string(key)]
				switch {
				case answer == cacheAbsent && in:
					t.Fatalf("step %d: %x exists, and does not, says the cache", i, key)
				case answer == cacheAbsent:
					absent++
				case answer == cacheHit && (!in || !bytes.Equal(w, value)):
					t.Fatalf("step %d: %x: got %d bytes, want %d (%v)", i, key, len(value), len(w), in)
				case answer == cacheHit:
					found++
				}
			}
		}
		if found < 1000 || absent < 10 || rows < 100 {
			t.Errorf("only %d were found, %d said not to exist, and %d times items", found, absent, rows)
		}
		c.close()
	}
}

// A store that has been asked for elements, and then follows another, answers with what that
// one has made of them.
func TestElementsThatWereReadAreFollowed(t *testing.T) {
	rnd := seeded(t)
	cfg := func() Config {
		c := memConfig(vfs.NewMem(), FsyncNo)
		c.Cache = 1 << 20
		return c
	}
	src, dst := openTest(t, cfg()), openTest(t, cfg())
	defer src.mustClose(t)
	defer dst.mustClose(t)
	model := map[string]string{}
	for i := range 50 {
		model[fmt.Sprint("f", i)] = "0"
	}
	src.inUnit(t, func(u *Unit) { splitSet(t, u, "k", model) }, "k")
	dst.SetPassive(ring.Whole, true)
	l := newLink(t, src, dst, ring.Whole)
	for !l.copy.Done() {
		if err := l.chunk(ChunkSize, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	l.drain(t)
	for round := range 40 {
		for range 2 { // what the first time has read from Pebble the second has from the cache
			dst.inUnit(t, func(u *Unit) {
				v, err := u.Get([]byte("k"))
				for i := range 60 {
					k := fmt.Sprint("f", i)
					value, ok, elementErr := u.Element([]byte("k"), &v, []byte(k))
					if want, has := model[k]; err != nil || elementErr != nil || ok != has || string(value) != want {
						t.Fatalf("round %d: %s is %q, %v, want %q", round, k, value, ok, want)
					}
				}
			}, "k")
		}
		src.inUnit(t, func(u *Unit) {
			v, err := u.Get([]byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				k := fmt.Sprint("f", rnd.IntN(60))
				if rnd.IntN(2) == 0 {
					model[k] = fmt.Sprint(round)
					u.SetElement([]byte("k"), &v, []byte(k), []byte(model[k]))
				} else {
					delete(model, k)
					u.RemoveElement([]byte("k"), &v, []byte(k))
				}
			}
			u.PutHead([]byte("k"), &v, int64(len(model)), int64(round), nil)
		}, "k")
		l.drain(t)
	}
	l.close(t)
}
