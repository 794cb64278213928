package replica

import (
	"context"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// lead plans, while this node leads, whatever the strategy wants to be otherwise.
func (e *Engine) lead(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	for ctx.Err() == nil {
		if e.cfg.Table.Leads() {
			pause(ctx, e.cfg.Settle)
			if err := e.plan(ctx); err != nil && ctx.Err() == nil {
				e.cfg.Logger.Warn("plan the handoffs", "err", err)
				pause(ctx, e.cfg.Retry)
				continue
			}
		}
		select {
		case <-changes:
		case <-ctx.Done():
		}
	}
}

// plan has the table take up the handoffs that lead to the desired placement.
func (e *Engine) plan(ctx context.Context) error {
	st := e.cfg.Table.State()
	if !st.Founded() || len(st.MembersOf()) == 0 {
		return nil
	}
	handoffs, err := Desired(st, e.cfg.Strategy)
	if err != nil || sameHandoffs(handoffs, st.Handoffs()) {
		return err
	}
	err = e.cfg.Table.Apply(ctx, &table.Plan{Basis: st.Basis(), Handoffs: handoffs})
	if table.IsRefused(err) {
		return nil // the table has moved on, and with it comes another change
	}
	return err
}

// Foresee is the placement that the strategy would want of the state's if these were
// its members.
func Foresee(st *table.State, strategy ring.Strategy, members []ring.Member) (*ring.Placement, error) {
	return strategy.Desired(ring.Input{
		Members: members,
		Backups: 0, // copies beside the primary need acknowledgements, which are not here yet
		Present: st.Placement(),
	})
}

// Desired are the handoffs that turn the state's placement into the one that the
// strategy wants for its members.
func Desired(st *table.State, strategy ring.Strategy) ([]table.Handoff, error) {
	desired, err := Foresee(st, strategy, st.MembersOf())
	if err != nil {
		return nil, err
	}
	var handoffs []table.Handoff
	for _, h := range ring.NewPlan(st.Placement(), desired).Handoffs {
		handoff := table.Handoff{From: h.From, To: h.To, Pieces: h.Pieces}
		for _, known := range st.Handoffs() {
			if known.From == h.From && known.To == h.To {
				handoff.ID = known.ID
			}
		}
		handoffs = append(handoffs, handoff)
	}
	return handoffs, nil
}

func sameHandoffs(a []table.Handoff, b []*table.Handoff) bool {
	if len(a) != len(b) {
		return false
	}
	for _, h := range a {
		if !slices.ContainsFunc(b, func(o *table.Handoff) bool {
			return o.ID == h.ID && samePieces(o.Pieces, h.Pieces)
		}) {
			return false
		}
	}
	return true
}

// samePieces compares without regard to order.
func samePieces(a, b []ring.Piece) bool {
	if len(a) != len(b) {
		return false
	}
	for _, p := range a {
		if !slices.Contains(b, p) {
			return false
		}
	}
	return true
}
