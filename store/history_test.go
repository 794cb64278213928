package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A history is what writers did to a store, each to keys of its own, one unit
// after the other. What a writer's unit number n does follows from the seed, the
// writer and n alone; so the number of the last unit that a store has seen tells
// all that must be in it, and all that must not.
type history struct {
	seed    uint64
	writers []*writer
}

type writer struct {
	history *history
	id      int
	next    int          // unit to do next
	acked   atomic.Int64 // the last unit that was acknowledged
	shown   atomic.Int64 // the last unit that a reader was shown
	failed  atomic.Int64 // how often a unit was refused, or its outcome unknown
	// values is what the keys held after the unit with the number valuesOf, from which the history went on.
	values   map[int][]byte
	valuesOf int
}

// slots is how many keys a writer has, beside the one that counts its units.
const slots = 24

// testSeed returns a seed, which RINGSIDE_SEED can repeat, and prints it if the test
// fails.
func testSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("RINGSIDE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("RINGSIDE_SEED=%d", seed)
		}
	})
	return seed
}

// lives is how many lives of a store a test goes through, or how much else it does: a third of n
// in the usual run, which draws its seed anew, a sixth for the race detector (-short), and 20 times
// n with RINGSIDE_LONG, as in go tool task test:store.
func lives(n int) int {
	switch {
	case isLong():
		return 20 * n
	case testing.Short():
		return (n + 5) / 6
	}
	return (n + 2) / 3
}

// isLong reports whether the tests run at full length, as in go tool task test:store.
func isLong() bool { return os.Getenv("RINGSIDE_LONG") != "" }

func newHistory(seed uint64, writers int) *history {
	h := &history{seed: seed}
	for id := range writers {
		h.writers = append(h.writers, &writer{history: h, id: id, next: 1})
	}
	return h
}

type opKind int

const (
	opSet opKind = iota
	opDelete
	opRange
)

type op struct {
	kind  opKind
	slot  int
	off   int64
	value []byte
}

// ops returns what unit n does.
func (w *writer) ops(n int) []op {
	rng := rand.New(rand.NewPCG(w.history.seed, uint64(w.id)<<32|uint64(n)))
	ops := make([]op, 1+rng.IntN(3))
	for i := range ops {
		o := &ops[i]
		o.slot = rng.IntN(slots)
		size := rng.IntN(300)
		switch p := rng.IntN(100); {
		case p < 15:
			o.kind = opDelete
		case p < 30:
			o.kind = opRange
			o.off = int64(rng.IntN(400))
			if p < 17 {
				o.off += 100_000
			}
		case p < 34:
			size = 66_000 + rng.IntN(100_000)
		case p < 44:
			size = 20_000
		}
		o.value = bytes.Repeat(fmt.Appendf(nil, "%d.%d.%d;", w.id, n, i), size/6+1)
	}
	return ops
}

func (w *writer) key(slot int) []byte { return fmt.Appendf(nil, "w%d:%d", w.id, slot) }

func (w *writer) lastKey() []byte { return fmt.Appendf(nil, "w%d:last", w.id) }

// begin begins a unit that holds all that the writer's unit n touches.
func (w *writer) begin(s *Store, n int) (*Unit, []op) {
	u := s.NewUnit()
	ops := w.ops(n)
	places := []Place{u.Place(w.lastKey())}
	for _, o := range ops {
		places = append(places, u.Place(w.key(o.slot)))
	}
	u.Begin(s.now(), places)
	return u, ops
}

// do does unit n and waits for its fate.
func (w *writer) do(s *Store, n int) error {
	u, ops := w.begin(s, n)
	err := func() error {
		for _, o := range ops {
			key := w.key(o.slot)
			v, err := u.Get(key)
			if err != nil {
				return err
			}
			switch o.kind {
			case opSet:
				err = u.PutString(key, v, o.value, 0, false)
			case opDelete:
				u.Delete(key, v)
			case opRange:
				_, err = u.WriteRange(key, v, o.off, o.value)
			}
			if err != nil {
				return err
			}
		}
		v, err := u.Get(w.lastKey())
		if err != nil {
			return err
		}
		return u.PutString(w.lastKey(), v, []byte(strconv.Itoa(n)), 0, false)
	}()
	return u.end(err)
}

// model returns what the writer's keys hold after unit last. It begins where the history went on from, if that is not
// later: a history of thousands of lives would be repeated in each of them otherwise.
func (w *writer) model(last int) map[int][]byte {
	m, from := make(map[int][]byte), 0
	if w.valuesOf > 0 && w.valuesOf <= last {
		m, from = maps.Clone(w.values), w.valuesOf
	}
	for n := from + 1; n <= last; n++ {
		for _, o := range w.ops(n) {
			switch o.kind {
			case opSet:
				m[o.slot] = o.value
			case opDelete:
				delete(m, o.slot)
			case opRange:
				size := max(len(m[o.slot]), int(o.off)+len(o.value))
				value := make([]byte, size)
				copy(value, m[o.slot])
				copy(value[o.off:], o.value)
				m[o.slot] = value
			}
		}
	}
	return m
}

// read returns the value of a key, nil if there is none, once all that it stems
// from is durable.
func (s *Store) read(key []byte) ([]byte, error) {
	u := s.NewUnit()
	u.Begin(s.now(), nil)
	v, err := u.Get(key)
	var value []byte
	if err == nil && v.Exists() {
		value, err = u.Bytes(key, v)
		value = append([]byte{}, value...)
	}
	if err != nil {
		u.Abort()
		return nil, err
	}
	var done Signal
	wait, err := u.Commit(&done)
	if err == nil && wait {
		err = done.Wait()
	}
	return value, err
}

// last returns the number of the last of the writer's units that a store has seen.
func (w *writer) last(s *Store) (int, error) {
	b, err := s.read(w.lastKey())
	if b == nil || err != nil {
		return 0, err
	}
	return strconv.Atoi(string(b))
}

// verify compares a store with the writer's history: it must have seen units 1 to
// at least atLeast and be as they left it. It returns the last.
func (w *writer) verify(s *Store, atLeast int) (int, error) {
	last, err := w.last(s)
	if err != nil {
		return 0, err
	}
	if last < atLeast {
		return 0, fmt.Errorf("writer %d: the store has seen %d units, %d were promised", w.id, last, atLeast)
	}
	m := w.model(last)
	for slot := range slots {
		got, err := s.read(w.key(slot))
		if err != nil {
			return 0, err
		}
		want, ok := m[slot]
		if ok != (got != nil) || !bytes.Equal(got, want) {
			return 0, fmt.Errorf("writer %d: after unit %d key %s has %s, want %s",
				w.id, last, w.key(slot), brief(got), brief(want))
		}
	}
	return last, nil
}

func brief(b []byte) string {
	if b == nil {
		return "no value"
	}
	return fmt.Sprintf("%d bytes %.30q…", len(b), b)
}

// run lets all writers, and one reader each, work on the store until the returned
// function is called. A unit that fails is done again, which leaves what doing it
// once would have; any error but those that a store may give is one of the test.
func (h *history) run(t *testing.T, s *Store) (stop func()) {
	var end atomic.Bool
	var wg sync.WaitGroup
	for _, w := range h.writers {
		wg.Go(func() {
			for !end.Load() {
				if err := w.do(s, w.next); err != nil {
					if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrReadOnly) {
						t.Errorf("writer %d: %v", w.id, err)
						return
					}
					w.failed.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				w.acked.Store(int64(w.next))
				w.next++
			}
		})
		wg.Go(func() {
			for !end.Load() {
				last, err := w.last(s)
				if err != nil {
					if !errors.Is(err, ErrUnknown) {
						t.Errorf("reader %d: %v", w.id, err)
						return
					}
					time.Sleep(time.Millisecond)
					continue
				}
				w.shown.Store(max(w.shown.Load(), int64(last)))
			}
		})
	}
	return func() {
		end.Store(true)
		wg.Wait()
	}
}

// promised returns, for each writer, the last unit that somebody was told of.
func (h *history) promised() []int {
	p := make([]int, len(h.writers))
	for i, w := range h.writers {
		p[i] = int(max(w.acked.Load(), w.shown.Load()))
	}
	return p
}

// verify compares a store with all histories and its counts with its content, and
// makes what the store has seen the point from which the writers go on.
func (h *history) verify(t *testing.T, s *Store, atLeast []int, goOn bool) {
	t.Helper()
	for i, w := range h.writers {
		last, err := w.verify(s, atLeast[i])
		if err != nil {
			t.Fatal(err)
		}
		if goOn {
			w.next = last + 1
			w.values, w.valuesOf = w.model(last), last
			w.acked.Store(int64(last))
			w.shown.Store(int64(last))
		}
	}
	s.audit(t)
}

// modes are those of Config.Fsync; under -short, where only the race detector looks, one.
func modes() []Fsync {
	if testing.Short() {
		return []Fsync{FsyncEverySec}
	}
	return []Fsync{FsyncAlways, FsyncEverySec, FsyncNo}
}
