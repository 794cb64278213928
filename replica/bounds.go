package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// boundsLoop merges neighbouring rows with the same members that the strategy does not separate,
// such as the former ranges of a node that has left, and cuts rows where the strategy separates
// ranges with the same members, such as buckets. It waits until no handoff is planned, since a
// handoff may need the bound.
func (pl *planner) boundsLoop(ctx context.Context) {
	changes, cancel := pl.e.cfg.Table.Changes()
	defer cancel()
	looked := uint64(0) // index of the last state without bounds to change
	occupied := 0       // consecutive tries that left out some rows
	wait := 2 * pl.e.cfg.Settle
	// The first look needs no change: all may have changed before this node started.
	for again := true; ; {
		if !again {
			select {
			case <-changes:
			case <-ctx.Done():
				return
			}
		}
		again = false
		locks.Pause(ctx, wait)
		wait = 2 * pl.e.cfg.Settle // the leader plans first
		st := pl.e.cfg.Table.State()
		if ctx.Err() != nil || len(st.Handoffs()) > 0 || pl.e.resigning.Load() || st.Index() == looked || st.Cluster().Paused {
			continue
		}
		changed, err := pl.changeBounds(ctx, st)
		if !errors.Is(err, errOccupied) {
			occupied = 0
		}
		switch {
		case err == nil && changed:
			again = true
			wait = boundsPause // the leader has nothing to plan
		case err == nil:
			looked = st.Index()
		case errors.Is(err, errOccupied):
			locks.Pause(ctx, pl.e.cfg.Retry*time.Duration(min(maxBackoff(err), 1<<occupied)))
			occupied = min(occupied+1, 10)
			again = true
		case ctx.Err() == nil && !table.IsRefused(err):
			pl.e.cfg.Logger.Info("changing the bounds of ranges failed, trying again", "err", err)
			locks.Pause(ctx, pl.e.cfg.Retry)
			again = true // there may be no further change to wake this loop
		}
	}
}

// maxMerged is the number of rows merged or made in one entry, since clients wait meanwhile.
const maxMerged = 256

// boundsPause lets clients run between two changes of bounds.
const boundsPause = 20 * time.Millisecond

// changeBounds merges rows of this node, or cuts them if there are none to merge.
func (pl *planner) changeBounds(ctx context.Context, st *table.State) (changed bool, err error) {
	if !st.Founded() || len(st.MembersOf()) == 0 {
		return false, nil
	}
	if pl.desired == nil || pl.desiredFor != st.Basis() {
		desired, err := DesiredPlacement(st, pl.e.cfg.Strategy, st.MembersOf())
		if err != nil {
			return false, err
		}
		pl.desired, pl.desiredFor = desired, st.Basis()
	}
	if runs := pl.mergeableRuns(st, pl.desired); len(runs) > 0 {
		return true, pl.merge(ctx, runs)
	}
	if cuts := pl.cuts(st, pl.desired); len(cuts) > 0 {
		occupied, err := pl.e.split(ctx, cuts)
		if err == nil && len(occupied) > 0 {
			err = errOccupied
		}
		return true, err
	}
	return false, nil
}

// cuts returns where rows of this node, which have the members that they should have, are to be cut.
func (pl *planner) cuts(st *table.State, desired *ring.Placement) []cut {
	var all []cut
	rows := 0
	for row := range st.Rows() {
		if row.Primary != pl.e.cfg.Self || row.Op.Handoff != 0 || len(row.Learners) > 0 || rows >= maxMerged {
			continue
		}
		c := cut{row: row.Range}
		at, left := row.Range.Start, row.Range.Len()
		for {
			is := desired.Lookup(at)
			if is.Primary != row.Primary || !sameNodes(is.Backups, row.Backups) {
				c.at = nil
				break
			}
			n := is.Range.Len() - uint64(at-is.Range.Start)
			if n >= left {
				break
			}
			at, left = at+ring.Token(n), left-n
			c.at = append(c.at, at)
		}
		if len(c.at) > 0 {
			all = append(all, c)
			rows += len(c.at)
		}
	}
	return all
}

// mergeableRuns returns runs of rows of this node that can become one row each.
func (pl *planner) mergeableRuns(st *table.State, desired *ring.Placement) [][]*table.Row {
	var runs [][]*table.Row
	var before *table.Row
	for row := range st.Rows() {
		switch n := len(runs); {
		case row.Primary != pl.e.cfg.Self || row.Op.Handoff != 0 || len(row.Learners) > 0:
		case n > 0 && runs[n-1][len(runs[n-1])-1] == before && canMerge(before, row):
			runs[n-1] = append(runs[n-1], row)
		default:
			runs = append(runs, []*table.Row{row})
		}
		before = row
	}
	// The circle has no end: the last run may continue in the first.
	if n := len(runs); n > 1 {
		if last := runs[n-1]; last[len(last)-1] == before && canMerge(before, runs[0][0]) {
			runs[0] = append(last, runs[0]...)
			runs = runs[:n-1]
		}
	}
	runs = slices.DeleteFunc(runs, func(run []*table.Row) bool { return len(run) < 2 })
	var joined [][]*table.Row
	rows := 0
	for _, run := range runs {
		for from := 0; from < len(run); {
			to := from + 1
			for to < len(run) && desired.Lookup(run[to].Range.Start) == desired.Lookup(run[from].Range.Start) &&
				desired.Lookup(run[to].Range.Start).Range.Start != run[to].Range.Start {
				to++
			}
			if to-from > 1 && rows < maxMerged {
				joined = append(joined, run[from:to])
				rows += to - from
			}
			from = to
		}
	}
	return joined
}

// canMerge reports whether b begins where a ends and has the same members.
func canMerge(a, b *table.Row) bool {
	return a.Range.End == b.Range.Start && a.Primary == b.Primary && a.Lineage == b.Lineage && a.Incarnation == b.Incarnation &&
		sameNodes(a.Backups, b.Backups)
}

// sameNodes compares lists of distinct nodes in any order.
func sameNodes(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(node string) bool { return !slices.Contains(b, node) })
}

// merge has the table merge runs. Runs in which long units run are left out; then it returns
// errOccupied.
func (pl *planner) merge(ctx context.Context, runs [][]*table.Row) error {
	all := len(runs)
	for {
		err := pl.mergeRuns(ctx, runs)
		var o *occupiedError
		switch {
		case err == nil && len(runs) < all:
			return errOccupied
		case !errors.As(err, &o):
			return err
		}
		runs = slices.DeleteFunc(slices.Clone(runs), func(run []*table.Row) bool {
			return slices.ContainsFunc(run, func(row *table.Row) bool { return slices.Contains(o.ranges, row.Range) })
		})
		if len(runs) == 0 {
			return errOccupied
		}
	}
}

func (pl *planner) mergeRuns(ctx context.Context, runs [][]*table.Row) error {
	var held []ring.Range
	for _, run := range runs {
		for _, row := range run {
			held = append(held, row.Range)
		}
	}
	// A row that has changed since excludes its run; the next look finds the rest.
	whole := func(rows []*table.Row) (merge *table.Merge) {
		at := make(map[ring.Range]*table.Row, len(rows))
		for _, row := range rows {
			at[row.Range] = row
		}
		merge = new(table.Merge)
		for _, run := range runs {
			var refs []table.Ref
			for _, row := range run {
				if now := at[row.Range]; now != nil {
					refs = append(refs, now.Ref())
				}
			}
			if len(refs) == len(run) {
				merge.Runs = append(merge.Runs, table.Run{Rows: refs})
			}
		}
		return merge
	}
	d := pl.e.undoByRenewing(step.SplitStill, step.SplitDecided, held, func(rows []*table.Row) table.Command { return whole(rows) })
	look := d.rows
	d.rows = func() ([]*table.Row, error) {
		rows, err := look()
		if err == nil && len(rows) > 0 && len(whole(rows).Runs) == 0 {
			return rows, feed.ErrChanged
		}
		return rows, err
	}
	return pl.e.changeHeld(ctx, held, nil, d)
}
