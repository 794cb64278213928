package table

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A Row is one range of the table. Rows are shared and must not be changed.
type Row struct {
	ring.Row
	// Lineage tells data of the range from data of its own past: it changes only
	// when the range is made anew without the copies that it had.
	Lineage uint64
	// Version counts the changes of the row.
	Version uint64
	// Incarnation is the primary's when the epoch began, or was confirmed. A primary
	// that was started since does not serve the range before it has a new epoch.
	Incarnation uint64
	// Starts are the incarnations of the learners, in their order.
	Starts []uint64
	// Op is the part of a handoff that is in progress here.
	Op Op
}

// An Op is what a handoff does to one row.
type Op struct {
	Handoff uint64 // its id; 0 if nothing is in progress
	To      string // the node that receives the range
	Primary bool   // whether it is to serve it
	Release string // the node that gives up its copy afterwards; empty: none
	Phase   Phase  // Copying, InSync or Serving
}

// Ref names the row as it is, for a command that is to hold only of that.
func (r *Row) Ref() Ref {
	return Ref{Range: r.Range, Lineage: r.Lineage, Epoch: r.Epoch, Version: r.Version}
}

// A Ref is one row at one moment: the comparison of a compare-and-set.
type Ref struct {
	Range                   ring.Range
	Lineage, Epoch, Version uint64
}

func (r *Ref) code(c *codec) {
	c.span(&r.Range)
	c.number(&r.Lineage)
	c.number(&r.Epoch)
	c.number(&r.Version)
}

func refs(c *codec, v *[]Ref) { list(c, v, 11, func(r *Ref) { r.code(c) }) }

func (r *Row) learns(node string) bool { return slices.Contains(r.Learners, node) }

// names reports whether a node has any place in the row.
func (r *Row) names(node string) bool { return r.Holds(node) || r.learns(node) }

// The changes below make new lists, since the old ones are shared with older states.

func (r *Row) addLearner(node string, incarnation uint64) {
	r.Learners = append(slices.Clip(r.Learners), node)
	r.Starts = append(slices.Clip(r.Starts), incarnation)
}

func (r *Row) dropLearner(node string) {
	i := slices.Index(r.Learners, node)
	if i < 0 {
		return
	}
	r.Learners = without(r.Learners, i)
	r.Starts = without(r.Starts, i)
}

func (r *Row) dropBackup(node string) {
	if i := slices.Index(r.Backups, node); i >= 0 {
		r.Backups = without(r.Backups, i)
	}
}

func without[T any](list []T, i int) []T {
	if len(list) == 1 {
		return nil
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}

// cancel ends the row's part of a handoff. A copy that is complete stays, since it
// counts already; the next plan may give it up.
func (r *Row) cancel() {
	if r.Op.Phase == Copying {
		r.dropLearner(r.Op.To)
	}
	r.Op = Op{}
}

// settle ends the operation once all of it is done.
func (r *Row) settle() {
	arrived := r.Op.Phase == Serving || r.Op.Phase == InSync && !r.Op.Primary
	if r.Op.Handoff != 0 && arrived && !r.Holds(r.Op.Release) {
		r.Op = Op{}
	}
}

// resume says how far the operation is after the set has changed. A new primary knows
// nothing of its predecessor's learner.
func (r *Row) resume(newPrimary bool) {
	switch {
	case r.Op.Handoff == 0:
	case r.Op.Phase == Copying:
		if newPrimary {
			r.cancel()
		}
	case r.Primary == r.Op.To && r.Op.Primary:
		r.Op.Phase = Serving
	case slices.Contains(r.Backups, r.Op.To):
		r.Op.Phase = InSync
	default:
		r.Op = Op{}
	}
}

func (r *Row) code(c *codec) {
	c.number(&r.Epoch)
	c.number(&r.Lineage)
	c.number(&r.Version)
	c.number(&r.Incarnation)
	c.text(&r.Primary)
	c.textList(&r.Backups)
	c.textList(&r.Learners)
	c.numberList(&r.Starts)
	c.number(&r.Op.Handoff)
	if r.Op.Handoff != 0 {
		c.text(&r.Op.To)
		c.flag(&r.Op.Primary)
		c.text(&r.Op.Release)
		small(c, &r.Op.Phase, Serving)
	}
}
