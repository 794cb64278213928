package collection

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// A chunkWorld is a list with chunks, under "k", and what it should be.
type chunkWorld struct {
	t     *testing.T
	s     *store.Store
	model []string
}

func newChunkWorld(t *testing.T) *chunkWorld { return &chunkWorld{t: t, s: open(t, vfs.NewMem())} }

// change opens the list, runs f, and looks at what came of it.
func (w *chunkWorld) change(f func(l *List) error) {
	w.t.Helper()
	in(w.t, w.s, func(u *store.Unit) {
		l := List{Chunks: true}
		l.MaxPacked = 1
		err := l.Open(u, []byte("k"))
		if err == nil {
			err = f(&l)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}, "k")
	if got := listed(w.t, w.s, "k"); !slices.Equal(got, w.model) {
		w.t.Fatalf("%d elements, want %d:\n%.2000v\nwant\n%.2000v", len(got), len(w.model), got, w.model)
	}
	wantEntries(w.t, w.s, "k")
}

// fill makes the list one of n elements, of which every long one, if that is not 0, is too long for a chunk.
func (w *chunkWorld) fill(n, long int) {
	w.t.Helper()
	w.model = nil
	for i := range n {
		e := fmt.Sprint("element", i)
		if long > 0 && i%long == 0 {
			e += strings.Repeat("x", maxChunked)
		}
		w.model = append(w.model, e)
	}
	w.change(func(l *List) error {
		l.Clear()
		var all [][]byte
		for _, e := range w.model {
			all = append(all, []byte(e))
		}
		return l.Push(false, all...)
	})
}

// wantEntries fails unless the entries of a list with chunks are those of the elements that it has, each once.
func wantEntries(t *testing.T, s *store.Store, key string) {
	t.Helper()
	in(t, s, func(u *store.Unit) {
		var l List
		if err := l.Open(u, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if l.v.Whole() || !l.v.Chunks {
			return
		}
		var got, want []string
		loose := func(from, to int64) {
			for n := from; n < to; n++ {
				want = append(want, string(l.itemKey(n)))
			}
		}
		it := u.Elements(l.key, &l.v, []byte{kindItem}, []byte{kindItem + 1}, false)
		for it.Next() {
			got = append(got, string(it.Sub()))
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		_, _, low, high := l.headerEnds()
		for n := low; n < high; {
			switch e, from := l.endAt(n); {
			case e != nil:
				loose(n, n+1)
				n++
			case slices.Contains(got, string(l.chunkKey(from))):
				want = append(want, string(l.chunkKey(from)))
				n += chunkItems
			default:
				loose(n, n+chunkItems)
				n += chunkItems
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("entries of %d to %d are\n%x, want\n%x", l.first, l.last, got, want)
		}
		if len(l.front.packed) > 0 && l.front.loose || len(l.back.packed) > 0 && l.back.loose {
			t.Fatal("an end is in the header and has entries, too")
		}
	}, key)
}

// Elements in chunks are entries by the eight, and their ends are in the header.
func TestShortElementsShareEntries(t *testing.T) {
	w := newChunkWorld(t)
	entries := func() (n int) {
		in(t, w.s, func(u *store.Unit) {
			v, err := u.GetWhole([]byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			it := u.Elements([]byte("k"), &v, []byte{kindItem}, nil, false)
			for it.Next() {
				n++
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		})
		return n
	}
	w.fill(100, 0)
	if n := entries(); n != 12 {
		t.Errorf("100 short elements have %d entries, want 12 and an end", n)
	}
	w.fill(100, 1)
	if n := entries(); n != 100 {
		t.Errorf("100 long elements have %d entries", n)
	}
	w.fill(100, 20) // 0, 20, 40, 60 and 80 are in five of twelve chunks
	if n := entries(); n != 5*8+7 {
		t.Errorf("100 elements with 5 long ones have %d entries, want %d", n, 5*8+7)
	}
}

// A list is trimmed and shifted at both ends by any number of elements, and nothing of what went is left.
func TestChunksAreCut(t *testing.T) {
	oneGoroutine(t)
	for _, long := range []int{0, 1, 7, 40} {
		t.Run(fmt.Sprint("long ", long), func(t *testing.T) {
			w := newChunkWorld(t)
			for _, cut := range []int{1, 5, 15, 16, 17, fewCut, fewCut + 1, 300, 700} {
				for _, other := range []int{0, 1, 16, 280} {
					w.fill(2500, long)
					w.model = w.model[cut : len(w.model)-other]
					w.change(func(l *List) error { return l.Trim(int64(cut), l.Len()-1-int64(other)) })
					w.model = w.model[other : len(w.model)-cut]
					w.change(func(l *List) error { return l.Trim(int64(other), l.Len()-1-int64(cut)) })
					at := len(w.model) / 3
					w.model = slices.Insert(w.model, at, "new")
					w.change(func(l *List) error { return l.Insert(int64(at), []byte("new")) })
					w.model = slices.Delete(w.model, at, at+1)
					w.change(func(l *List) error { return l.Remove([]int64{int64(at)}) })
				}
			}
		})
	}
}

// A list of elements becomes one with chunks as it is changed, which leaves what it has where it is.
func TestListGetsChunksWhenItIsChanged(t *testing.T) {
	for name, change := range map[string]func(l *List) error{
		"push":  func(l *List) error { return l.Push(false, []byte("a")) },
		"front": func(l *List) error { return l.Push(true, []byte("a")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newChunkWorld(t)
			in(t, w.s, func(u *store.Unit) {
				l := List{}
				l.MaxPacked = 1
				if err := l.Open(u, []byte("k")); err != nil {
					t.Fatal(err)
				}
				for i := range 50 {
					e := fmt.Sprint("old", i)
					if err := l.Push(false, []byte(e)); err != nil {
						t.Fatal(err)
					}
					w.model = append(w.model, e)
				}
				for range 3 {
					if _, ok, err := l.Pop(false); !ok || err != nil {
						t.Fatal(ok, err)
					}
					if _, ok, err := l.Pop(true); !ok || err != nil {
						t.Fatal(ok, err)
					}
				}
			}, "k")
			if w.model = append(w.model[3:47], "a"); name == "front" {
				w.model = append([]string{"a"}, w.model[:44]...)
			}
			w.change(change)
			for len(w.model) > 1 {
				w.model = w.model[1:]
				w.change(func(l *List) error { _, _, err := l.Pop(true); return err })
			}
		})
	}
}

// A reader without the latch finds an element by its number while it changes its entry: from one in a chunk to one of
// its own and back, as the list around it moves.
func TestIndexFindsElementsThatChangeTheirEntry(t *testing.T) {
	w := newChunkWorld(t)
	const n = 100
	short, long := []byte("short"), []byte(strings.Repeat("long", 50))
	for range n {
		w.model = append(w.model, string(short))
	}
	replace := func(l *List, element []byte) error {
		return l.Replace(func(yield func([]byte) error) error {
			for i := range n {
				e := short
				if i%20 == 10 {
					e = element
				}
				if err := yield(e); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.change(func(l *List) error { return replace(l, short) })
	done, written := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			in(t, w.s, func(u *store.Unit) {
				l := List{Chunks: true}
				l.MaxPacked = 1
				err := l.Open(u, []byte("k"))
				switch {
				case err != nil:
				case i%3 == 0:
					err = replace(&l, short)
				case i%3 == 1:
					err = l.Set(10+20*int64(i%5), long)
				default:
					var e []byte
					if e, _, err = l.Pop(true); err == nil {
						err = l.Push(false, bytes.Clone(e))
					}
				}
				if err != nil {
					t.Error(err)
				}
			}, "k")
		}
	}()
	rnd := rand.New(rand.NewPCG(1, 2))
	u := w.s.NewUnit()
	for range rounds(20000) {
		u.Begin(1000, nil)
		var l List
		err := l.Open(u, []byte("k"))
		i := rnd.Int64N(n)
		e, ok, indexErr := l.Index(i)
		if err != nil || indexErr != nil || !ok || !bytes.Equal(e, short) && !bytes.Equal(e, long) {
			t.Fatalf("element %d is %q, %v, %v, %v", i, e, ok, err, indexErr)
		}
		u.Abort()
	}
	close(done)
	<-written
}

// What LRANGE reads of a list with chunks comes from the cache where it has it, and is the same as what an iterator finds.
func TestRangesOfChunks(t *testing.T) {
	oneGoroutine(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, long := range []int{0, 1, 30} {
		t.Run(fmt.Sprint("long ", long), func(t *testing.T) {
			w := newChunkWorld(t)
			for range 20 {
				w.fill(1+rnd.IntN(100), long)
				for range rnd.IntN(40) { // the front has elements, too
					e := fmt.Sprint("front", len(w.model))
					w.model = slices.Insert(w.model, 0, e)
					w.change(func(l *List) error { return l.Push(true, []byte(e)) })
				}
				for range 20 {
					n := len(w.model)
					from := rnd.IntN(n)
					to := from + rnd.IntN(n-from)
					in(t, w.s, func(u *store.Unit) {
						var l List
						got, quick := ranged(t, u, &l, int64(from), int64(to))
						if want := w.model[from : to+1]; !slices.Equal(got, want) || !quick {
							t.Fatalf("%d to %d of %d: %v, from the cache: %v, want %v", from, to, n, got, quick, want)
						}
						if err := l.OpenWhole(u, []byte("k")); err != nil {
							t.Fatal(err)
						}
						var back []string
						if err := l.Range(int64(from), int64(to), true, func(_ int64, e []byte) bool { back = append(back, string(e)); return true }); err != nil {
							t.Fatal(err)
						}
						if slices.Reverse(back); !slices.Equal(back, got) {
							t.Fatalf("backwards: %v, want %v", back, got)
						}
					})
				}
			}
		})
	}
}

// What a range has removed does not come back with elements that get the same numbers, neither from a chunk nor from a
// row of the cache, also in the unit that adds them. Other keys push lines out of the cache meanwhile.
func TestRemovedRangesDoNotComeBack(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	w := newChunkWorld(t)
	w.fill(900, 0)
	for round := range rounds(150) {
		front, n := rnd.IntN(2) == 0, fewCut+1+rnd.IntN(200)
		if front {
			w.model = w.model[n:]
			w.change(func(l *List) error { return l.Trim(int64(n), l.Len()-1) })
		} else {
			w.model = w.model[:len(w.model)-n]
			w.change(func(l *List) error { return l.Trim(0, l.Len()-1-int64(n)) })
		}
		long := []int{0, 1, 20, 100}[rnd.IntN(4)]
		var all [][]byte
		for i := range n {
			e := fmt.Append(nil, round, "-", i)
			if long > 0 && i%long == 0 {
				e = append(e, strings.Repeat("x", maxChunked)...)
			}
			if all = append(all, e); front {
				w.model = slices.Insert(w.model, 0, string(e))
			} else {
				w.model = append(w.model, string(e))
			}
		}
		w.change(func(l *List) error {
			err := l.Push(front, all...)
			for range rnd.IntN(50) { // by the unit that has pushed
				i, set := rnd.IntN(len(w.model)), fmt.Sprint("set", rnd.IntN(1000))
				e, ok, indexErr := l.Index(int64(i))
				if !ok || indexErr != nil || string(e) != w.model[i] {
					t.Fatalf("round %d: element %d is %q, %v, %v, want %q", round, i, e, ok, indexErr, w.model[i])
				}
				err = errors.Join(err, l.Set(int64(i), []byte(set)))
				w.model[i] = set
			}
			return err
		})
		in(t, w.s, func(u *store.Unit) { // pushes lines out
			var other List
			other.MaxPacked = 1
			if err := other.Open(u, []byte("other")); err != nil {
				t.Fatal(err)
			}
			other.Clear()
			for range rnd.IntN(2000) {
				if err := other.Push(false, []byte("0123456789")); err != nil {
					t.Fatal(err)
				}
			}
		}, "other")
		for range 100 {
			from := rnd.IntN(len(w.model))
			to := min(from+rnd.IntN(20), len(w.model)-1)
			in(t, w.s, func(u *store.Unit) {
				var l List
				if got, _ := ranged(t, u, &l, int64(from), int64(to)); !slices.Equal(got, w.model[from:to+1]) {
					t.Fatalf("round %d: %d to %d is\n%v, want\n%v", round, from, to, got, w.model[from:to+1])
				}
			})
			in(t, w.s, func(u *store.Unit) {
				var l List
				if err := l.Open(u, []byte("k")); err != nil {
					t.Fatal(err)
				}
				if e, ok, err := l.Index(int64(from)); !ok || err != nil || string(e) != w.model[from] {
					t.Fatalf("round %d: element %d is %q, %v, %v, want %q", round, from, e, ok, err, w.model[from])
				}
			})
		}
	}
}

// A directory gets the format version that programs before refuse with its first list with chunks, not before.
func TestFirstChunksRaiseTheFormatVersion(t *testing.T) {
	for name, change := range map[string]func(l *List) error{
		"new": func(l *List) error {
			l.Clear()
			return l.Push(false, []byte("a"), []byte("b"), []byte("a"), []byte("b"))
		},
		"grown": func(l *List) error { return l.Push(false, []byte("a"), []byte("b")) },
		"replaced": func(l *List) error {
			return l.Replace(func(yield func([]byte) error) error {
				return errors.Join(yield([]byte("a")), yield([]byte("b")), yield([]byte("a")), yield([]byte("b")))
			})
		},
	} {
		t.Run(name, func(t *testing.T) { raisesFormat(t, change) })
	}
}

// raisesFormat makes a list without chunks one with chunks.
func raisesFormat(t *testing.T, change func(l *List) error) {
	fs := vfs.NewMem()
	s := open(t, fs)
	push := func(chunks bool, change func(l *List) error) {
		in(t, s, func(u *store.Unit) {
			l := List{Chunks: chunks}
			l.MaxPacked = 1
			if err := l.Open(u, []byte("k")); err != nil {
				t.Fatal(err)
			}
			if err := change(&l); err != nil {
				t.Fatal(err)
			}
		}, "k")
	}
	push(false, func(l *List) error { return l.Push(false, []byte("a"), []byte("b")) })
	if got := s.Identity().Format; got != 4 {
		t.Fatalf("without chunks: version %d", got)
	}
	push(true, change)
	for range 2 {
		if got := s.Identity().Format; got != 7 {
			t.Fatalf("with chunks: version %d", got)
		}
		if got := listed(t, s, "k"); !slices.Equal(got, []string{"a", "b", "a", "b"}) {
			t.Fatal(got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, fs)
	}
}

// FuzzChunks has the header of a list with chunks, and a chunk, be any bytes.
func FuzzChunks(f *testing.F) {
	f.Add([]byte{0, 2, 1, 'a', 1, 'b'}, int64(15), int64(33))
	f.Add([]byte{3, 0}, int64(-3), int64(2))
	f.Fuzz(func(t *testing.T, b []byte, first, last int64) {
		if first >= last || first < -1<<40 || last > 1<<40 {
			return
		}
		l := List{first: first, last: last}
		if err := l.readChunks(b); err != nil {
			return
		}
		if again := l.appendChunks(nil); len(again) > len(b) {
			t.Errorf("%x is written as %x", b, again)
		}
		for _, all := range [][]byte{l.front.packed, l.back.packed, b} {
			c := chunkRange{from: first, to: last - 1, next: first, step: 1, yield: func(int64, []byte) bool { return true }}
			c.packed(all, first)
			for i := range int64(chunkItems) {
				if at, to, ok := packedAt(all, i); ok && (at >= to || to > len(all)) {
					t.Errorf("entry %d of %x is from %d to %d", i, all, at, to)
				}
			}
		}
	})
}
