package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/pending"
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
	within *layout.TokenIndex
	u      *Unit
	// begun holds values whose entries have come, some of them, but not their header,
	// by the sender's generation.
	begun map[begunKey]uint64
	err   error
	over  atomic.Bool // see Revoke

	ops     []placedOp
	after   uint64 // the newest commit of the units before, as a number of the sync queue
	cleared []clearing
	pbuf    []byte
}

// A placedOp is an operation that is going to be done.
type placedOp struct {
	ops.Op
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
	rc := newReceiver(s)
	if len(ranges) > 0 {
		rc.SetRanges(ranges...)
	}
	return rc
}

// NewReceivers returns a receiver for each range, all of which begin to follow at one moment. That is
// far cheaper than one after the other. The caller closes them.
func (s *Store) NewReceivers(ranges []ring.Range) []*Receiver {
	all := make([]*Receiver, len(ranges))
	follow := make([][]layout.Interval, len(ranges))
	for i, r := range ranges {
		rc := newReceiver(s)
		rc.ranges = []ring.Range{r}
		rc.within = layout.NewTokenIndex(layout.SpansOf(rc.ranges))
		all[i], follow[i] = rc, layout.UnionOf(rc.ranges)
	}
	s.followEach(all, follow)
	return all
}

func newReceiver(s *Store) *Receiver {
	u := s.NewUnit()
	u.peeking, u.following = true, true
	rc := &Receiver{s: s, u: u, begun: make(map[begunKey]uint64), within: layout.NewTokenIndex(nil)}
	u.mayCommit = rc.checkNotOver
	return rc
}

// SetRanges says where changes may lie from now on. What has been begun elsewhere, and
// not finished, is garbage.
func (rc *Receiver) SetRanges(ranges ...ring.Range) {
	rc.ranges, rc.within = slices.Clone(ranges), layout.NewTokenIndex(layout.SpansOf(ranges))
	rc.s.follow(rc, layout.UnionOf(ranges))
	for k, gen := range rc.begun {
		if rc.within.Find(rc.s.token([]byte(k.key))) < 0 {
			delete(rc.begun, k)
			rc.s.generations.Release(gen)
			rc.s.housekeeper.garbage.Add(1)
		}
	}
}

// Revoke takes the ranges from the receiver before its stream has ended, since this store has the
// say there now. Once Over returns, nothing of the stream is committed any more, and units that
// begin then are not refused for it. A batch that is under way may be refused. Any goroutine may
// call it, also beside the other methods, but no SetRanges may follow. Close is still needed.
func (rc *Receiver) Revoke() {
	rc.over.Store(true)
	// Commits that did not see this end before follow returns.
	rc.s.follow(rc, nil)
}

var errRevoked = errors.New("the store does not follow in these ranges any more")

// checkNotOver returns an error once the receiver is over. The caller holds Store.commits.
func (rc *Receiver) checkNotOver() error {
	if rc.over.Load() {
		return errRevoked
	}
	return nil
}

// Close ends the stream. What it has begun and not finished is garbage.
func (rc *Receiver) Close() { CloseReceivers([]*Receiver{rc}) }

// CloseReceivers ends streams into one store as [Receiver.Close] does, all at one moment.
func CloseReceivers(rcs []*Receiver) {
	if len(rcs) == 0 {
		return
	}
	s := rcs[0].s
	for _, rc := range rcs {
		for _, gen := range rc.begun {
			s.generations.Release(gen)
		}
		clear(rc.begun)
		s.housekeeper.garbage.Add(1)
	}
	s.followEach(rcs, nil)
	for _, rc := range rcs {
		rc.err = ErrClosed
	}
}

// fail ends the stream with an error.
func (rc *Receiver) fail(err error) error {
	err = fmt.Errorf("apply batch: %w", err)
	rc.err = err
	return err
}

// clearingOf checks an opClear and returns the range in which it is, and the places that
// it has a part in.
func (rc *Receiver) clearingOf(o *ops.Op) (r ring.Range, pieces []layout.Interval, err error) {
	from, to := Position(o.A), Position(o.B)
	r, ok := rc.rangeOf(from)
	if !ok || from.Check() != nil || to.Check() != nil || layout.ComparePositions(r, from, to) >= 0 {
		return r, nil, fmt.Errorf("%w: clearing", ErrBatch)
	}
	for _, st := range layout.PiecesOf(r) {
		if len(from) > 1 && layout.ComparePositions(r, layout.PositionOf(st.Last), from[:layout.PlaceSize]) < 0 ||
			len(to) > 1 && layout.ComparePositions(r, layout.PositionOf(st.First), to) >= 0 {
			continue
		}
		if len(from) > 1 && from.Place() >= st.First && from.Place() <= st.Last {
			st.First = from.Place()
		}
		if len(to) > 1 && to.Place() >= st.First && to.Place() <= st.Last {
			st.Last = to.Place()
			if len(to) == layout.PlaceSize && st.Last > st.First {
				st.Last--
			}
		}
		pieces = append(pieces, st)
	}
	if len(pieces) == 0 {
		return r, nil, fmt.Errorf("%w: clearing outside the range", ErrBatch)
	}
	return r, pieces, nil
}

// keysWithin returns about how many keys an interval holds, for none more than a slice at
// either end.
func (s *Store) keysWithin(st layout.Interval) (keys int64) {
	for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
		keys += s.counts.KeysOf(uint16(slice))
	}
	return keys
}

// applyOp does one operation in the unit.
func (rc *Receiver) applyOp(op *placedOp) error {
	u, p, o := rc.u, op.place, &op.Op
	switch o.Kind {
	case ops.Clear:
		return rc.clear(o)
	case ops.Stage:
		rc.abandon(o)
		return rc.begin(p, o)
	case ops.StageMore:
		if _, ok := rc.begun[begunKey{string(o.Key), o.Gen}]; !ok {
			return fmt.Errorf("%w: more of a value that was not begun", ErrGap)
		}
		return nil
	case ops.Abandon:
		rc.abandon(o)
		return nil
	case ops.PutSub:
		if o.Gen != 0 {
			return rc.setSub(p, o, rc.begun[begunKey{string(o.Key), o.Gen}])
		}
	}
	old, err := rc.load(p, o.Key)
	if err != nil {
		return err
	}
	switch o.Kind {
	case ops.Put, ops.PutNew, ops.PutStaged:
		return rc.put(p, o, &old)
	case ops.Remove:
		if old.Type != None {
			u.remove(p, o.Key, &old)
		}
	case ops.PutSub:
		if old.Gen == 0 {
			return fmt.Errorf("%w: an entry of a value that is not here", ErrGap)
		}
		return rc.setSub(p, o, old.Gen)
	case ops.RemoveSub:
		if old.Gen != 0 {
			_ = u.ensureBatch().Delete(rc.subKey(p, o.Key, old.Gen, o.A), nil)
			rc.changed(p, len(o.A))
		}
	case ops.RemoveSubs:
		if old.Gen != 0 {
			start := bytes.Clone(rc.subKey(p, o.Key, old.Gen, o.A))
			end := rc.subKey(p, o.Key, old.Gen, o.B)
			if len(o.B) == 0 {
				end = layout.PrefixEnd(end)
			}
			if bytes.Compare(start, end) < 0 {
				_ = u.ensureBatch().DeleteRange(start, end, nil)
				u.rangeTombstones++
			}
			if len(o.B) == 0 { // else nothing but items has lines there: see RemoveElements
				u.elements.AddForeign(pending.Change{Place: p, Key: u.copyBytes(rc.subKey(p, o.Key, old.Gen, nil))})
			}
		}
	}
	return nil
}

func (rc *Receiver) subKey(p Place, key []byte, gen uint64, sub []byte) []byte {
	rc.pbuf = layout.AppendDataPrefix(rc.pbuf[:0], p, key)
	rc.pbuf = binary.BigEndian.AppendUint64(rc.pbuf, gen)
	rc.pbuf = append(rc.pbuf, sub...)
	return rc.pbuf
}

func (rc *Receiver) setSub(p Place, o *ops.Op, gen uint64) error {
	if gen == 0 {
		return fmt.Errorf("%w: an entry of a value that was not begun", ErrGap)
	}
	_ = rc.u.ensureBatch().Set(rc.subKey(p, o.Key, gen, o.A), o.B, nil)
	rc.changed(p, len(o.A))
	return nil
}

// changed notes that the entry whose key is in rc.pbuf, of which so many bytes are the sub
// key, is not what the cache may say.
func (rc *Receiver) changed(p Place, sub int) {
	if cache.HasLine(rc.pbuf[len(rc.pbuf)-sub:]) {
		rc.u.elements.AddForeign(pending.Change{Place: p, Key: rc.u.copyBytes(rc.pbuf), Sub: sub})
	}
}

// begin begins a value that has no header yet.
func (rc *Receiver) begin(p Place, o *ops.Op) error {
	if len(rc.begun) >= maxBegun {
		return fmt.Errorf("%w: %d values are under construction", ErrBatch, len(rc.begun))
	}
	gen, err := rc.s.newGeneration()
	if err != nil {
		return err
	}
	rc.begun[begunKey{string(o.Key), o.Gen}] = gen
	rc.s.housekeeper.garbage.Add(1)
	return rc.u.ensureBatch().Set(garbageKey(nil, p, o.Key, gen), nil, nil)
}

// abandon gives up a value that has no header yet, if it was begun.
func (rc *Receiver) abandon(o *ops.Op) {
	k := begunKey{string(o.Key), o.Gen}
	if gen, ok := rc.begun[k]; ok {
		delete(rc.begun, k)
		rc.s.generations.Release(gen)
		rc.s.housekeeper.garbage.Add(1)
	}
}

// put makes a header the key's, under a generation of this store.
func (rc *Receiver) put(p Place, o *ops.Op, old *layout.Header) error {
	u := rc.u
	var h layout.Header
	_ = h.Parse(o.A) // prepare has
	switch {
	case h.Gen == 0:
	case o.Kind == ops.PutStaged:
		k := begunKey{string(o.Key), h.Gen}
		gen, ok := rc.begun[k]
		if !ok {
			return fmt.Errorf("%w: the header of a value that was not begun", ErrGap)
		}
		delete(rc.begun, k)
		u.long.staging = append(u.long.staging, stagedValue{place: p, key: o.Key, gen: gen, staged: true, adopted: true})
		_ = u.ensureBatch().Delete(garbageKey(nil, p, o.Key, gen), nil)
		h.Gen = gen
	case o.Kind == ops.Put && old.Gen != 0:
		h.Gen = old.Gen
	default:
		gen, err := rc.s.newGeneration()
		if err != nil {
			return err
		}
		u.long.staging = append(u.long.staging, stagedValue{place: p, key: o.Key, gen: gen})
		h.Gen = gen
	}
	u.put(p, o.Key, old, &h)
	return nil
}

// load returns the header of a key, expired or not.
func (rc *Receiver) load(p Place, key []byte) (layout.Header, error) {
	if len(rc.cleared) > 0 && rc.u.find(p, key) == nil {
		c := rc.cleared[len(rc.cleared)-1]
		rc.pbuf = layout.EntryPosition(rc.pbuf[:0], p, key, nil)
		at := Position(rc.pbuf)
		if layout.ComparePositions(c.r, at, c.from) >= 0 && layout.ComparePositions(c.r, at, c.to) < 0 && !bytes.HasPrefix(c.to, at) {
			return layout.Header{}, nil
		}
	}
	return rc.u.load(p, key)
}

// clear removes what lies between two positions.
func (rc *Receiver) clear(o *ops.Op) error {
	r, pieces, err := rc.clearingOf(o)
	if err != nil {
		return err
	}
	from, to := Position(o.A), Position(o.B)
	for _, st := range pieces {
		at := from
		if len(at) > 1 && !(at.Place() >= st.First && at.Place() <= st.Last) {
			at = nil
		}
		if err := rc.clearInterval(r, st, at, to); err != nil {
			return err
		}
	}
	rc.cleared = append(rc.cleared, clearing{r, from, to})
	return nil
}

func (rc *Receiver) clearInterval(r ring.Range, st layout.Interval, from, to Position) error {
	u := rc.u
	w, err := rc.s.walk(st, from)
	if err != nil {
		return err
	}
	spared, _ := to.Split()
	var pos Position
	for w.Next() {
		pos = w.AppendPosition(pos[:0])
		if layout.ComparePositions(r, pos, to) >= 0 {
			break
		}
		switch {
		case !w.IsHeader():
			_ = u.ensureBatch().Delete(w.Iter.Key(), nil)
			rc.pbuf = append(rc.pbuf[:0], w.Iter.Key()...)
			rc.changed(w.Place, len(w.Sub))
		case spared == nil || !bytes.Equal(w.Key, spared) || to.Place() != w.Place:
			u.remove(w.Place, bytes.Clone(w.Key), &w.Head)
			w.SkipKey()
		}
	}
	return w.Close()
}
