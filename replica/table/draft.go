package table

import (
	"cmp"
	"slices"
)

// A draft is the state that a command is making. It owns its lists of nodes,
// handoffs and chunks, and those chunks that bear its mark.
type draft struct {
	*State
	mark *mark
}

func (s *State) draft(index uint64) *draft {
	return &draft{
		State: &State{
			cluster: s.cluster, index: index, basis: s.basis,
			lastHandoff: s.lastHandoff, lastLineage: s.lastLineage,
			nodes: slices.Clone(s.nodes), handoffs: slices.Clone(s.handoffs),
			rows: rows{slices.Clone(s.rows.chunks), s.rows.n}, comparisons: s.comparisons, load: s.load, seats: s.seats, databases: s.databases, policies: s.policies, values: s.values,
		},
		mark: new(mark),
	}
}

// seat gives the members seats, or takes all seats away.
func (d *draft) seat(seated bool) {
	switch {
	case !seated:
		d.seats = nil
	case d.seats == nil:
		d.seats = d.seats.With(d.MembersOf())
	}
}

// replan says that the change matters to a plan.
func (d *draft) replan() { d.basis = d.index }

// check compares a row with what the proposer knows of it.
func (d *draft) check(ref Ref) (*Row, error) {
	row := d.rows.at(ref.Range.Start)
	if got := row.Ref(); got != ref {
		return nil, refuse(ErrStale, "%v is now %v of lineage %d, epoch %d, version %d", ref.Range, got.Range, got.Lineage, got.Epoch, got.Version)
	}
	return row, nil
}

// edit is check for a row that will be changed; its bounds may not.
func (d *draft) edit(ref Ref) (*Row, error) {
	if _, err := d.check(ref); err != nil {
		return nil, err
	}
	row := d.rows.edit(ref.Range.Start, d.mark)
	row.Version++
	return row, nil
}

// change changes every row that is to be, but no bounds.
func (d *draft) change(which func(*Row) bool, how func(*Row)) {
	for i := range d.rows.chunks {
		for j := range d.rows.chunks[i].rows {
			if which(&d.rows.chunks[i].rows[j]) {
				row := &d.rows.own(i, d.mark).rows[j]
				row.Version++
				how(row)
			}
		}
	}
}

// present finds a node that is not gone.
func (d *draft) present(id string) (*Node, error) {
	i, ok := place(d.nodes, id)
	if !ok || d.nodes[i].State == Gone {
		return nil, refuse(ErrUnknownNode, "%.300q", id)
	}
	return &d.nodes[i], nil
}

// started finds a node of which the proposer knows the present start.
func (d *draft) started(id string, incarnation uint64) (*Node, error) {
	n, err := d.present(id)
	if err == nil && n.Incarnation != incarnation {
		return nil, refuse(ErrIncarnation, "%s is at %d, not %d", id, n.Incarnation, incarnation)
	}
	return n, err
}

// receiver is started for a node that is to get a copy.
func (d *draft) receiver(id string, incarnation uint64) (*Node, error) {
	n, err := d.started(id, incarnation)
	if err == nil && !n.Counts() {
		return nil, refuse(ErrNodeState, "%s is a %v that is %v", id, n.Role, n.State)
	}
	return n, err
}

func (d *draft) enter(n *Node, state NodeState) {
	n.State, n.Since = state, d.index
}

// confirm lets a primary that was started again, and is alone now, go on under a new
// epoch: no other node could. If it has nothing, no node can.
func (d *draft) confirm(row *Row) {
	if d.Emptied(row) {
		return
	}
	if now := d.incarnation(row.Primary); len(row.Backups) == 0 && row.Incarnation != now {
		row.Incarnation = now
		row.Epoch++
	}
}

// doubtful reports whether all that a row has is a primary that was started again and has not
// proved that it lost nothing.
func (d *draft) doubtful(row *Row) bool {
	return len(row.Backups) == 0 && d.restartedWithLoss(row)
}

// restartedWithLoss reports whether the primary of a row was started again, has not proved that it
// lost nothing, and no failover has decided since then which copy goes on.
func (d *draft) restartedWithLoss(row *Row) bool {
	n, _ := d.Node(row.Primary)
	return row.Incarnation != n.Incarnation && !n.Intact
}

func placeOf(handoffs []*Handoff, id uint64) (int, bool) {
	return slices.BinarySearchFunc(handoffs, id, func(h *Handoff, id uint64) int { return cmp.Compare(h.ID, id) })
}

// cancel removes handoffs and ends what they had begun on rows.
func (d *draft) cancel(which func(*Handoff) bool) {
	gone := make(map[uint64]bool)
	d.handoffs = slices.DeleteFunc(d.handoffs, func(h *Handoff) bool {
		if which(h) {
			gone[h.ID] = true
		}
		return gone[h.ID]
	})
	if len(gone) == 0 {
		return
	}
	d.replan()
	d.change(func(r *Row) bool { return gone[r.Op.Handoff] }, (*Row).cancel)
}
