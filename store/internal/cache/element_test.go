package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
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
		c, err := New(size)
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
			c.Begin(next)
		}
		for i := range gens {
			begin(i)
		}
		found, absent, rows := 0, 0, 0
		var into Items
		for i := range 300_000 {
			g := rnd.IntN(len(gens))
			key := fmt.Appendf(binary.BigEndian.AppendUint64(nil, gens[g]), "f%d", rnd.IntN(2000))
			item := rnd.IntN(2) == 0
			if item {
				key = append(key[:8], layout.ItemKind)
				key = binary.BigEndian.AppendUint64(key, 1<<63-1000+uint64(rnd.IntN(2000)))
			}
			p := layout.Place(g) // all of one collection are at one place
			switch op := rnd.IntN(12); {
			case op < 4:
				value := make([]byte, rnd.IntN(100))
				if rnd.IntN(500) == 0 {
					value = make([]byte, rnd.IntN(2*maxLine))
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
				c.Put(p, key, []byte("of a key"))
			case op < 8 && rnd.IntN(500) == 0:
				begin(g)
			case op < 8 && rnd.IntN(500) == 0: // another store has changed it
				want[string(key)] = []byte("elsewhere")
				c.loseElement(p, key)
			case op < 8 && rnd.IntN(5000) == 0: // what is there still, but soon not here
				c.SweepAhead(func(at layout.Place) bool { return at == p })
				c.Sweep(nil, func(at layout.Place) bool { return at == p })
			case item && rnd.IntN(2) == 0:
				n := 1 + rnd.IntN(20)
				into.Clear()
				if !c.Items(p, gens[g], key[8:], n, false, &into) {
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
				_, value, answer := c.Element(p, key, nil, nil)
				w, in := want[string(key)]
				switch {
				case answer == Absent && in:
					t.Fatalf("step %d: %x exists, and does not, says the cache", i, key)
				case answer == Absent:
					absent++
				case answer == Hit && (!in || !bytes.Equal(w, value)):
					t.Fatalf("step %d: %x: got %d bytes, want %d (%v)", i, key, len(value), len(w), in)
				case answer == Hit:
					found++
				}
			}
		}
		if found < 1000 || absent < 10 || rows < 100 {
			t.Errorf("only %d were found, %d said not to exist, and %d times items", found, absent, rows)
		}
		c.Close()
	}
}

// Of many members that are removed together, some of which have no lines, all are gone, and others stay.
func TestMembersRemovedTogetherAreGone(t *testing.T) {
	c, err := New(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const gen, members = 7, 3 * mostRemoved
	c.Begin(gen)
	changeOf := func(i int) pending.Change {
		key := binary.BigEndian.AppendUint64([]byte("place"), gen)
		sub := fmt.Appendf([]byte{layout.FieldKind}, "%d", i)
		return pending.Change{Place: layout.Place(1), Key: append(key, sub...), Sub: len(sub), Value: []byte{byte(i)}}
	}
	var added, removed pending.Changes
	for i := range members {
		change := changeOf(i)
		if i%5 != 0 {
			added.Add(change)
		}
		if change.Value, change.Gone = nil, true; i%2 == 0 {
			removed.Add(change)
		}
	}
	c.ApplyElements(&added)
	c.ApplyElements(&removed)
	for i := range members {
		change := changeOf(i)
		key, _ := cachedKey(&change)
		want := Hit
		if i%5 == 0 || i%2 == 0 {
			want = Absent
		}
		if _, value, got := c.Element(change.Place, key, nil, nil); got != want || got == Hit && value[0] != byte(i) {
			t.Errorf("member %d: %v with %v, want %v", i, got, value, want)
		}
	}
}
