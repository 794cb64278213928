package replica

import (
	"context"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// clean drops what lies here and is not needed here by the table: what has been handed
// off, and what is left of copies that came to nothing.
func (e *Engine) clean(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	for {
		if err := e.sweep(); err != nil {
			e.cfg.Logger.Error("drop what lies elsewhere by now", "err", err)
			pause(ctx, e.cfg.Retry)
			if ctx.Err() == nil {
				continue
			}
		}
		select {
		case <-changes:
			// Several changes come together often.
			pause(ctx, 20*time.Millisecond)
		case <-e.kicked:
		case <-ctx.Done():
			return
		}
	}
}

// kick has what has been handed off dropped.
func (e *Engine) kick() {
	select {
	case e.kicked <- struct{}{}:
	default:
	}
}

// sweep drops once. Nothing begins to be received meanwhile: what is decided by the
// newest state holds until it is done.
//
// A state from before this node's start says nothing: what the node became the primary
// of since, it would throw away.
func (e *Engine) sweep() error {
	e.sweeping.Lock()
	defer e.sweeping.Unlock()
	st := e.cfg.Table.State()
	if n, ok := st.Node(e.cfg.Self); !ok || n.Incarnation != e.cfg.Incarnation {
		return nil
	}
	foreign := slices.DeleteFunc(merged(foreignRanges(st, e.cfg.Self)), e.given)
	var drop []ring.Range
	for _, r := range foreign {
		if !slices.Contains(e.swept, r) && e.cfg.Store.Load(r).Keys > 0 {
			drop = append(drop, r)
		}
	}
	if len(drop) > 0 {
		if err := e.cfg.Store.Drop(drop...); err != nil {
			return err
		}
	}
	e.swept = foreign
	return nil
}

// given tells whether a part of a range is being copied away by this node: its taps are
// about to end.
func (e *Engine) given(r ring.Range) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.transfers {
		doing := t.doing.Load()
		if doing != nil && (&portion{ranges: *doing}).touches(r) {
			return true
		}
	}
	return false
}

// foreignRanges are the ranges in which a node has no place, and gets none by a handoff
// as far as it is known.
func foreignRanges(st *table.State, self string) []ring.Range {
	var coming []*table.Handoff
	for _, h := range st.Handoffs() {
		if h.To == self {
			coming = append(coming, h)
		}
	}
	var foreign []ring.Range
	for row := range st.Rows() {
		if row.Holds(self) || slices.Contains(row.Learners, self) ||
			slices.ContainsFunc(coming, func(h *table.Handoff) bool { return overlaps(h, row.Range) }) {
			continue
		}
		foreign = append(foreign, row.Range)
	}
	return foreign
}

// overlaps tells whether a handoff carries a part of a range.
func overlaps(h *table.Handoff, r ring.Range) bool {
	if _, whole := h.Carries(r); whole {
		return true
	}
	return slices.ContainsFunc(h.Pieces, func(p ring.Piece) bool {
		return p.Range.Contains(r.Start) || r.Contains(p.Range.Start)
	})
}

// merged joins ranges, in the order of their starts, that follow one another.
func merged(rs []ring.Range) []ring.Range {
	var out []ring.Range
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].End == r.Start && out[n-1].Start != r.Start {
			out[n-1].End = r.End
			continue
		}
		out = append(out, r)
	}
	return out
}
