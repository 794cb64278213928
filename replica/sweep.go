package replica

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// The sweeper drops data in ranges in which this node has no place.
type sweeper struct {
	e   *Engine
	now chan struct{} // wakes the loop
	// mu guards the fields below. While it is held, no copy begins to be received.
	mu           locks.ChanMutex
	unownedSince map[ring.Range]time.Time // by the last sweep
	empty        map[ring.Range]bool      // by the last sweep
	handedOff    map[ring.Range]bool      // handed over by this node and not swept since
	// undiscarded are ranges that must be discarded before anything is written there.
	undiscarded  []ring.Range
	discardTried time.Time // last attempt to discard them
}

func (f *sweeper) init(e *Engine) {
	f.e, f.now, f.mu = e, make(chan struct{}, 1), locks.NewChanMutex()
}

// sweepLoop drops data that this node need not keep: at once in ranges that it handed over,
// elsewhere after Config.Linger.
func (f *sweeper) sweepLoop(ctx context.Context) {
	changes, cancel := f.e.cfg.Table.Changes()
	defer cancel()
	for {
		wait, err := f.sweep(time.Now())
		if err != nil {
			f.e.cfg.Logger.Error("deleting ranges of other nodes failed", "err", err)
			locks.Pause(ctx, f.e.cfg.Retry)
			if ctx.Err() == nil {
				continue
			}
		}
		wake := time.NewTimer(wait)
		select {
		case <-changes:
			// Changes of the table often come in groups.
			locks.Pause(ctx, 20*time.Millisecond)
		case <-f.now:
		case <-wake.C:
		case <-ctx.Done():
			wake.Stop()
			return
		}
		wake.Stop()
	}
}

// sweepSoon starts a sweep.
func (f *sweeper) sweepSoon() {
	select {
	case f.now <- struct{}{}:
	default:
	}
}

// noteHandedOff records ranges that this node has handed over completely. It need not keep those in
// which it has no place.
func (f *sweeper) noteHandedOff(ranges []ring.Range) {
	f.mu.Lock()
	if f.handedOff == nil {
		f.handedOff = make(map[ring.Range]bool)
	}
	for _, r := range ranges {
		f.handedOff[r] = true
	}
	f.mu.Unlock()
	f.sweepSoon()
}

// sweepReceived sweeps ranges again after a copy to this node has ended.
func (f *sweeper) sweepReceived() {
	f.mu.Lock()
	clear(f.empty)
	f.mu.Unlock()
	f.sweepSoon()
}

// occupiedWait is the pause, in units of Config.Retry, before dropping ranges on which long units
// run is tried again.
const occupiedWait = 15

// sweepLatest bounds the time until the next sweep.
const sweepLatest = time.Hour

// sweep drops data once. wait is the time until there may be more to drop. No copy begins
// meanwhile, so decisions by the newest state hold until the end.
//
// States from before this start's registration are ignored: the node may have become the primary of
// ranges since.
func (f *sweeper) sweep(now time.Time) (wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait = sweepLatest
	st := f.e.cfg.Table.State()
	if n, ok := st.Node(f.e.cfg.Self); !ok || n.Incarnation != f.e.cfg.Incarnation {
		return wait, nil
	}
	if err := f.noteLineages(st); err != nil {
		return wait, err
	}
	since := make(map[ring.Range]time.Time)
	empty := make(map[ring.Range]bool)
	given := make(map[ring.Range]bool)
	var drop []ring.Range
	known := spans.New(slices.Collect(maps.Keys(f.unownedSince)))
	asked := make(map[string]bool)
	mayBeAway := func(node string) bool {
		away, known := asked[node]
		if !known {
			away = f.mayBeAway(node)
			asked[node] = away
		}
		return away
	}
	for row := range unownedRows(st, f.e.cfg.Self) {
		r := row.Range
		if copiesAway(st, row, mayBeAway) {
			// Kept for RING RECREATE FROM this node.
			since[r], given[r] = f.since(known, r, now), f.handedOff[r]
			wait = min(wait, max(f.e.cfg.Linger, time.Second))
			continue
		}
		if f.e.isCopying(r) {
			// The copy is about to end; then the range is swept again.
			if f.handedOff[r] {
				given[r] = true
			}
			continue
		}
		if f.empty[r] {
			empty[r] = true
			continue
		}
		at := f.since(known, r, now)
		if left := f.e.cfg.Linger - now.Sub(at); left > 0 && !f.handedOff[r] {
			since[r] = at
			wait = min(wait, left)
			continue
		}
		if f.e.cfg.Store.Load(r).Keys > 0 {
			drop = append(drop, r)
		}
		empty[r] = true
	}
	for _, r := range drop {
		if row, ok := st.Row(r.Start); ok && f.e.cfg.Lineages != nil {
			if _, err := f.e.cfg.Lineages.SetAside(r, row.Lineage); err != nil {
				return wait, err
			}
		}
	}
	kept, err := f.dropRanges(drop)
	if err != nil {
		return wait, err
	}
	for _, r := range kept {
		delete(empty, r)
		since[r], given[r] = f.since(known, r, now), f.handedOff[r]
		wait = min(wait, occupiedWait*f.e.cfg.Retry)
	}
	if len(drop) > len(kept) {
		f.e.reached(step.HandoffDropped)
	}
	f.unownedSince, f.empty, f.handedOff = since, empty, given
	return wait, nil
}

// dropRanges drops ranges and returns those that long units keep for now. It waits for no such
// unit, since no copy can begin meanwhile.
func (f *sweeper) dropRanges(ranges []ring.Range) (kept []ring.Range, err error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	if err := f.e.cfg.Store.Drop(spans.Join(ranges)...); !errors.Is(err, ErrOccupied) {
		return nil, err
	}
	for _, r := range ranges {
		err := f.e.cfg.Store.Drop(r)
		if errors.Is(err, ErrOccupied) {
			kept = append(kept, r)
		} else if err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// noteLineages records the lineages of the rows of which this node is a member. RING RECREATE has
// declared that the data here is the truth.
func (f *sweeper) noteLineages(st *table.State) error {
	if f.e.cfg.Lineages == nil {
		return nil
	}
	for row := range st.Rows() {
		if !row.Holds(f.e.cfg.Self) {
			continue
		}
		if err := f.e.cfg.Lineages.SetLineage(row.Range, row.Lineage); err != nil {
			return err
		}
	}
	return nil
}

// prepareLineage saves and drops data of other lineages, before a copy of the present one arrives.
func (f *sweeper) prepareLineage(ranges []ring.Range) error {
	st := f.e.cfg.Table.State()
	for _, r := range ranges {
		row, ok := st.Row(r.Start)
		if !ok || f.e.cfg.Lineages == nil {
			continue
		}
		old, err := f.e.cfg.Lineages.SetAside(r, row.Lineage)
		if err == nil && old {
			err = f.e.cfg.Store.Drop(r)
		}
		if err == nil {
			err = f.e.cfg.Lineages.SetLineage(r, row.Lineage)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allCopiesAway reports whether no member of a row is running, as far as this node knows.
func (f *sweeper) allCopiesAway(st *table.State, row *table.Row) bool {
	return copiesAway(st, row, f.mayBeAway)
}

func copiesAway(st *table.State, row *table.Row, away func(node string) bool) bool {
	return (st.Emptied(row) || away(row.Primary)) && !slices.ContainsFunc(row.Backups, func(b string) bool { return !away(b) })
}

// mayBeAway reports whether a node may not be running. Gossip is only a hint: a copy that may be
// the last is dropped only if the leader has granted that node a lease.
func (f *sweeper) mayBeAway(node string) bool {
	return f.e.cfg.Away(node) || f.e.cfg.Leases.Clock != nil && node != f.e.cfg.Self && !f.e.leaseHolders.has(node, time.Now())
}

// since returns since when a range has been unowned; after a change of bounds, by its oldest part. known
// are the ranges of the last sweep.
func (f *sweeper) since(known spans.Set, r ring.Range, now time.Time) time.Time {
	if at, ok := f.unownedSince[r]; ok {
		return at
	}
	for part := range known.Overlapping(r) {
		if at := f.unownedSince[part]; at.Before(now) {
			now = at
		}
	}
	return now
}

// isCopying reports whether this node is copying a part of a range to another one.
func (e *Engine) isCopying(r ring.Range) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.transfers {
		doing := t.copying.Load()
		if doing != nil && (&portion{ranges: *doing}).overlaps(r) {
			return true
		}
	}
	return false
}

// unownedRows iterates over the rows in which a node has no place and gets none by a known handoff.
func unownedRows(st *table.State, self string) iter.Seq[*table.Row] {
	var coming []spans.Set
	for _, h := range st.Handoffs() {
		if h.To == self {
			coming = append(coming, piecesOf(h))
		}
	}
	return func(yield func(*table.Row) bool) {
		for row := range st.Rows() {
			if row.Holds(self) || slices.Contains(row.Learners, self) ||
				slices.ContainsFunc(coming, func(s spans.Set) bool { return s.Overlap(row.Range) }) {
				continue
			}
			if !yield(row) {
				return
			}
		}
	}
}

// piecesOf returns the ranges that a handoff carries.
func piecesOf(h *table.Handoff) spans.Set {
	ranges := make([]ring.Range, len(h.Pieces))
	for i := range h.Pieces {
		ranges[i] = h.Pieces[i].Range
	}
	return spans.New(ranges)
}
