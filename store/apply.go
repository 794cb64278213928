package store

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

const (
	// manyKeys is how many keys a clearing may remove one by one.
	manyKeys = 4096
	// A unit of several batches has about as many operations, and bytes of batches, at
	// most. It holds their latches, which other ranges of the store share, and more than
	// this makes an operation no cheaper.
	unitOps   = 256
	unitBytes = 256 << 10
)

// Apply makes a batch's changes visible, all or none, with all that a unit's commit
// brings up to date. As with [Unit.Commit], w is told when they are as durable as the
// fsync mode demands, if wait is true.
//
// With an error nothing was changed, but for what a batch removes from a whole interval of
// tokens. The stream is at its end then: ErrGap if it does not follow what is here,
// ErrBatch if it is malformed, ErrReadOnly if nothing can be written.
func (rc *Receiver) Apply(batch []byte, w Waiter) (wait bool, err error) {
	return rc.applyAll([][]byte{batch}, w)
}

// ApplyAll is Apply for batches that follow one another: many go into one unit. With an
// error, those before some one have been applied.
//
// Where that takes no fsync, they are made durable here, and w is told before ApplyAll
// returns, as are others who wait for the same: so the caller holds nothing that they
// may need. An fsync takes long enough for the next batches to be applied meanwhile.
func (rc *Receiver) ApplyAll(batches [][]byte, w Waiter) (wait bool, err error) {
	if w == nil || rc.s.cfg.Fsync == FsyncAlways {
		return rc.applyAll(batches, w)
	}
	rc.u.syncsItself = true
	wait, err = rc.applyAll(batches, w)
	rc.u.syncsItself = false
	if err != nil {
		rc.s.syncs.Wake()
		return false, err
	}
	rc.s.syncs.SyncNow()
	return wait, nil
}

func (rc *Receiver) applyAll(batches [][]byte, w Waiter) (wait bool, err error) {
	if rc.err != nil {
		return false, rc.err
	}
	rc.after = 0
	for len(batches) > 0 {
		g, err := rc.nextGroup(batches)
		if err == nil {
			batches = batches[g.batches:]
			var last Waiter
			if len(batches) == 0 {
				last = w
			}
			wait, err = rc.applyGroup(&g, last)
		}
		if err != nil {
			return false, rc.fail(err)
		}
	}
	return wait, nil
}

// A batchGroup is batches that make one unit.
type batchGroup struct {
	batches int
	copying bool
	// alone: the batch is a unit by itself; then drops is what goes before the rest.
	alone bool
	drops []layout.Interval
}

// nextGroup checks batches and notes what they do, and in the unit which latches that needs:
// as many as make one unit.
func (rc *Receiver) nextGroup(batches [][]byte) (g batchGroup, err error) {
	rc.u.latched = rc.u.latched[:0]
	rc.cleared = rc.cleared[:0]
	rc.ops = rc.ops[:0]
	size := 0
	for _, batch := range batches {
		if size += len(batch); g.batches > 0 && (size > unitBytes || len(rc.ops) > unitOps) {
			break
		}
		before, latched := len(rc.ops), len(rc.u.latched)
		next, err := rc.addBatch(batch)
		if err != nil {
			return g, err
		}
		if g.batches > 0 && (next.alone || next.copying != g.copying) {
			rc.ops, rc.u.latched = rc.ops[:before], rc.u.latched[:latched]
			break
		}
		next.batches += g.batches
		if g = next; g.alone {
			break
		}
	}
	return g, nil
}

// addBatch checks a batch, and adds what it does to the unit that is to come.
func (rc *Receiver) addBatch(batch []byte) (g batchGroup, err error) {
	g.batches = 1
	u := rc.u
	more, dropping := false, false
	flags, err := ops.Each(batch, func(o *ops.Op) error {
		op := placedOp{Op: *o}
		switch o.Kind {
		case ops.Drop:
			g.alone, dropping = true, true
			for _, st := range layout.PiecesOf(o.Tokens) {
				if i := rc.within.Find(st.First.Token()); i < 0 || rc.within.Spans[i].Last < st.Last.Token() {
					return fmt.Errorf("%w: it drops %v", ErrBatch, o.Tokens)
				}
				g.drops = append(g.drops, st)
			}
			return nil
		case ops.Clear:
			g.alone, more = true, true
			_, pieces, err := rc.clearingOf(o)
			for _, st := range pieces {
				if whole, ok := st.Inside(o.A, o.B); ok && rc.s.keysWithin(whole) > manyKeys {
					g.drops = append(g.drops, whole)
				}
				u.latched = latch.AppendOf(u.latched, st)
			}
			rc.ops = append(rc.ops, op)
			return err
		case ops.Put, ops.PutNew, ops.PutStaged:
			var h layout.Header
			if err := h.Parse(o.A); err != nil || h.Gen == 0 && (o.Kind != ops.Put || len(h.Value) > pieceSize) {
				return fmt.Errorf("%w: header", ErrBatch)
			}
		case ops.PutSub, ops.RemoveSub:
			if len(o.A) == 0 {
				return fmt.Errorf("%w: empty sub key", ErrBatch)
			}
		}
		more = true
		op.place = PlaceOf(rc.s.token, o.Key)
		if rc.within.Find(op.place.Token()) < 0 {
			return fmt.Errorf("%w: it has a key outside the range", ErrBatch)
		}
		if n := latch.Of(op.place); len(u.latched) == 0 || u.latched[len(u.latched)-1] != n {
			u.latched = append(u.latched, n)
		}
		rc.ops = append(rc.ops, op)
		return nil
	})
	g.copying = flags&ops.Copied != 0
	if err == nil && dropping && more {
		err = fmt.Errorf("%w: a range is dropped among other things", ErrBatch)
	}
	return g, err
}

// applyGroup does what group has noted.
func (rc *Receiver) applyGroup(g *batchGroup, w Waiter) (wait bool, err error) {
	u := rc.u
	if len(g.drops) > 0 {
		if err := rc.s.dropper.drop(layout.Union(g.drops), dropOptions{follows: true, may: func(*Held) error { return rc.checkNotOver() }}, nil); err != nil {
			return false, err
		}
	}
	u.copying = g.copying
	u.begin(beforeAll)
	// The primary decides what is written as long as there is room at all. A copy is only
	// begun, and gone on with, where there is more than the reserve.
	u.frees = !g.copying
	for i := range rc.ops {
		if err := rc.applyOp(&rc.ops[i]); err != nil {
			u.Abort()
			return false, err
		}
	}
	if len(g.drops) > 0 && u.batch == nil {
		rc.after = max(rc.after, rc.s.latches[latch.Of(g.drops[0].First)].LastCommit())
	}
	u.after = max(u.after, rc.after)
	if wait, err = u.Commit(w); err == nil {
		rc.after = u.after
	}
	return wait, err
}

// rangeOf returns the receiver's range that a position lies in.
func (rc *Receiver) rangeOf(at Position) (r ring.Range, ok bool) {
	if len(rc.ranges) == 1 {
		return rc.ranges[0], true
	}
	for _, r := range rc.ranges {
		if len(at) >= layout.PlaceSize && r.Contains(at.Place().Token()) {
			return r, true
		}
	}
	return r, false
}
