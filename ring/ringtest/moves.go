package ringtest

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func (s Suite) joins(_ *testing.T, h *history) {
	h.join(1)
	h.settle()
	for range s.steps(20) {
		old := h.members
		joiners := h.join(1)
		h.checkMoves(old, h.settle(), joiners, nil)
	}
}

func (s Suite) leaves(_ *testing.T, h *history) {
	h.join(s.steps(20))
	h.settle()
	for len(h.members) > 1 {
		old := h.members
		leavers := h.leave(1)
		h.checkMoves(old, h.settle(), nil, leavers)
	}
}

func (s Suite) changes(_ *testing.T, h *history) {
	h.join(10)
	h.settle()
	for range s.steps(10) {
		old := h.members
		leavers := h.leave(h.rnd.IntN(6))
		joiners := h.join(h.rnd.IntN(6))
		before := h.settle()
		if s.Promotes {
			continue // balance over several changes may need more: buckets tests how much
		}
		h.checkMoves(old, before, joiners, leavers)
	}
}

// checkMoves holds a change of members to what consistent hashing promises: joiners
// receive, and others only what leavers had.
func (h *history) checkMoves(old []ring.Member, before *ring.Placement, joiners, leavers map[string]bool) {
	h.t.Helper()
	if h.suite.Reshuffles != nil && h.suite.Reshuffles(old, h.members) {
		return
	}
	// With more nodes there may be more copies, which go where they are missing.
	wanted := h.input().Copies()
	for r, rows := range ring.Overlay(before, h.present) {
		was, is := rows[0], rows[1]
		missing := wanted
		for node := range was.Copies() {
			if !leavers[node] {
				missing--
			}
		}
		for node := range is.Copies() {
			if was.Holds(node) || joiners[node] {
				continue
			}
			if missing--; missing < 0 {
				h.t.Fatalf("%v: %s receives a copy without need: %+v, %+v", r, node, was, is)
			}
		}
		if is.Primary != was.Primary && !joiners[is.Primary] && !leavers[was.Primary] && !h.suite.Promotes {
			h.t.Fatalf("%v: from %s to %s, both stay", r, was.Primary, is.Primary)
		}
	}
}

func (s Suite) crashes(t *testing.T, h *history) {
	h.join(12)
	h.settle()
	for range s.steps(4) {
		old := h.members
		var failed []string
		for id := range h.leave(max(1, h.backups)) {
			failed = append(failed, id)
		}
		whole := h.present
		h.present = whole.Without(failed...)
		for row := range h.present.Rows() {
			was := whole.Lookup(row.Range.Start)
			if row.Primary != "" && !was.Holds(row.Primary) || row.Primary == "" && len(failed) <= h.backups {
				t.Fatalf("%v: %q takes over from %+v", row.Range, row.Primary, was)
			}
		}
		before := h.settle()
		for r, rows := range ring.Overlay(before, h.present) {
			was, is := rows[0], rows[1]
			if was.Primary != "" && was.Primary != is.Primary && !was.Holds(is.Primary) && !s.Promotes &&
				(s.Reshuffles == nil || !s.Reshuffles(old, h.members)) {
				t.Fatalf("%v: from %s to %s, which has no copy", r, was.Primary, is.Primary)
			}
		}
		h.join(1)
		h.settle()
	}
}

// balance compares what each member serves with its share, by tokens, which is what
// keys come to when there are many.
func (s Suite) balance(t *testing.T, h *history) {
	for _, n := range []int{3, 7, 20, 50} {
		h.members, h.present = nil, nil
		h.join(n)
		h.settle()
		serves := make(map[string]float64)
		for row := range h.present.Rows() {
			serves[row.Primary] += float64(row.Range.Len()) / (1 << 32)
		}
		weights := 0.0
		for _, m := range h.members {
			weights += m.Weight
		}
		for _, m := range h.members {
			if ratio := serves[m.ID] / (m.Weight / weights); ratio > s.MaxToMean(n) {
				t.Errorf("%d nodes: %s with weight %.2f serves %.2f times its share", n, m.ID, m.Weight, ratio)
			}
		}
	}
}
