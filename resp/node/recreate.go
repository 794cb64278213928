package node

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// recreation replaces ranges of which no copy is left.
type recreation struct{ c *cluster }

// recreate gives ranges without a running copy to a node: to this one, empty, or to another one
// with the data that it has of them. The old copies no longer count when they return. Without
// ranges it recreates all that have no copy.
func (rc *recreation) recreate(ctx context.Context, ranges []ring.Range, from string) error {
	rows, err := rc.toRecreate(ranges)
	if err != nil {
		return err
	}
	st := rc.c.table.State()
	taker, ok := st.Node(rc.c.n.id)
	if from != "" {
		if taker, err = rc.c.findNode(from); err != nil {
			return err
		}
		ok = true
	}
	switch {
	case !ok || !taker.Counts():
		return fmt.Errorf("%s holds no ranges: send the command to another node, or name one with FROM", taker.ID)
	case !rc.c.alive(taker.ID):
		return fmt.Errorf("%s is not there", taker.ID)
	}
	keys, err := rc.keysAt(ctx, taker.ID, rows)
	switch {
	case err != nil:
		return fmt.Errorf("asking %s for its data failed: %w", taker.ID, err)
	case from == "" && keys > 0:
		return fmt.Errorf("this node has %d keys of %s from earlier: add FROM %s to keep them, or send RING RECREATE to another node to create the range without them",
			keys, describeRows(rows), rc.c.n.id)
	case from != "" && keys == 0:
		return fmt.Errorf("%s has no data of %s: leave FROM out to create it empty", taker.ID, describeRows(rows))
	}
	if err := rc.recreateRows(ctx, rows, taker); err != nil {
		return err
	}
	rc.c.n.cfg.Logger.Warn("created ranges again: older copies of them no longer count", "ranges", describeRows(rows), "node", taker.ID, "keys", keys)
	return nil
}

// toRecreate are the rows of an order, which are all lost.
func (rc *recreation) toRecreate(ranges []ring.Range) ([]*table.Row, error) {
	st := rc.c.table.State()
	var rows []*table.Row
	for _, r := range ranges {
		some, err := rowsOf(st, r)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	for _, row := range rows {
		for holder := range copyHolders(st, row) {
			if rc.c.alive(holder) {
				return nil, fmt.Errorf("%v is at %s, which is alive", row.Range, holder)
			}
		}
	}
	if len(ranges) > 0 {
		return rows, nil
	}
	if rows = rc.lostRows(st); len(rows) == 0 {
		return nil, errors.New("no range is known to have lost all of its copies: a failed node counts as away after some seconds")
	}
	return rows, nil
}

// copyHolders are the members of a row that have it.
func copyHolders(st *table.State, row *table.Row) iter.Seq[string] {
	return func(yield func(string) bool) {
		for node := range row.Copies() {
			if node == row.Primary && st.Emptied(row) || slices.Contains(row.Learners, node) {
				continue
			}
			if !yield(node) {
				return
			}
		}
	}
}

// lostRows are the rows of which no copy is there.
func (rc *recreation) lostRows(st *table.State) []*table.Row {
	alive := members.AliveNodes(rc.c.members.Nodes())
	var rows []*table.Row
	for row := range st.Rows() {
		there := false
		for node := range copyHolders(st, row) {
			there = there || alive[node]
		}
		if !there {
			rows = append(rows, row)
		}
	}
	return rows
}

// recreateRows has the leader decide that rows are created again, once no node can still be answering
// for them.
func (rc *recreation) recreateRows(ctx context.Context, rows []*table.Row, taker table.Node) error {
	st := rc.c.table.State()
	var holders []string
	again := &table.Recreate{Node: taker.ID, Incarnation: taker.Incarnation}
	for _, row := range rows {
		again.Rows = append(again.Rows, row.Ref())
		for holder := range copyHolders(st, row) {
			if !slices.Contains(holders, holder) {
				holders = append(holders, holder)
			}
		}
	}
	return outcome(ctx, rc.c, rc.c.engine.Recreate(ctx, holders, again), func(st *table.State) bool {
		for _, row := range rows {
			if now, ok := st.Row(row.Range.Start); !ok || now.Lineage == row.Lineage {
				return false
			}
		}
		return true
	})
}

// keysAt returns the number of keys that a node has in rows, whichever node serves them.
func (rc *recreation) keysAt(ctx context.Context, node string, rows []*table.Row) (keys int64, err error) {
	q := &statusQuery{}
	for _, row := range rows {
		q.Loads = append(q.Loads, row.Range)
	}
	a, err := rc.c.status.queryStatus(ctx, node, q)
	for _, load := range a.Loads {
		keys += load.Keys
	}
	return keys, err
}

// describeRows is a row, or how many.
func describeRows(rows []*table.Row) string {
	if len(rows) == 1 {
		return rows[0].Range.String()
	}
	return fmt.Sprintf("%d ranges", len(rows))
}

// rowsOf are the ranges of the table that make up r; it must not cut any.
func rowsOf(st *table.State, r ring.Range) ([]*table.Row, error) {
	var rows []*table.Row
	for at, left := r.Start, r.Len(); left > 0; {
		row, ok := st.Row(at)
		if !ok || row.Range.Start != at || row.Range.Len() > left {
			return nil, fmt.Errorf("%v is not made up of whole ranges: there is %v, see RING PLACEMENT TEXT", r, row.Range)
		}
		rows = append(rows, row)
		at, left = row.Range.End, left-row.Range.Len()
	}
	return rows, nil
}
