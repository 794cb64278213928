package replica

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// An Absence names the nodes that are not there. Those of false may be back in a
// moment; those of true have been away for so long that others get their places. nil is
// that of nobody.
type Absence map[string]bool

func (a Absence) has(node string) bool {
	_, away := a[node]
	return away
}

// mayReturn tells whether somebody may be back in a moment.
func (a Absence) mayReturn(members []ring.Member) bool {
	return slices.ContainsFunc(members, func(m ring.Member) bool {
		long, away := a[m.ID]
		return away && !long
	})
}

// awayAfter is how long a node has had no lease when it counts as away: somewhat longer
// than one lasts.
const awayAfter = 3 * time.Second

// absent tells which nodes are away, on the node that leads.
func (e *Engine) absent() Absence {
	if e.cfg.Absent != nil {
		return e.cfg.Absent()
	}
	var away Absence
	for _, m := range e.cfg.Table.State().MembersOf() {
		if silent, ok := e.LeaseSilence(m.ID); ok && silent > awayAfter && m.ID != e.cfg.Self {
			if away == nil {
				away = make(Absence)
			}
			away[m.ID] = silent > e.cfg.Rereplicate
		}
	}
	return away
}

// DesiredPlacement is the placement that the strategy would want of the state's if these were
// its members.
func DesiredPlacement(st *table.State, strategy ring.Strategy, members []ring.Member) (*ring.Placement, error) {
	return strategy.Desired(ring.Input{
		Members: members,
		Backups: st.Cluster().Backups,
		Present: st.Placement(),
	})
}

// DesiredHandoffs are the handoffs that lead from the state's placement to the one that the
// strategy wants for its members. They may not be all: what can only be done after
// others is not among them.
//
// While a node is away that may be back, nothing new is begun: what there is goes on.
// Once it has been away for long, the others get its places as far as somebody is there
// to give them.
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

// joinEnds joins what was cut only where the tokens begin anew.
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

// handoffPlan gathers handoffs, one for each pair of nodes.
type handoffPlan struct {
	st       *table.State
	away     Absence
	handoffs []table.Handoff
	index    map[nodePair]int
}

// piece adds what is to be done next about a piece of the circle.
func (w *handoffPlan) piece(r ring.Range, was, will *ring.Row) {
	if was.Primary == "" || will.Primary == "" || w.away.has(was.Primary) {
		return // nobody could
	}
	// Who has everything takes over first, and does the rest.
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
		// The old primary is the first of those who leave, and the new one the first of
		// those who come.
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

// add gives a handoff a piece, or makes its last piece longer. What cannot begin, since
// the receiver is away, is left out; to give a copy up nobody needs to be there.
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
