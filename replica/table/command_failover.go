package table

import (
	"slices"
)

// Failover is the end of a node's term, as one entry: it died, or it was started
// again. In each row the proposer says who goes on, after it asked the others for
// what they have.
type Failover struct {
	Node        string
	Incarnation uint64
	Rows        []Succession
	// Stays reports that the node is there again and lost nothing: it may be in the new
	// sets, even as their primary. Otherwise it is in none of them, and its handoffs
	// and what it was learning are cancelled.
	Stays bool
}

// A Succession is what becomes of one row. Both are of the row's old set. If the
// failed node was not the primary, the primary and the epoch stay.
type Succession struct {
	Row     Ref
	Primary string
	Backups []string
}

func (*Failover) kind() kind { return kindFailover }

func (f *Failover) code(c *codec) {
	c.text(&f.Node)
	c.number(&f.Incarnation)
	list(c, &f.Rows, 13, func(s *Succession) {
		s.Row.code(c)
		c.text(&s.Primary)
		c.textList(&s.Backups)
	})
	c.flag(&f.Stays)
}

func (f *Failover) apply(d *draft) error {
	node, err := d.started(f.Node, f.Incarnation)
	if err != nil {
		return err
	}
	for i := range f.Rows {
		if err := f.succeed(d, &f.Rows[i]); err != nil {
			return err
		}
	}
	if !f.Stays {
		node.Failed = d.index
		d.cancel(func(h *Handoff) bool { return h.From == f.Node || h.To == f.Node })
		d.change(func(r *Row) bool { return r.learns(f.Node) }, func(r *Row) { r.dropLearner(f.Node) })
	}
	d.replan()
	return nil
}

func (f *Failover) succeed(d *draft, s *Succession) error {
	row, err := d.edit(s.Row)
	if err != nil {
		return err
	}
	wasPrimary := row.Primary == f.Node
	switch {
	case !row.Holds(f.Node):
		return refuse(ErrNotInSync, "%s, %v", f.Node, s.Row.Range)
	case !wasPrimary && s.Primary != row.Primary:
		return refuse(ErrInvalid, "%v: %s did not fail", s.Row.Range, row.Primary)
	case !row.Holds(s.Primary):
		return refuse(ErrNotInSync, "%s, %v", s.Primary, s.Row.Range)
	case slices.Contains(s.Backups, s.Primary):
		return refuse(ErrInvalid, "%v: %s is both primary and backup", s.Row.Range, s.Primary)
	case !f.Stays && (s.Primary == f.Node || slices.Contains(s.Backups, f.Node)):
		return refuse(ErrInvalid, "%v: %s failed and stays", s.Row.Range, f.Node)
	}
	for i, b := range s.Backups {
		if !row.Holds(b) {
			return refuse(ErrNotInSync, "%s, %v", b, s.Row.Range)
		}
		if slices.Contains(s.Backups[:i], b) {
			return refuse(ErrInvalid, "%v: %s twice", s.Row.Range, b)
		}
	}
	row.Primary, row.Backups = s.Primary, slices.Clone(s.Backups)
	if wasPrimary {
		row.Epoch++
		row.Incarnation = d.incarnation(s.Primary)
	}
	row.resume(wasPrimary)
	row.settle()
	d.confirm(row)
	return nil
}

// Recreate makes rows anew at a node, as a lineage of their own: no copy that they
// had counts any more.
type Recreate struct {
	Rows        []Ref
	Node        string
	Incarnation uint64
}

func (*Recreate) kind() kind { return kindRecreate }

func (r *Recreate) code(c *codec) {
	refs(c, &r.Rows)
	c.text(&r.Node)
	c.number(&r.Incarnation)
}

func (r *Recreate) apply(d *draft) error {
	node, err := d.receiver(r.Node, r.Incarnation)
	if err != nil {
		return err
	}
	d.lastLineage++
	for _, ref := range r.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		row.Op = Op{}
		row.Backups, row.Learners, row.Starts = nil, nil, nil
		row.Primary, row.Incarnation = r.Node, r.Incarnation
		row.Lineage = d.lastLineage
		row.Epoch++
		if node.State == Joining {
			d.enter(node, Member)
		}
	}
	d.replan()
	return nil
}
