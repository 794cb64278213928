package table

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/ring"
)

// A Phase says how far a handoff, or its part of one row, is. Phases only rise.
type Phase uint8

// Phases.
const (
	Planned Phase = iota // nothing has been done; rows are not in this phase
	Copying              // the receiver is a learner
	InSync               // the receiver is an in-sync backup
	Serving              // the receiver is the primary: there is no way back
	Done                 // to be removed; never stored
)

// String returns the phase as reports have it.
func (p Phase) String() string {
	if p > Done {
		return "unknown"
	}
	return [...]string{"planned", "copying", "in sync", "serving", "done"}[p]
}

// A Handoff is what one node, as the primary, has to do about another's copies, as it is
// stored: to make them, to make their holder the primary, or, where a piece releases the
// node that it goes to, to end them. It must not be changed.
type Handoff struct {
	ID       uint64
	From, To string
	// Pieces do not overlap and are ordered by their starts. Rows are cut at their
	// bounds when the handoff gets to them.
	Pieces []ring.Piece
	Phase  Phase
	// Started is the table index at which the handoff left Planned; 0 before.
	Started uint64
}

// Carries returns the piece that a range lies in as a whole.
func (h *Handoff) Carries(r ring.Range) (ring.Piece, bool) {
	n := len(h.Pieces)
	if n == 0 {
		return ring.Piece{}, false
	}
	i := sort.Search(n, func(i int) bool { return h.Pieces[i].Range.Start > r.Start }) - 1
	if i < 0 {
		i = n - 1 // the last may wrap
	}
	p := h.Pieces[i]
	return p, within(r, p.Range)
}

// within reports whether a range lies in another as a whole.
func within(in, out ring.Range) bool {
	return uint64(in.Start-out.Start)+in.Len() <= out.Len()
}

// validate also brings the pieces into their order.
func (h *Handoff) validate() error {
	switch {
	case h.From == h.To:
		return refuse(ErrInvalid, "a handoff from %s to itself", h.From)
	case len(h.Pieces) == 0:
		return refuse(ErrInvalid, "a handoff from %s to %s of nothing", h.From, h.To)
	}
	byStart := func(a, b ring.Piece) int { return cmp.Compare(a.Range.Start, b.Range.Start) }
	if !slices.IsSortedFunc(h.Pieces, byStart) {
		h.Pieces = slices.SortedFunc(slices.Values(h.Pieces), byStart)
	}
	for i, p := range h.Pieces {
		next := h.Pieces[(i+1)%len(h.Pieces)].Range.Start
		gap := uint64(next - p.Range.Start)
		if gap == 0 && len(h.Pieces) == 1 {
			gap = 1 << 32
		}
		if p.Range.Len() > gap {
			return refuse(ErrInvalid, "a handoff from %s to %s has %v twice", h.From, h.To, p.Range)
		}
		if p.Release == h.To && p.Primary {
			return refuse(ErrInvalid, "a handoff makes %s a primary and releases it", h.To)
		}
	}
	return nil
}

func (h *Handoff) code(c *codec) {
	c.number(&h.ID)
	c.text(&h.From)
	c.text(&h.To)
	list(c, &h.Pieces, 10, func(p *ring.Piece) {
		c.span(&p.Range)
		c.flag(&p.Primary)
		c.text(&p.Release)
	})
	small(c, &h.Phase, Serving)
	c.number(&h.Started)
}
