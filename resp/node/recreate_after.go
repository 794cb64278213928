package node

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// recreateEvery is how often the leader looks for ranges that are lost.
const recreateEvery = time.Second

// recreateLost creates ranges again, empty, that have had no copy for RecreateAfter, while this
// node leads. It is for caches, where a miss is no loss.
func (rc *recreation) recreateLost() {
	tick := time.NewTicker(recreateEvery)
	defer tick.Stop()
	var gone lostSince
	for round := 0; ; round++ {
		select {
		case <-tick.C:
		case <-rc.c.ctx.Done():
			return
		}
		st := rc.c.table.State()
		if _, self := rc.c.table.Leader(); !self || !st.Founded() {
			gone = nil
			continue
		}
		var rows []*table.Row
		rows, gone = gone.due(rc.lostRows(st), time.Now(), rc.c.n.cfg.RecreateAfter)
		if len(rows) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(rc.c.ctx, enterTimeout)
		rc.distributeLost(ctx, st, rows, round)
		cancel()
	}
}

// distributeLost gives rows to the nodes that are there, a part to each. One that has something
// of its part from earlier gets none of it, since that is not to be found again unasked;
// in the next round it has the part of another.
func (rc *recreation) distributeLost(ctx context.Context, st *table.State, rows []*table.Row, round int) {
	var takers []table.Node
	for _, n := range st.Nodes() {
		if n.Counts() && rc.c.alive(n.ID) {
			takers = append(takers, n)
		}
	}
	for i, taker := range takers {
		var part []*table.Row
		for j, row := range rows {
			if (j+round)%len(takers) == i {
				part = append(part, row)
			}
		}
		if len(part) == 0 {
			continue
		}
		empty, err := rc.emptyRows(ctx, taker.ID, part)
		if err == nil && len(empty) > 0 {
			err = rc.recreateRows(ctx, empty, taker)
		}
		switch {
		case err != nil:
			rc.c.n.cfg.Logger.Warn("creating ranges without a copy again failed, trying again", "node", taker.ID, "ranges", len(part), "err", err)
		case len(empty) > 0:
			rc.c.n.cfg.Logger.Warn("created ranges without a copy again, empty, because of --recreate-after", "node", taker.ID, "ranges", len(empty))
		case round%60 == 0:
			rc.c.n.cfg.Logger.Warn("ranges without a copy were not created again because a node still has old data of them: use RING RECREATE",
				"node", taker.ID, "ranges", len(part))
		}
	}
}

// emptyRows are the rows of which a node has nothing.
func (rc *recreation) emptyRows(ctx context.Context, node string, rows []*table.Row) (empty []*table.Row, err error) {
	q := &statusQuery{}
	for _, row := range rows {
		q.Loads = append(q.Loads, row.Range)
	}
	a, err := rc.c.status.queryStatus(ctx, node, q)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if a.Loads[i].Keys == 0 {
			empty = append(empty, row)
		}
	}
	return empty, nil
}

// lostSince are since when ranges have been lost.
type lostSince map[ring.Range]time.Time

// due returns the rows that have been lost for long enough, and the new record.
func (a lostSince) due(lost []*table.Row, now time.Time, after time.Duration) (rows []*table.Row, next lostSince) {
	next = make(lostSince, len(lost))
	for _, row := range lost {
		since, known := a[row.Range]
		if !known {
			since = now
		}
		next[row.Range] = since
		if now.Sub(since) >= after {
			rows = append(rows, row)
		}
	}
	return rows, next
}
