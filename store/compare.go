package store

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Two stores that follow the same changes hold the same, but not at the same moment:
// Unlike finds where they may differ, and whether they do, LiveSum tells of entries that a
// [Watch] has seen unchanged meanwhile.

// A Span is the entries of a range from a position up to another.
type Span struct{ From, To Position }

// Unlike returns those parts of another store's digests of a range in which this one does
// not hold the same entries. What is written meanwhile may be among them, and keys that
// have expired but are not removed yet.
func (s *Store) Unlike(r ring.Range, d *Digests) ([]Span, error) {
	groups, err := s.differing(r, d, func(*Group) bool { return false })
	if err != nil {
		return nil, err
	}
	spans := make([]Span, 0, len(groups))
	for _, i := range groups {
		spans = append(spans, Span{d.Groups[i].Start, d.end(i)})
	}
	return spans, nil
}

// Cut drops groups from the end until the digests take less than about so many bytes, but
// for the first.
func (d *Digests) Cut(size int) {
	for i := range d.Groups {
		if size -= len(d.Groups[i].Start) + 2*layout.PlaceSize; size < 0 && i > 0 {
			d.End, d.Groups = d.Groups[i].Start, d.Groups[:i]
			return
		}
	}
}

// Tokens returns those that the entries of a span of a range can have.
func (sp Span) Tokens(r ring.Range) (ring.Range, error) {
	st, ok := layout.PieceAt(r, sp.From)
	if !ok || sp.From.Check() != nil || sp.To.Check() != nil || layout.ComparePositions(r, sp.From, sp.To) >= 0 {
		return ring.Range{}, fmt.Errorf("part of %v: %w", r, layout.ErrPosition)
	}
	return ring.Range{Start: st.First.Token(), End: st.UpTo(sp.To).Token() + 1}, nil
}

// mostLive bounds the entries of a span that LiveSum looks at: a span of one store's group
// may have grown in another.
const mostLive = 1 << 12

// LiveSum returns a hash of the keys and contents of a span that have not expired at some
// moment: on every store the same if they are, whether expired keys were removed or not. Of
// more entries than a few thousand only the first count.
func (s *Store) LiveSum(r ring.Range, sp Span, at time.Time) (uint64, error) {
	if _, err := sp.Tokens(r); err != nil {
		return 0, err
	}
	st, _ := layout.PieceAt(r, sp.From)
	w, err := s.walk(st, sp.From)
	if err != nil {
		return 0, err
	}
	var sum groupSum
	sum.reset()
	var pos Position
	var buf []byte
	now := at.UnixMilli()
	for n := 0; n < mostLive && w.next(); n++ {
		if w.head.Expired(now) { // also within a key
			w.skipKey()
			continue
		}
		pos = w.appendPosition(pos[:0])
		if layout.ComparePositions(r, pos, sp.To) >= 0 {
			break
		}
		var e uint64
		e, buf = w.entrySum(pos, buf)
		sum.add(e)
	}
	return sum.x.Sum64(), w.close()
}

// A Watch counts the changes of some ranges, each on its own. Close must be called.
type Watch struct {
	s       *Store
	taps    []*Tap
	changes []atomic.Uint64
}

// Watch begins to count.
func (s *Store) Watch(ranges ...ring.Range) *Watch {
	w := &Watch{s: s, changes: make([]atomic.Uint64, len(ranges))}
	_ = s.changeTaps(nil, func(c *tapCells) error {
		for i, r := range ranges {
			t := &Tap{s: s, sink: func(Change) { w.changes[i].Add(1) }}
			w.taps = append(w.taps, t)
			c.listen(r, t)
		}
		return nil
	})
	return w
}

// Changes returns how many there were in each of the ranges, since Watch: all that can be
// seen are counted, and all that are counted can be seen and were handed to whoever holds
// the ranges.
func (w *Watch) Changes() []uint64 {
	// Whoever commits makes changes visible, and hands them over, while commits is held for
	// reading.
	w.s.commits.Lock()
	defer w.s.commits.Unlock()
	counts := make([]uint64, len(w.changes))
	for i := range w.changes {
		counts[i] = w.changes[i].Load()
	}
	return counts
}

// Close ends it.
func (w *Watch) Close() {
	_ = w.s.changeTaps(nil, func(c *tapCells) error {
		for _, t := range w.taps {
			c.forget(t)
		}
		return nil
	})
}
