package node

import (
	"context"
	"fmt"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// recreate gives ranges, all of whose copies are away, to a node anew: to this one,
// empty, or to another one with what it has of them. It is the end of what the old
// copies hold: they count no more when they come back.
func (c *cluster) recreate(ctx context.Context, r ring.Range, from string) error {
	rows, err := c.rowsOf(r)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for holder := range row.Copies() {
			if c.alive(holder) {
				return fmt.Errorf("%v is at %s, which is alive", row.Range, holder)
			}
		}
	}
	st := c.table.State()
	taker, ok := st.Node(c.n.id)
	if from != "" {
		if taker, err = c.find(from); err != nil {
			return err
		}
		ok = true
	}
	switch {
	case !ok || !taker.Counts():
		return fmt.Errorf("%s takes no ranges: ask another node, or name one with FROM", taker.ID)
	case !c.alive(taker.ID):
		return fmt.Errorf("%s is not there", taker.ID)
	case from == "":
		if err := c.hasNothingOf(r); err != nil {
			return err
		}
	}
	again := &table.Recreate{Node: taker.ID, Incarnation: taker.Incarnation}
	for _, row := range rows {
		again.Rows = append(again.Rows, row.Ref())
	}
	return c.agree(ctx, again, func(st *table.State) bool {
		for _, row := range rows {
			if now, ok := st.Row(row.Range.Start); !ok || now.Lineage == row.Lineage {
				return false
			}
		}
		return true
	})
}

// hasNothingOf keeps an old copy from becoming the truth, or from being lost, unasked.
func (c *cluster) hasNothingOf(r ring.Range) error {
	load, err := c.n.store.RangeLoad(r)
	switch {
	case err != nil:
		return err
	case load.Keys > 0:
		return fmt.Errorf("this node has %d keys of %v from earlier: with FROM %s they are in it again; ask another node to make it anew without them",
			load.Keys, r, c.n.id)
	}
	return nil
}

// rowsOf are the ranges of the table that make up r; it must not cut any.
func (c *cluster) rowsOf(r ring.Range) ([]*table.Row, error) {
	st := c.table.State()
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
