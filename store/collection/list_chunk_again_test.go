package collection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// One List is changed several times without being opened in between, as LMOVE does, after the unit has changed the list
// before: the new head takes the place in memory of the one that was read when it was opened.
func TestListWithChunksIsChangedWithoutBeingOpened(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	w := newChunkWorld(t)
	for round := range rounds(400) {
		if round%40 == 0 {
			w.fill(1+rnd.IntN(400), []int{0, 9}[rnd.IntN(2)])
		}
		w.change(func(l *List) error {
			for step := range 1 + rnd.IntN(30) {
				n := int64(len(w.model))
				e, front := fmt.Sprint(round, "-", step), rnd.IntN(2) == 0
				if rnd.IntN(20) == 0 {
					e += strings.Repeat("x", maxChunked)
				}
				var err error
				if rnd.IntN(3) == 0 {
					if err = l.Open(l.unit, []byte("k")); err != nil {
						return err
					}
				}
				switch op := rnd.IntN(10); {
				case op < 3 || n < 2:
					if err = l.Push(front, []byte(e)); front {
						w.model = slices.Insert(w.model, 0, e)
					} else {
						w.model = append(w.model, e)
					}
				case op < 5:
					var got []byte
					got, _, err = l.Pop(front)
					at := n - 1
					if front {
						at = 0
					}
					if string(got) != w.model[at] {
						return fmt.Errorf("popped %.20q, want %.20q", got, w.model[at])
					}
					w.model = slices.Delete(w.model, int(at), int(at)+1)
				case op < 7: // LMOVE
					got, _, popErr := l.Pop(front)
					if err = popErr; err == nil {
						err = l.Push(!front, got)
					}
					if front {
						w.model = append(w.model[1:], w.model[0])
					} else {
						w.model = slices.Insert(w.model[:n-1], 0, w.model[n-1])
					}
				case op < 8:
					i := rnd.Int64N(n)
					err = l.Set(i, []byte(e))
					w.model[i] = e
				case op < 9:
					i := rnd.Int64N(n)
					err = l.Insert(i, []byte(e))
					w.model = slices.Insert(w.model, int(i), e)
				default:
					i := rnd.Int64N(n)
					err = l.Remove([]int64{i})
					w.model = slices.Delete(w.model, int(i), int(i)+1)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// A reader without the latch gets no element that was trimmed away, though a row of the cache still has it, while the
// list around it moves.
func TestIndexReturnsNoRemovedElement(t *testing.T) {
	w := newChunkWorld(t)
	w.fill(800, 1)
	w.model = w.model[:416]
	w.change(func(l *List) error { return l.Trim(0, 415) })
	var all [][]byte
	for i := 416; i < 800; i++ {
		e := fmt.Sprint("new", i)
		if i/chunkItems%2 == 0 {
			e += strings.Repeat("x", maxChunked)
		}
		all, w.model = append(all, []byte(e)), append(w.model, e)
	}
	w.change(func(l *List) error { return l.Push(false, all...) })
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			for _, pop := range []bool{true, false} {
				in(t, w.s, func(u *store.Unit) {
					l := List{Chunks: true}
					err := l.Open(u, []byte("k"))
					if err == nil && pop {
						_, _, err = l.Pop(true)
					} else if err == nil {
						err = l.Push(true, []byte("front"))
					}
					if err != nil {
						t.Error(err)
					}
				}, "k")
			}
		}
	}()
	u := w.s.NewUnit()
	for i := range rounds(200_000) {
		u.Begin(1000, nil)
		var l List
		err := l.Open(u, []byte("k"))
		e, ok, indexErr := l.Index(int64(448+15) + int64(i%8)*2*chunkItems)
		if err != nil || indexErr != nil || !ok || !strings.HasPrefix(string(e), "new") {
			t.Fatalf("read %d: %.20q, %v, %v, %v", i, e, ok, err, indexErr)
		}
		u.Abort()
	}
	stop.Store(true)
	<-done
}

// Elements that are pushed at once cost memory for one chunk, not for all.
func TestPushOfManyElementsKeepsLittle(t *testing.T) {
	s := open(t, vfs.NewMem())
	for _, front := range []bool{true, false} {
		in(t, s, func(u *store.Unit) {
			l := List{Chunks: true}
			if err := l.Open(u, []byte("k")); err != nil {
				t.Fatal(err)
			}
			if err := l.Push(front, slices.Repeat([][]byte{[]byte(strings.Repeat("x", maxChunked))}, 20_000)...); err != nil {
				t.Fatal(err)
			}
			if n := cap(l.spare); n > 64<<10 {
				t.Errorf("%d bytes of scratch memory", n)
			}
		}, "k")
	}
}
