package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
)

// A Receiver applies the batches of one stream: what another store's taps hand over for
// some ranges, and what its copies emit, in that order. It belongs to one goroutine, but for
// Over.
//
// The values under construction are named by the sender: so a receiver is for one start
// of one store.
type Receiver struct {
	s      *Store
	ranges []ring.Range
	within *spanIndex
	u      *Unit
	// begun holds values whose entries have come, some of them, but not their header,
	// by the sender's generation.
	begun  map[begunKey]uint64
	broken error
	over   atomic.Bool // see Over

	ops     []placedOp
	after   uint64 // the newest commit of the units before, as a settler's number
	cleared []clearing
	pbuf    []byte
}

// A placedOp is an operation that is going to be done.
type placedOp struct {
	operation
	place Place // of its key, if it has one
}

type begunKey struct {
	key string
	gen uint64
}

// A clearing is what an opClear has emptied.
type clearing struct {
	r        ring.Range
	from, to Position
}

// maxBegun bounds how many values may be under construction at a time; a sender has one
// for each unit that writes a long value.
const maxBegun = 1 << 16

// NewReceiver returns a receiver for some ranges. The caller closes it.
func (s *Store) NewReceiver(ranges ...ring.Range) *Receiver {
	u := s.NewUnit()
	u.peeking, u.following = true, true
	rc := &Receiver{s: s, u: u, begun: make(map[begunKey]uint64), within: newSpanIndex(nil)}
	u.may = rc.goesOn
	if len(ranges) > 0 {
		rc.SetRanges(ranges...)
	}
	return rc
}

// SetRanges says where changes may lie from now on. What has been begun elsewhere, and
// not finished, is garbage.
func (rc *Receiver) SetRanges(ranges ...ring.Range) {
	rc.ranges, rc.within = slices.Clone(ranges), newSpanIndex(spansOf(ranges))
	rc.s.follow(rc, stretchesOf(ranges))
	for k, gen := range rc.begun {
		if rc.within.find(rc.s.token([]byte(k.key))) < 0 {
			delete(rc.begun, k)
			rc.s.generations.built(gen)
			rc.s.garbage.Add(1)
		}
	}
}

// Over takes the ranges from the receiver before its stream has ended, since this store has the
// say there now. Once Over returns, nothing of the stream is committed any more, and units that
// begin then are not refused for it. A batch that is under way may be refused. Any goroutine may
// call it, also beside the other methods, but no SetRanges may follow. Close is still needed.
func (rc *Receiver) Over() {
	rc.over.Store(true)
	// Commits that did not see this end before follow returns.
	rc.s.follow(rc, nil)
}

var errOver = errors.New("the store does not follow in these ranges any more")

// goesOn returns an error once the receiver is over. The caller holds Store.commits.
func (rc *Receiver) goesOn() error {
	if rc.over.Load() {
		return errOver
	}
	return nil
}

// Close ends the stream. What it has begun and not finished is garbage.
func (rc *Receiver) Close() {
	for _, gen := range rc.begun {
		rc.s.generations.built(gen)
	}
	clear(rc.begun)
	rc.s.garbage.Add(1)
	rc.s.follow(rc, nil)
	rc.broken = ErrClosed
}

// fail ends the stream with an error.
func (rc *Receiver) fail(err error) error {
	err = fmt.Errorf("apply batch: %w", err)
	rc.broken = err
	return err
}

// clearingOf checks an opClear and returns the range in which it is, and the places that
// it has a part in.
func (rc *Receiver) clearingOf(o *operation) (r ring.Range, pieces []stretch, err error) {
	from, to := Position(o.a), Position(o.b)
	r, ok := rc.rangeOf(from)
	if !ok || from.check() != nil || to.check() != nil || comparePositions(r, from, to) >= 0 {
		return r, nil, fmt.Errorf("%w: clearing", ErrBatch)
	}
	for _, st := range stretches(r) {
		if len(from) > 1 && comparePositions(r, positionOf(st.last), from[:placeSize]) < 0 ||
			len(to) > 1 && comparePositions(r, positionOf(st.first), to) >= 0 {
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
		return r, nil, fmt.Errorf("%w: clearing outside the range", ErrBatch)
	}
	return r, pieces, nil
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
func (rc *Receiver) one(op *placedOp) error {
	u, p, o := rc.u, op.place, &op.operation
	switch o.kind {
	case opClear:
		return rc.clear(o)
	case opStage:
		rc.abandon(o)
		return rc.begin(p, o)
	case opMore:
		if _, ok := rc.begun[begunKey{string(o.key), o.gen}]; !ok {
			return fmt.Errorf("%w: more of a value that was not begun", ErrGap)
		}
		return nil
	case opAbandon:
		rc.abandon(o)
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
			rc.changed(p, len(o.a))
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
				u.crowd++
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
	_ = rc.u.batched().Set(rc.subKey(p, o.key, gen, o.a), o.b, nil)
	rc.changed(p, len(o.a))
	return nil
}

// changed notes that the entry whose key is in rc.pbuf, of which so many bytes are the sub
// key, is not what the cache may say.
func (rc *Receiver) changed(p Place, sub int) {
	if hasLine(rc.pbuf[len(rc.pbuf)-sub:]) {
		rc.u.elements.foreign = append(rc.u.elements.foreign, elementChange{place: p, key: rc.u.keep(rc.pbuf), sub: sub})
	}
}

// begin begins a value that has no header yet.
func (rc *Receiver) begin(p Place, o *operation) error {
	if len(rc.begun) >= maxBegun {
		return fmt.Errorf("%w: %d values are under construction", ErrBatch, len(rc.begun))
	}
	gen, err := rc.s.newGeneration()
	if err != nil {
		return err
	}
	rc.begun[begunKey{string(o.key), o.gen}] = gen
	rc.s.garbage.Add(1)
	return rc.u.batched().Set(garbageKey(nil, p, o.key, gen), nil, nil)
}

// abandon gives up a value that has no header yet, if it was begun.
func (rc *Receiver) abandon(o *operation) {
	k := begunKey{string(o.key), o.gen}
	if gen, ok := rc.begun[k]; ok {
		delete(rc.begun, k)
		rc.s.generations.built(gen)
		rc.s.garbage.Add(1)
	}
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
		u.built = append(u.built, construction{place: p, key: o.key, gen: gen, staged: true, adopted: true})
		_ = u.batched().Delete(garbageKey(nil, p, o.key, gen), nil)
		h.gen = gen
	case o.kind == opPut && old.gen != 0:
		h.gen = old.gen
	default:
		gen, err := rc.s.newGeneration()
		if err != nil {
			return err
		}
		u.built = append(u.built, construction{place: p, key: o.key, gen: gen})
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
		if comparePositions(c.r, at, c.from) >= 0 && comparePositions(c.r, at, c.to) < 0 && !bytes.HasPrefix(c.to, at) {
			return header{}, nil
		}
	}
	return rc.u.load(p, key)
}

// clear removes what lies between two positions.
func (rc *Receiver) clear(o *operation) error {
	r, pieces, err := rc.clearingOf(o)
	if err != nil {
		return err
	}
	from, to := Position(o.a), Position(o.b)
	for _, st := range pieces {
		at := from
		if len(at) > 1 && !(at.place() >= st.first && at.place() <= st.last) {
			at = nil
		}
		if err := rc.clearStretch(r, st, at, to); err != nil {
			return err
		}
	}
	rc.cleared = append(rc.cleared, clearing{r, from, to})
	return nil
}

func (rc *Receiver) clearStretch(r ring.Range, st stretch, from, to Position) error {
	u := rc.u
	w, err := rc.s.walk(st, from)
	if err != nil {
		return err
	}
	spared, _ := to.split()
	var pos Position
	for w.next() {
		pos = w.appendPosition(pos[:0])
		if comparePositions(r, pos, to) >= 0 {
			break
		}
		switch {
		case !w.isHeader():
			_ = u.batched().Delete(w.iter.Key(), nil)
			rc.pbuf = append(rc.pbuf[:0], w.iter.Key()...)
			rc.changed(w.place, len(w.sub))
		case spared == nil || !bytes.Equal(w.key, spared) || to.place() != w.place:
			u.remove(w.place, bytes.Clone(w.key), &w.head)
			w.skipKey()
		}
	}
	return w.close()
}
