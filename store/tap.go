package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/ring"
)

// A Change is what a Tap hands over: that part of one commit which lies in its
// range. A [Receiver] of another store applies the batch.
type Change struct {
	// Number grows from change to change of a store, though not by one.
	Number uint64
	// Batch is the receiver's to keep.
	Batch []byte
}

// A Tap hands over every change of a range, in the order of the commits of each key:
// commands, expiry, Clear, parts of long values as they are written.
//
// What it has handed over is held: the replies of units that wrote or read it wait
// until Acked says that it is wherever it must be. So whoever taps must call Acked.
type Tap struct {
	s    *Store
	r    ring.Range
	sink func(Change)

	mu     sync.Mutex // serializes calls of sink
	closed bool
	last   atomic.Uint64 // number of the newest change
	pace   atomic.Pointer[func()]

	held holding
}

// Tap begins to hand over the changes of a range, which may not overlap one that is
// tapped: ErrOverlap. Every commit that begins after Tap returns is handed over; of
// those under way, some.
//
// sink is called for one change at a time, after the change can be seen by other
// units and before any reply that tells of it may leave, by whoever commits, with
// the latches of the keys held. It must not block nor call the store, except for
// Acked: who limits what is under way does so before a unit begins.
func (s *Store) Tap(r ring.Range, sink func(Change)) (*Tap, error) {
	t := &Tap{s: s, r: r, sink: sink}
	s.tapsMu.Lock()
	defer s.tapsMu.Unlock()
	var taps []tapPiece
	if set := s.taps.Load(); set != nil {
		taps = slices.Clone(set.pieces)
	}
	for _, st := range stretches(r) {
		for i := range taps {
			if st.first <= taps[i].last && st.last >= taps[i].first {
				return nil, fmt.Errorf("tap %v: %w: %v", r, ErrOverlap, taps[i].tap.r)
			}
		}
	}
	for _, st := range stretches(r) {
		taps = append(taps, tapPiece{st, t})
	}
	s.setTaps(taps)
	return t, nil
}

// setTaps replaces the set of taps; tapsMu is held.
func (s *Store) setTaps(pieces []tapPiece) {
	set := &tapSet{s: s, pieces: pieces}
	if len(pieces) == 0 {
		set = nil
	}
	slices.SortFunc(pieces, func(a, b tapPiece) int { return cmp.Compare(a.first, b.first) })
	// Whoever commits looks at the taps with commits held for reading, or after it
	// was: none that begins from now on misses this.
	s.commits.Lock()
	s.taps.Store(set)
	s.commits.Unlock()
}

// Pace has wait called before a unit begins that may write in the range, by the
// goroutine of the unit, which holds no latch then. So whoever taps bounds what it is
// handed; what has begun already, and what the store does by itself, does not wait.
func (t *Tap) Pace(wait func()) { t.pace.Store(&wait) }

// Acked says that everything up to a change's number is wherever it must be. It
// may be called from sink, and is called with numbers that grow.
func (t *Tap) Acked(number uint64) { t.held.release(number) }

// Last returns the number of the newest change that was handed over.
func (t *Tap) Last() uint64 { return t.last.Load() }

// Close ends the tap; sink is not called any more when it returns. Replies that it
// holds leave, or with an error fail with that and ErrUnknown.
func (t *Tap) Close(err error) {
	t.s.tapsMu.Lock()
	if set := t.s.taps.Load(); set != nil {
		t.s.setTaps(slices.DeleteFunc(slices.Clone(set.pieces), func(p tapPiece) bool { return p.tap == t }))
	}
	t.s.tapsMu.Unlock()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	if err != nil {
		t.held.fail(fmt.Errorf("%w: %w", ErrUnknown, err))
		return
	}
	t.held.release(^uint64(0))
}

// hand passes a batch on and returns its number; 0 if the tap has been closed.
func (t *Tap) hand(batch []byte) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0
	}
	number := t.s.tapped.Add(1)
	t.last.Store(number)
	t.sink(Change{number, batch})
	return number
}

// A tapSet is all taps of a store; it does not change.
type tapSet struct {
	s      *Store
	pieces []tapPiece // in order
}

type tapPiece struct {
	stretch
	tap *Tap
}

// find returns the tap of a token, or nil.
func (ts *tapSet) find(t ring.Token) *Tap {
	i, ok := slices.BinarySearchFunc(ts.pieces, t, func(p tapPiece, t ring.Token) int {
		switch {
		case p.last.Token() < t:
			return -1
		case p.first.Token() > t:
			return 1
		}
		return 0
	})
	if !ok {
		return nil
	}
	return ts.pieces[i].tap
}

// slow lets every tap in whose range a place lies hold its goroutine back.
func (ts *tapSet) slow(places []Place) {
	var asked []*Tap
	for _, p := range places {
		t := ts.find(p.Token())
		if t == nil || slices.Contains(asked, t) {
			continue
		}
		asked = append(asked, t)
		if wait := t.pace.Load(); wait != nil {
			(*wait)()
		}
	}
}

// overlap reports whether any tap has a part in a stretch.
func (ts *tapSet) overlap(st stretch) bool {
	return slices.ContainsFunc(ts.pieces, func(p tapPiece) bool { return st.first <= p.last && st.last >= p.first })
}

// all returns each tap once.
func (ts *tapSet) all() (taps []*Tap) {
	for _, p := range ts.pieces {
		if !slices.Contains(taps, p.tap) {
			taps = append(taps, p.tap)
		}
	}
	return taps
}

// A tapPart is the part of a unit that goes to one tap.
type tapPart struct {
	tap *Tap
	w   *batchWriter
}

type tapParts []tapPart

// of returns the writer of the tap of a token, or nil.
func (parts *tapParts) of(ts *tapSet, t ring.Token, room int) *batchWriter {
	tap := ts.find(t)
	if tap == nil {
		return nil
	}
	for _, p := range *parts {
		if p.tap == tap {
			return p.w
		}
	}
	w := newBatch(0, room)
	*parts = append(*parts, tapPart{tap, w})
	return w
}

// handOver hands what has just been committed to the taps. What a unit did on the
// way does not travel: of each key its last header, and the entries of that value.
// r is the batch as it was before Pebble took it, which keeps what is large.
func (u *Unit) handOver(ts *tapSet, r batchrepr.Reader) {
	var parts tapParts
	room := len(r)
	for i := range u.changes {
		c := &u.changes[i]
		if w := parts.of(ts, c.place.Token(), room); w != nil {
			u.addHeader(w, c)
		}
	}
	for {
		kind, k, v, ok, err := r.Next()
		if !ok || err != nil {
			break // it has been applied, so it is well-formed
		}
		if k[0] != kindData {
			continue
		}
		p, key, sub, err := splitPlacedKey(k[1:])
		if err != nil || len(sub) < genSize || binary.BigEndian.Uint64(sub) != u.lastGeneration(p, key, sub) {
			continue
		}
		if w := parts.of(ts, p.Token(), room); w != nil {
			addSub(w, kind, key, sub[genSize:], v)
		}
	}
	for _, p := range parts {
		u.handed(p.tap, p.tap.hand(p.w.buf))
	}
}

// addHeader adds the last header of a key.
func (u *Unit) addHeader(w *batchWriter, c *change) {
	o := operation{kind: opRemove, key: c.key}
	var h header
	if c.line != nil {
		_ = h.parse(c.line)
		o.kind, o.a = opPut, c.line
		if h.gen != 0 && h.gen != c.base {
			o.kind = opFresh
			for i := range u.built {
				if u.built[i].gen == h.gen {
					o.kind, u.built[i].adopted = opAdopt, true
				}
			}
		}
	}
	c.gen = h.gen
	w.add(&o)
}

// lastGeneration returns the generation of a key's value after the unit; without a
// change of its header, the sub entry's own.
func (u *Unit) lastGeneration(p Place, key, sub []byte) uint64 {
	if c := u.find(p, key); c != nil {
		return c.gen
	}
	return binary.BigEndian.Uint64(sub)
}

func addSub(w *batchWriter, kind pebble.InternalKeyKind, key, sub, value []byte) {
	switch kind {
	case pebble.InternalKeyKindSet:
		w.add(&operation{kind: opSub, key: key, a: sub, b: value})
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete:
		w.add(&operation{kind: opSubDelete, key: key, a: sub})
	case pebble.InternalKeyKindRangeDelete:
		// value is the end, in the same value or just behind it.
		_, endKey, end, err := splitPlacedKey(value[1:])
		if err != nil || string(endKey) != string(key) || len(end) < genSize {
			end = make([]byte, genSize)
		}
		w.add(&operation{kind: opSubRange, key: key, a: sub, b: end[genSize:]})
	}
}

// staged hands over part of a value that no header names yet.
func (ts *tapSet) staged(r batchrepr.Reader, p Place, key []byte, gen uint64) {
	tap := ts.find(p.Token())
	if tap == nil {
		return
	}
	w := newBatch(0, len(r))
	w.add(&operation{kind: opStage, key: key, gen: gen})
	for {
		kind, k, v, ok, err := r.Next()
		if !ok || err != nil {
			break
		}
		if k[0] != kindData {
			continue
		}
		if _, _, sub, err := splitPlacedKey(k[1:]); err == nil && len(sub) > genSize {
			addSub(w, kind, key, sub[genSize:], v)
		}
	}
	tap.hand(w.buf)
}

// abandoned tells of values that a unit may have begun and no header will name. Of
// one that a header does name, the receiver knows nothing any more.
func (ts *tapSet) abandoned(built []construction) {
	for i := range built {
		c := &built[i]
		if tap := ts.find(c.place.Token()); tap != nil && !c.adopted {
			w := newBatch(0, len(c.key)+16)
			w.add(&operation{kind: opAbandon, key: c.key, gen: c.gen})
			tap.hand(w.buf)
		}
	}
}
