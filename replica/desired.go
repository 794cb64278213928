package replica

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// An Absence names the nodes that are away. The value is false if a node may return in a moment,
// true if it has been away for so long that other nodes get its copies. nil is the absence of no
// node.
type Absence map[string]bool

func (a Absence) has(node string) bool {
	_, away := a[node]
	return away
}

// mayReturn reports whether an absent member may return in a moment.
func (a Absence) mayReturn(members []ring.Member) bool {
	return slices.ContainsFunc(members, func(m ring.Member) bool {
		long, away := a[m.ID]
		return away && !long
	})
}

// awayAfter is how long a node without a lease counts as present: a little longer than a lease
// lasts.
const awayAfter = 3 * time.Second

// absent returns the nodes that are away, on the leader.
func (pl *planner) absent() Absence {
	if pl.e.cfg.Absent != nil {
		return pl.e.cfg.Absent()
	}
	var away Absence
	for _, m := range pl.e.cfg.Table.State().MembersOf() {
		if silent, ok := pl.e.LeaseSilence(m.ID); ok && silent > awayAfter && m.ID != pl.e.cfg.Self {
			if away == nil {
				away = make(Absence)
			}
			away[m.ID] = silent > pl.e.cfg.Rereplicate
		}
	}
	return away
}

// DesiredPlacement returns the placement that the strategy wants for members, given the present one
// of st.
func DesiredPlacement(st *table.State, strategy ring.Strategy, members []ring.Member) (*ring.Placement, error) {
	return strategy.Desired(ring.Input{
		Members: members,
		Backups: st.Cluster().Backups,
		Present: st.Placement(), Overrides: st.LoadBalance().Overrides,
	})
}

// DesiredHandoffs returns the handoffs that lead from the placement of st to the desired one. They
// may be incomplete: steps that depend on others are left out.
//
// While a node is away that may return, no new handoff begins; present ones continue. Once it has
// been away for long, other nodes get its copies as far as there are nodes to send them.
func DesiredHandoffs(st *table.State, strategy ring.Strategy, away Absence) ([]table.Handoff, error) {
	members := st.MembersOf()
	if away.mayReturn(members) {
		return presentHandoffs(st), nil
	}
	members = slices.DeleteFunc(members, func(m ring.Member) bool { return away.has(m.ID) })
	if len(members) == 0 {
		return presentHandoffs(st), nil
	}
	desired, err := DesiredPlacement(st, strategy, members)
	if err != nil {
		return nil, err
	}
	w := handoffPlan{st: st, away: away, index: make(map[nodePair]int)}
	for r, rows := range ring.Overlay(st.Placement(), desired) {
		w.piece(r, rows[0], rows[1])
	}
	for i := range w.handoffs {
		w.handoffs[i].Pieces = joinEnds(w.handoffs[i].Pieces)
	}
	return w.handoffs, nil
}

// joinEnds joins pieces that were only cut at token 0.
func joinEnds(pieces []ring.Piece) []ring.Piece {
	n := len(pieces)
	if n < 2 {
		return pieces
	}
	first, last := pieces[0], pieces[n-1]
	if last.Range.End != 0 || first.Range.Start != 0 || first.Primary != last.Primary || first.Release != last.Release {
		return pieces
	}
	pieces[n-1].Range.End = first.Range.End
	return pieces[1:]
}

func presentHandoffs(st *table.State) []table.Handoff {
	var all []table.Handoff
	for _, h := range st.Handoffs() {
		all = append(all, *h)
	}
	return all
}

type nodePair struct{ from, to string }

// A handoffPlan collects handoffs, one for each pair of nodes.
type handoffPlan struct {
	st       *table.State
	away     Absence
	handoffs []table.Handoff
	index    map[nodePair]int
}

// piece adds the next step for a piece of the circle.
func (w *handoffPlan) piece(r ring.Range, was, will *ring.Row) {
	if was.Primary == "" || will.Primary == "" || w.away.has(was.Primary) {
		return // no node could do it
	}
	// A node that has everything takes over first, and then copies the rest.
	if will.Primary != was.Primary && was.Holds(will.Primary) {
		w.add(was.Primary, will.Primary, ring.Piece{Range: r, Primary: true})
		return
	}
	var leave []string
	for node := range was.Copies() {
		if !will.Holds(node) {
			leave = append(leave, node)
		}
	}
	for node := range will.Copies() {
		if was.Holds(node) {
			continue
		}
		p := ring.Piece{Range: r, Primary: node == will.Primary}
		// The old primary is the first to leave, and the new one the first to come.
		if len(leave) > 0 && (p.Primary || leave[0] != was.Primary) {
			p.Release, leave = leave[0], leave[1:]
		}
		w.add(was.Primary, node, p)
	}
	for _, node := range leave {
		if node != was.Primary {
			w.add(was.Primary, node, ring.Piece{Range: r, Release: node})
		}
	}
}

// add appends a piece to a handoff, or extends its last piece. A copy to an absent node is left
// out; giving up a copy needs no receiver.
func (w *handoffPlan) add(from, to string, p ring.Piece) {
	if w.away.has(to) && p.Release != to {
		return
	}
	i, ok := w.index[nodePair{from, to}]
	if !ok {
		i = len(w.handoffs)
		w.index[nodePair{from, to}] = i
		h := table.Handoff{From: from, To: to}
		for _, known := range w.st.Handoffs() {
			if known.From == from && known.To == to {
				h.ID = known.ID
			}
		}
		w.handoffs = append(w.handoffs, h)
	}
	h := &w.handoffs[i]
	if n := len(h.Pieces); n > 0 {
		if last := &h.Pieces[n-1]; last.Range.End == p.Range.Start && last.Primary == p.Primary && last.Release == p.Release {
			last.Range.End = p.Range.End
			return
		}
	}
	h.Pieces = append(h.Pieces, p)
}
