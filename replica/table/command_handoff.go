package table

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Plan replaces the set of handoffs. One whose ID is that of a present handoff with
// the same From and To goes on with the pieces that it has now; one with ID 0 is new
// and is given an id; those that are not named are cancelled. No bounds and no copies
// change.
type Plan struct {
	// Basis is the [State.Basis] of the table that the plan was made from.
	Basis    uint64
	Handoffs []Handoff // Phase and Started do not matter
}

func (*Plan) kind() kind { return kindPlan }

func (p *Plan) code(c *codec) {
	c.number(&p.Basis)
	list(c, &p.Handoffs, 6, func(h *Handoff) { h.code(c) })
}

func (p *Plan) apply(d *draft) error {
	if p.Basis != d.basis {
		return refuse(ErrOldPlan, "%d, now it is %d", p.Basis, d.basis)
	}
	kept := make(map[uint64]*Handoff, len(p.Handoffs))
	var fresh []*Handoff
	for _, h := range p.Handoffs {
		if _, err := d.takes(&h); err != nil {
			return err
		}
		if _, err := d.present(h.From); err != nil {
			return err
		}
		if err := h.validate(); err != nil {
			return err
		}
		h.Phase, h.Started = Planned, 0
		if h.ID == 0 {
			d.lastHandoff++
			h.ID = d.lastHandoff
			fresh = append(fresh, &h)
			continue
		}
		was, ok := d.Handoff(h.ID)
		if !ok || was.From != h.From || was.To != h.To {
			return refuse(ErrHandoff, "%d from %s to %s", h.ID, h.From, h.To)
		}
		if kept[h.ID] != nil {
			return refuse(ErrInvalid, "handoff %d twice", h.ID)
		}
		h.Phase, h.Started = was.Phase, was.Started
		kept[h.ID] = &h
	}
	d.cancel(func(h *Handoff) bool { return kept[h.ID] == nil })
	for i, h := range d.handoffs {
		d.handoffs[i] = kept[h.ID]
	}
	d.handoffs = append(d.handoffs, fresh...) // whose ids are above all others
	d.refit(kept)
	d.replan()
	return nil
}

// takes is receiver for a handoff; who only gives copies up may also be leaving.
func (d *draft) takes(h *Handoff) (*Node, error) {
	if slices.ContainsFunc(h.Pieces, func(p ring.Piece) bool { return p.Release != h.To }) {
		return d.receiver(h.To, d.incarnation(h.To))
	}
	return d.present(h.To)
}

// refit ends operations that the new pieces of their handoff do not ask for, and
// tells the others which copy is released now.
func (d *draft) refit(kept map[uint64]*Handoff) {
	d.change(
		func(r *Row) bool {
			h := kept[r.Op.Handoff]
			if h == nil {
				return false
			}
			piece, ok := h.Carries(r.Range)
			return !ok || piece.Primary != r.Op.Primary || piece.Release != r.Op.Release
		},
		func(r *Row) {
			piece, ok := kept[r.Op.Handoff].Carries(r.Range)
			if !ok || piece.Primary != r.Op.Primary {
				r.cancel()
				return
			}
			r.Op.Release = piece.Release
			r.settle()
		})
}

func (d *draft) incarnation(id string) uint64 {
	n, _ := d.Node(id)
	return n.Incarnation
}

// SetPhase moves a handoff on. Done removes it, which needs that nothing of it is in
// progress on any row.
type SetPhase struct {
	Handoff  uint64
	From, To Phase
}

func (*SetPhase) kind() kind { return kindSetPhase }

func (s *SetPhase) code(c *codec) {
	c.number(&s.Handoff)
	small(c, &s.From, Done)
	small(c, &s.To, Done)
}

func (s *SetPhase) apply(d *draft) error {
	i, ok := placeOf(d.handoffs, s.Handoff)
	if !ok {
		return refuse(ErrHandoff, "%d", s.Handoff)
	}
	h := *d.handoffs[i]
	if h.Phase != s.From || s.To <= s.From || s.To > Done {
		return refuse(ErrPhase, "handoff %d is %v; from %v to %v", h.ID, h.Phase, s.From, s.To)
	}
	if s.To == Done {
		for row := range d.rows.all() {
			if row.Op.Handoff == h.ID {
				return refuse(ErrBusy, "handoff %d has %v still %v", h.ID, row.Range, row.Op.Phase)
			}
		}
		d.handoffs = slices.Delete(d.handoffs, i, i+1)
		d.replan()
		return nil
	}
	if h.Phase == Planned {
		h.Started = d.index
	}
	h.Phase = s.To
	d.handoffs[i] = &h
	return nil
}

// CancelHandoff removes a handoff. Its learners are dropped; copies that are complete
// stay until a plan gives them up.
type CancelHandoff struct {
	Handoff uint64
}

func (*CancelHandoff) kind() kind { return kindCancelHandoff }

func (h *CancelHandoff) code(c *codec) { c.number(&h.Handoff) }

func (h *CancelHandoff) apply(d *draft) error {
	if _, ok := d.Handoff(h.Handoff); !ok {
		return refuse(ErrHandoff, "%d", h.Handoff)
	}
	d.cancel(func(o *Handoff) bool { return o.ID == h.Handoff })
	return nil
}

// carried finds what a handoff says about a row.
func (d *draft) carried(id uint64, to string, r ring.Range) (ring.Piece, error) {
	h, ok := d.Handoff(id)
	if !ok || h.To != to {
		return ring.Piece{}, refuse(ErrHandoff, "%d to %s", id, to)
	}
	piece, ok := h.Carries(r)
	if !ok || piece.Release == to {
		return ring.Piece{}, refuse(ErrHandoff, "%d does not carry %v", id, r)
	}
	return piece, nil
}
