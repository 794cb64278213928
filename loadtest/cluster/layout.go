package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring"
)

// charted is whose placement was charted last.
type charted struct {
	node, runID string
	term        string // rises with the placement's changes
}

// chart adds a layout if the placement has changed, as the first of some nodes has it.
func (w *Watch) chart(ctx context.Context, up []*watched) {
	n := up[0]
	now := charted{n.ID, n.figures["run_id"], n.figures["term"]}
	if now == w.charted {
		return
	}
	p, err := readPlacement(n.line.do(ctx, "RING", "PLACEMENT"))
	if err != nil {
		n.hangUp()
		return
	}
	w.charted = now
	l := layout(p, n.figures["strategy"] == node.StrategyBuckets, &w.order)
	l.AtMS = milliseconds(time.Since(w.cfg.Began))
	w.mu.Lock()
	defer w.mu.Unlock()
	if last := len(w.layouts) - 1; last < 0 || !same(&w.layouts[last], &l) {
		w.layouts = append(w.layouts, l)
	}
}

// same reports whether two layouts look the same. Nodes keep their places.
func same(a, b *result.Layout) bool {
	return slices.Equal(a.Primary, b.Primary) && slices.Equal(a.Backup, b.Backup)
}

// circleCells is how many cells the circle has where there are no buckets.
const circleCells = 1024

// layout charts a placement: bucket by bucket, in the order of their tokens, or the circle in
// equal pieces. Nodes are named by their places in order, at the end of which new ones are
// added.
func layout(p *ring.Placement, buckets bool, order *[]string) result.Layout {
	cells := circleCells
	if buckets {
		cells = p.Len()
	}
	l := result.Layout{Primary: make([]int, cells), Backup: make([]int, cells)}
	place := func(id string) int {
		if id == "" {
			return -1
		}
		at := slices.Index(*order, id)
		if at < 0 {
			at = len(*order)
			*order = append(*order, id)
		}
		return at
	}
	for i := range cells {
		row := p.Row(min(i, p.Len()-1))
		if !buckets {
			row = p.Lookup(ring.Token(uint64(2*i+1) << 32 / (2 * circleCells)))
		}
		l.Primary[i], l.Backup[i] = place(row.Primary), -1
		if len(row.Backups) > 0 {
			l.Backup[i] = place(row.Backups[0])
		}
	}
	l.Nodes = slices.Clone(*order)
	return l
}
