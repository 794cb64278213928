package replica

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A turn is what a state of the table changes in an office: prepared by consider, and
// made so by take at the moment of Retap.
type turn struct {
	tenures []*tenure
	moves   []move
	joins   []*tenure // that go on under other bounds: all members are told
	opening []*tenure
	fail    []*quorum // of whose changes nobody knows what becomes of them
}

// A move gives a range to a quorum; nil: to none.
type move struct {
	r  ring.Range
	to *quorum
}

// consider compares the tenures with a state. still tells of a range that it was held
// and drained before the table took it.
func (o *office) consider(st *table.State, still func(ring.Range) bool) *turn {
	u := new(turn)
	kept := make(map[*tenure]bool, len(o.tenures))
	for row := range st.Rows() {
		if !o.leads(row) {
			continue
		}
		was := o.tenureAt(row.Range.Start)
		t := &tenure{Ref: row.Ref()}
		switch before := o.goesOn(row, was); {
		case was != nil && was.Range == row.Range && was.Epoch == row.Epoch && was.Lineage == row.Lineage:
			t.term = was.term
			kept[was] = true
		case before != nil:
			t.term = &term{open: true, counted: slices.Clone(before[0].counted)}
			for _, b := range before {
				kept[b] = true
				t.open = t.open && b.open
				t.counted = slices.DeleteFunc(t.counted, func(l learner) bool { return !slices.Contains(b.counted, l) })
			}
			u.joins = append(u.joins, t)
		default:
			t.term = &term{learned: o.hasLearned(row.Range), missing: slices.Clone(row.Backups)}
			if len(row.Backups) > 0 {
				u.opening = append(u.opening, t)
			}
		}
		t.backups, t.members = row.Backups, t.needs(row)
		u.tenures = append(u.tenures, t)
	}
	o.losses(st, u, kept, still)
	for _, t := range u.tenures {
		t.set = o.quorumOf(t.members)
		if !o.followedBy(t.Range, t.set) {
			u.moves = append(u.moves, move{t.Range, t.set})
		}
	}
	return u
}

// leads tells whether a row is this start's.
func (o *office) leads(row *table.Row) bool {
	return row.Primary == o.self && row.Incarnation == o.incarnation
}

// needs says whose word a tenure needs by a row: that of the set, and of learners that
// count and may yet be admitted.
func (t *tenure) needs(row *table.Row) []string {
	members := slices.Clone(row.Backups)
	for _, l := range t.counted {
		if i := slices.Index(row.Learners, l.node); i >= 0 && row.Starts[i] == l.incarnation {
			members = append(members, l.node)
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// goesOn returns the tenures of which a row is made, if this node has been its primary
// all the time: only its bounds have changed.
func (o *office) goesOn(row *table.Row, first *tenure) []*tenure {
	if first == nil || first.Lineage != row.Lineage {
		return nil
	}
	if first.Range == row.Range {
		return nil // then so would be the epoch
	}
	before := o.overlapping(row.Range)
	var epoch, covered uint64
	for _, t := range before {
		if t.Lineage != row.Lineage || len(t.missing) > 0 {
			return nil
		}
		epoch = max(epoch, t.Epoch)
		if within(t.Range, row.Range) {
			covered += t.Range.Len()
		} else if within(row.Range, t.Range) {
			covered += row.Range.Len()
		}
	}
	if covered != row.Range.Len() || row.Epoch != epoch+1 {
		return nil
	}
	// Nobody may be a member who was not one all along.
	for _, b := range row.Backups {
		if slices.ContainsFunc(before, func(t *tenure) bool { return !slices.Contains(t.members, b) }) {
			return nil
		}
	}
	return before
}

// within tells whether a range is part of another.
func within(a, b ring.Range) bool {
	return b.Contains(a.Start) && uint64(a.Start-b.Start)+a.Len() <= b.Len()
}

// followedBy tells whether all of a range belongs to a quorum.
func (o *office) followedBy(r ring.Range, q *quorum) bool {
	t := o.tenureAt(r.Start)
	if t != nil && t.Range == r {
		return t.set == q
	}
	before := o.overlapping(r)
	if q == nil {
		return !slices.ContainsFunc(before, func(t *tenure) bool { return t.set != nil })
	}
	covered := uint64(0)
	for _, t := range before {
		if t.set != q {
			return false
		}
		if within(r, t.Range) {
			return true
		}
		covered += t.Range.Len()
	}
	return covered == r.Len()
}

// losses finds what was this node's and is not, or is anew.
func (o *office) losses(st *table.State, u *turn, kept map[*tenure]bool, still func(ring.Range) bool) {
	var gone spans // in order, as the tenures are
	for _, t := range o.tenures {
		if kept[t] || t.set == nil {
			continue
		}
		gone = append(gone, t.Range)
		if t.set.given != t.set.acked && !still(t.Range) && !slices.Contains(u.fail, t.set) {
			u.fail = append(u.fail, t.set)
			delete(o.sets, t.set.names)
		}
	}
	if len(gone) == 0 {
		return
	}
	for row := range st.Rows() {
		if o.leads(row) {
			continue
		}
		if gone.touch(row.Range) {
			u.moves = append(u.moves, move{row.Range, nil})
		}
	}
}
