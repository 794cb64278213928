package table

import (
	"slices"
)

// AddLearner lets a node receive copies of rows.
type AddLearner struct {
	Rows        []Ref
	Node        string
	Incarnation uint64
	// Handoff is the one that this is part of, whose pieces hold each of the rows;
	// 0 if none is, as for a copy that comes back. A row is part of one at a time.
	Handoff uint64
}

func (*AddLearner) kind() kind { return kindAddLearner }

func (a *AddLearner) code(c *codec) {
	refs(c, &a.Rows)
	c.text(&a.Node)
	c.number(&a.Incarnation)
	c.number(&a.Handoff)
}

func (a *AddLearner) apply(d *draft) error {
	if _, err := d.receiver(a.Node, a.Incarnation); err != nil {
		return err
	}
	for _, ref := range a.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		switch {
		case row.names(a.Node):
			return refuse(ErrHasCopy, "%s, %v", a.Node, ref.Range)
		case d.Emptied(row):
			return refuse(ErrNotInSync, "%s has nothing of %v any more", row.Primary, ref.Range)
		case len(row.Backups)+len(row.Learners) >= maxCopies:
			return refuse(ErrTooMany, "copies of %v", ref.Range)
		}
		if a.Handoff != 0 {
			if row.Op.Handoff != 0 {
				return refuse(ErrBusy, "%v is part of handoff %d", ref.Range, row.Op.Handoff)
			}
			piece, err := d.carried(a.Handoff, a.Node, ref.Range)
			if err != nil {
				return err
			}
			row.Op = Op{Handoff: a.Handoff, To: a.Node, Primary: piece.Primary, Release: piece.Release, Phase: Copying}
		}
		row.addLearner(a.Node, a.Incarnation)
	}
	return nil
}

// DropLearner ends the copying of rows to a node.
type DropLearner struct {
	Rows []Ref
	Node string
}

func (*DropLearner) kind() kind { return kindDropLearner }

func (l *DropLearner) code(c *codec) {
	refs(c, &l.Rows)
	c.text(&l.Node)
}

func (l *DropLearner) apply(d *draft) error {
	for _, ref := range l.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		if !row.learns(l.Node) {
			return refuse(ErrNotLearner, "%s, %v", l.Node, ref.Range)
		}
		if row.Op.To == l.Node {
			row.Op = Op{}
		}
		row.dropLearner(l.Node)
	}
	return nil
}

// Admit makes a learner that has everything an in-sync backup, the last in the order
// of succession. If it is to take the place of another backup by a handoff, that one
// leaves the set in the same entry.
type Admit struct {
	Rows        []Ref
	Node        string
	Incarnation uint64 // also that of the learner
}

func (*Admit) kind() kind { return kindAdmit }

func (a *Admit) code(c *codec) {
	refs(c, &a.Rows)
	c.text(&a.Node)
	c.number(&a.Incarnation)
}

func (a *Admit) apply(d *draft) error {
	node, err := d.started(a.Node, a.Incarnation)
	if err != nil {
		return err
	}
	for _, ref := range a.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		i := slices.Index(row.Learners, a.Node)
		switch {
		case d.Emptied(row):
			return refuse(ErrNotInSync, "%s has nothing of %v any more", row.Primary, ref.Range)
		case i < 0:
			return refuse(ErrNotLearner, "%s, %v", a.Node, ref.Range)
		case row.Starts[i] != a.Incarnation:
			return refuse(ErrIncarnation, "%s learns %v as %d, not %d", a.Node, ref.Range, row.Starts[i], a.Incarnation)
		}
		row.dropLearner(a.Node)
		row.Backups = append(slices.Clip(row.Backups), a.Node)
		if row.Op.To == a.Node {
			row.Op.Phase = InSync
			row.dropBackup(row.Op.Release)
			row.settle()
		}
		if node.State == Joining {
			d.enter(node, Member)
		}
		d.replan()
	}
	return nil
}

// CutOver makes an in-sync backup the primary, under a new epoch. The old primary
// becomes the first backup, or leaves. A backup whose place is taken by a handoff leaves
// the set in the same entry.
type CutOver struct {
	Rows        []Ref
	To          string
	Incarnation uint64
	Leave       bool
	// Admit lets it also be a learner that is to become the primary by a handoff: while
	// the range is held and the learner has everything, it is in sync without being
	// asked, and no caller waits for an entry more.
	Admit bool
}

func (*CutOver) kind() kind { return kindCutOver }

func (o *CutOver) code(c *codec) {
	refs(c, &o.Rows)
	c.text(&o.To)
	c.number(&o.Incarnation)
	c.flag(&o.Leave)
	c.flag(&o.Admit)
}

func (o *CutOver) apply(d *draft) error {
	node, err := d.receiver(o.To, o.Incarnation)
	if err != nil {
		return err
	}
	for _, ref := range o.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		if i := slices.Index(row.Learners, o.To); o.Admit && i >= 0 && row.Op.To == o.To && row.Op.Primary {
			if row.Starts[i] != o.Incarnation {
				return refuse(ErrIncarnation, "%s learns %v as %d, not %d", o.To, ref.Range, row.Starts[i], o.Incarnation)
			}
			row.dropLearner(o.To)
			row.Backups = append(slices.Clip(row.Backups), o.To)
			if node.State == Joining {
				d.enter(node, Member)
			}
		}
		switch {
		case !slices.Contains(row.Backups, o.To):
			return refuse(ErrNotInSync, "%s, %v", o.To, ref.Range)
		case row.Op.Handoff != 0 && (row.Op.To != o.To || !row.Op.Primary):
			return refuse(ErrBusy, "%v is part of handoff %d", ref.Range, row.Op.Handoff)
		}
		old := row.Primary
		row.dropBackup(o.To)
		if !o.Leave {
			row.Backups = append([]string{old}, row.Backups...)
		}
		row.Primary, row.Incarnation = o.To, o.Incarnation
		row.Epoch++
		if row.Op.Handoff != 0 {
			row.Op.Phase = Serving
			row.dropBackup(row.Op.Release)
			row.settle()
		}
		d.replan()
	}
	return nil
}

// Release takes an in-sync backup out of the set: an old copy that is not needed, or
// one that does not keep up. The primary cannot leave so, and the set never becomes
// empty. The last backup stays while its primary was started again and may have lost
// something: an earlier start may have asked for this, which had everything.
type Release struct {
	Rows []Ref
	Node string
}

func (*Release) kind() kind { return kindRelease }

func (r *Release) code(c *codec) {
	refs(c, &r.Rows)
	c.text(&r.Node)
}

func (r *Release) apply(d *draft) error {
	for _, ref := range r.Rows {
		row, err := d.edit(ref)
		if err != nil {
			return err
		}
		if !slices.Contains(row.Backups, r.Node) {
			return refuse(ErrNotInSync, "%s, %v", r.Node, ref.Range)
		}
		row.dropBackup(r.Node)
		if d.doubtful(row) {
			return refuse(ErrNotInSync, "%s may have lost what %s has of %v", row.Primary, r.Node, ref.Range)
		}
		if row.Op.To == r.Node {
			row.Op = Op{}
		}
		row.settle()
		d.confirm(row)
		d.replan()
	}
	return nil
}
