package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A Receiver applies the batches of one stream: what another store's Tap hands over for
// a range, and what its Copy emits, in that order. It belongs to one goroutine.
type Receiver struct {
	s *Store
	r ring.Range
	u *Unit
	// begun holds values whose entries have come, some of them, but not their header,
	// by the sender's generation.
	begun  map[begunKey]uint64
	broken error

	cleared []clearing
	pbuf    []byte
}

type begunKey struct {
	key string
	gen uint64
}

// A clearing is what an opClear has emptied.
type clearing struct{ from, to Position }

// maxBegun bounds how many values may be under construction at a time; a sender has one
// for each unit that writes a long value.
const maxBegun = 1 << 16

// NewReceiver returns a receiver for a range. The caller closes it.
func (s *Store) NewReceiver(r ring.Range) *Receiver {
	u := s.NewUnit()
	u.peeking = true
	return &Receiver{s: s, r: r, u: u, begun: make(map[begunKey]uint64)}
}

// Close ends the stream. What it has begun and not finished is garbage.
func (rc *Receiver) Close() {
	for _, gen := range rc.begun {
		rc.s.generations.built(gen)
	}
	clear(rc.begun)
	rc.s.garbage.Add(1)
	rc.broken = ErrClosed
}

// Apply makes a batch's changes visible, all or none, with all that a unit's commit
// brings up to date. As with [Unit.Commit], w is told when they are as durable as the
// fsync mode demands, if wait is true.
//
// With an error nothing was changed, but for what a batch removes from a whole stretch of
// tokens. The stream is at its end then: ErrGap if it does not follow what is here,
// ErrBatch if it is malformed, ErrReadOnly if nothing can be written.
func (rc *Receiver) Apply(batch []byte, w Waiter) (wait bool, err error) {
	if rc.broken != nil {
		return false, rc.broken
	}
	drops, flags, err := rc.prepare(batch)
	if err == nil && len(drops) > 0 {
		err = rc.s.drop(union(drops), nil, nil)
	}
	if err != nil {
		return false, rc.fail(err)
	}
	u := rc.u
	u.copying = flags&batchCopied != 0
	u.begin(beforeAll)
	if _, err = eachOp(batch, rc.one); err != nil {
		u.Abort()
		return false, rc.fail(err)
	}
	if len(drops) > 0 && u.batch == nil {
		u.after = max(u.after, rc.s.latches[latchOf(drops[0].first)].settled.Load())
	}
	if wait, err = u.Commit(w); err != nil {
		return false, rc.fail(err)
	}
	return wait, nil
}

// fail ends the stream with an error.
func (rc *Receiver) fail(err error) error {
	err = fmt.Errorf("apply batch of %v: %w", rc.r, err)
	rc.broken = err
	return err
}

// manyKeys is how many keys a clearing may remove one by one.
const manyKeys = 4096

// prepare checks a batch, notes in the unit which latches it needs, and returns what is
// to be dropped beforehand.
func (rc *Receiver) prepare(batch []byte) (drops []stretch, flags byte, err error) {
	u := rc.u
	u.latched = u.latched[:0]
	rc.cleared = rc.cleared[:0]
	dropping, more := false, false
	flags, err = eachOp(batch, func(o *operation) error {
		more = more || o.kind != opDrop
		switch o.kind {
		case opDrop:
			dropping = true
			for _, st := range stretches(o.tokens) {
				if !rc.within(st) {
					return fmt.Errorf("%w: it drops %v", ErrBatch, o.tokens)
				}
				drops = append(drops, st)
			}
			return nil
		case opClear:
			pieces, err := rc.clearingOf(o)
			for _, st := range pieces {
				if whole, ok := st.inside(o.a, o.b); ok && rc.s.keysWithin(whole) > manyKeys {
					drops = append(drops, whole)
				}
				u.latched = st.appendLatches(u.latched)
			}
			return err
		case opPut, opFresh, opAdopt:
			var h header
			if err := h.parse(o.a); err != nil || h.gen == 0 && (o.kind != opPut || len(h.value) > pieceSize) {
				return fmt.Errorf("%w: header", ErrBatch)
			}
		case opSub, opSubDelete:
			if len(o.a) == 0 {
				return fmt.Errorf("%w: empty sub key", ErrBatch)
			}
		}
		p := PlaceOf(rc.s.token, o.key)
		if !rc.r.Contains(p.Token()) {
			return fmt.Errorf("%w: it has a key outside the range", ErrBatch)
		}
		if n := latchOf(p); len(u.latched) == 0 || u.latched[len(u.latched)-1] != n {
			u.latched = append(u.latched, n)
		}
		return nil
	})
	if err == nil && dropping && more {
		err = fmt.Errorf("%w: a range is dropped among other things", ErrBatch)
	}
	return drops, flags, err
}

// within reports whether a stretch lies in the receiver's range.
func (rc *Receiver) within(st stretch) bool {
	return slices.ContainsFunc(stretches(rc.r), func(own stretch) bool {
		return st.first >= own.first && st.last <= own.last
	})
}

// clearingOf checks an opClear and returns the places that it has a part in.
func (rc *Receiver) clearingOf(o *operation) (pieces []stretch, err error) {
	from, to := Position(o.a), Position(o.b)
	if from.check() != nil || to.check() != nil || comparePositions(rc.r, from, to) >= 0 {
		return nil, fmt.Errorf("%w: clearing", ErrBatch)
	}
	for _, st := range stretches(rc.r) {
		if len(from) > 1 && comparePositions(rc.r, positionOf(st.last), from[:placeSize]) < 0 ||
			len(to) > 1 && comparePositions(rc.r, positionOf(st.first), to) >= 0 {
			continue
		}
		if len(from) > 1 && from.place() >= st.first && from.place() <= st.last {
			st.first = from.place()
		}
		if len(to) > 1 && to.place() >= st.first && to.place() <= st.last {
			st.last = to.place()
			if len(to) == placeSize && st.last > st.first {
				st.last--
			}
		}
		pieces = append(pieces, st)
	}
	if len(pieces) == 0 {
		return nil, fmt.Errorf("%w: clearing outside the range", ErrBatch)
	}
	return pieces, nil
}

// keysWithin returns about how many keys a stretch holds, for none more than a slice at
// either end.
func (s *Store) keysWithin(st stretch) (keys int64) {
	for slice := int(sliceOf(st.first)); slice <= int(sliceOf(st.last)); slice++ {
		keys += s.counts.slices[slice].keys.Load()
	}
	return keys
}

// one does one operation in the unit.
func (rc *Receiver) one(o *operation) error {
	switch o.kind {
	case opDrop:
		return nil
	case opClear:
		return rc.clear(o)
	}
	u, p := rc.u, PlaceOf(rc.s.token, o.key)
	switch o.kind {
	case opStage:
		return rc.begin(p, o)
	case opAbandon:
		if gen, ok := rc.begun[begunKey{string(o.key), o.gen}]; ok {
			delete(rc.begun, begunKey{string(o.key), o.gen})
			rc.s.generations.built(gen)
			rc.s.garbage.Add(1)
		}
		return nil
	case opSub:
		if o.gen != 0 {
			return rc.setSub(p, o, rc.begun[begunKey{string(o.key), o.gen}])
		}
	}
	old, err := rc.load(p, o.key)
	if err != nil {
		return err
	}
	switch o.kind {
	case opPut, opFresh, opAdopt:
		return rc.put(p, o, &old)
	case opRemove:
		if old.typ != None {
			u.remove(p, o.key, &old)
		}
	case opSub:
		if old.gen == 0 {
			return fmt.Errorf("%w: an entry of a value that is not here", ErrGap)
		}
		return rc.setSub(p, o, old.gen)
	case opSubDelete:
		if old.gen != 0 {
			_ = u.batched().Delete(rc.subKey(p, o.key, old.gen, o.a), nil)
		}
	case opSubRange:
		if old.gen != 0 {
			start := bytes.Clone(rc.subKey(p, o.key, old.gen, o.a))
			end := rc.subKey(p, o.key, old.gen, o.b)
			if len(o.b) == 0 {
				end = prefixEnd(end)
			}
			if bytes.Compare(start, end) < 0 {
				_ = u.batched().DeleteRange(start, end, nil)
			}
		}
	}
	return nil
}

func (rc *Receiver) subKey(p Place, key []byte, gen uint64, sub []byte) []byte {
	rc.pbuf = appendDataPrefix(rc.pbuf[:0], p, key)
	rc.pbuf = binary.BigEndian.AppendUint64(rc.pbuf, gen)
	rc.pbuf = append(rc.pbuf, sub...)
	return rc.pbuf
}

func (rc *Receiver) setSub(p Place, o *operation, gen uint64) error {
	if gen == 0 {
		return fmt.Errorf("%w: an entry of a value that was not begun", ErrGap)
	}
	return rc.u.batched().Set(rc.subKey(p, o.key, gen, o.a), o.b, nil)
}

// begin begins a value that has no header yet, or goes on with it.
func (rc *Receiver) begin(p Place, o *operation) error {
	k := begunKey{string(o.key), o.gen}
	gen := rc.begun[k]
	if gen == 0 {
		if len(rc.begun) >= maxBegun {
			return fmt.Errorf("%w: %d values are under construction", ErrBatch, len(rc.begun))
		}
		var err error
		if gen, err = rc.s.newGeneration(); err != nil {
			return err
		}
		rc.begun[k] = gen
	}
	rc.s.garbage.Add(1)
	return rc.u.batched().Set(garbageKey(nil, p, o.key, gen), nil, nil)
}

// put makes a header the key's, under a generation of this store.
func (rc *Receiver) put(p Place, o *operation, old *header) error {
	u := rc.u
	var h header
	_ = h.parse(o.a) // prepare has
	switch {
	case h.gen == 0:
	case o.kind == opAdopt:
		k := begunKey{string(o.key), h.gen}
		gen, ok := rc.begun[k]
		if !ok {
			return fmt.Errorf("%w: the header of a value that was not begun", ErrGap)
		}
		delete(rc.begun, k)
		u.built = append(u.built, construction{place: p, key: o.key, gen: gen, adopted: true})
		_ = u.batched().Delete(garbageKey(nil, p, o.key, gen), nil)
		h.gen = gen
	case o.kind == opPut && old.gen != 0:
		h.gen = old.gen
	default:
		gen, err := rc.s.newGeneration()
		if err != nil {
			return err
		}
		u.built = append(u.built, construction{place: p, key: o.key, gen: gen, adopted: true})
		h.gen = gen
	}
	u.put(p, o.key, old, &h)
	return nil
}

// load returns the header of a key, expired or not.
func (rc *Receiver) load(p Place, key []byte) (header, error) {
	if len(rc.cleared) > 0 && rc.u.find(p, key) == nil {
		c := rc.cleared[len(rc.cleared)-1]
		rc.pbuf = entryPosition(rc.pbuf[:0], p, key, nil)
		at := Position(rc.pbuf)
		if comparePositions(rc.r, at, c.from) >= 0 && comparePositions(rc.r, at, c.to) < 0 && !bytes.HasPrefix(c.to, at) {
			return header{}, nil
		}
	}
	// A slice is counted under its latch, which the unit holds: where nothing is, nothing
	// need be looked for. That is most of what a new copy would read.
	if rc.s.counts.slices[sliceOf(p)].keys.Load() == 0 && rc.u.find(p, key) == nil {
		rc.u.dependOn(&rc.s.latches[latchOf(p)], p)
		return header{}, nil
	}
	return rc.u.load(p, key)
}

// clear removes what lies between two positions.
func (rc *Receiver) clear(o *operation) error {
	pieces, err := rc.clearingOf(o)
	if err != nil {
		return err
	}
	from, to := Position(o.a), Position(o.b)
	for _, st := range pieces {
		at := from
		if len(at) > 1 && !(at.place() >= st.first && at.place() <= st.last) {
			at = nil
		}
		if err := rc.clearStretch(st, at, to); err != nil {
			return err
		}
	}
	rc.cleared = append(rc.cleared, clearing{from, to})
	return nil
}

func (rc *Receiver) clearStretch(st stretch, from, to Position) error {
	u := rc.u
	w, err := rc.s.walk(st, from)
	if err != nil {
		return err
	}
	spared, _ := to.split()
	var pos Position
	for w.next() {
		pos = w.appendPosition(pos[:0])
		if comparePositions(rc.r, pos, to) >= 0 {
			break
		}
		switch {
		case !w.isHeader():
			_ = u.batched().Delete(w.iter.Key(), nil)
		case spared == nil || !bytes.Equal(w.key, spared) || to.place() != w.place:
			u.remove(w.place, bytes.Clone(w.key), &w.head)
			w.skipKey()
		}
	}
	return w.close()
}
