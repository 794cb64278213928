package replica

import (
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// discardAgain is the pause before a failed discard is tried again.
const discardAgain = 5 * time.Second

var errMayBeNeeded = errors.New("other nodes may need the readable part, or it is being copied")

// discard removes all data in ranges in whose sets this node is not. No copy to this node begins
// meanwhile, and changes of earlier primaries are no longer accepted.
func (f *sweeper) discard(ranges []ring.Range) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.e.cfg.Table.State()
	ranges = slices.Clone(ranges)
	for _, r := range f.undiscarded {
		if !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	if len(ranges) == 0 {
		return nil
	}
	ranges = slices.DeleteFunc(ranges, func(r ring.Range) bool { return !f.canDiscard(st, r) })
	if len(ranges) == 0 {
		return errMayBeNeeded
	}
	if time.Since(f.discardTried) < discardAgain && !slices.ContainsFunc(ranges, func(r ring.Range) bool { return !slices.Contains(f.undiscarded, r) }) {
		return scrub.ErrRetrySoon
	}
	f.e.feed.Update()
	f.e.feed.LeaveRanges(ranges)
	err := f.e.cfg.Store.Discard(ranges...)
	if err != nil {
		// No data may arrive there before the discard has succeeded. Ranges beside it may have to
		// be discarded, too.
		f.undiscarded, f.discardTried = ranges, time.Now()
		return err
	}
	f.undiscarded = nil
	f.e.scrub.NoteDiscarded(ranges)
	f.e.cfg.Logger.Warn("deleted damaged ranges", "ranges", ranges)
	return nil
}

// canDiscard reports whether no node needs this node's data in a range. sweeper.mu is held.
func (f *sweeper) canDiscard(st *table.State, r ring.Range) bool {
	for row := range spans.Rows(st, r) {
		if row.Holds(f.e.cfg.Self) || f.allCopiesAway(st, row) {
			return false
		}
		if f.e.cfg.Lineages == nil {
			continue
		}
		// Data of another lineage is saved first, as far as it can be read.
		if _, err := f.e.cfg.Lineages.SetAside(row.Range, row.Lineage); err != nil {
			f.e.cfg.Logger.Warn("saving an old copy of a range failed: its data is damaged", "range", row.Range, "err", err)
			return false
		}
	}
	return !f.e.isCopying(r) && !f.e.received.isReceiving(r)
}
