package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A transition is the difference between the primary state and a new state of the table.
// planTransition prepares it; applyTransition makes it current at the moment of Retap.
type transition struct {
	terms     []*rowTerm
	moves     []tapMove
	rebounded []*rowTerm // rows that continue under other bounds: all members are told
	begun     []*rowTerm // terms that begin
	lost      []*quorum  // quorums whose open changes have an unknown outcome
}

// A tapMove gives a range to a quorum, or to none if quorum is nil.
type tapMove struct {
	r      ring.Range
	quorum *quorum
}

// planTransition compares the terms with a state of the table. drained reports whether a range was
// held and drained before the table took it away.
func (p *primaryState) planTransition(st *table.State, still func(ring.Range) bool) *transition {
	u := new(transition)
	kept := make(map[*rowTerm]bool, len(p.terms))
	for row := range st.Rows() {
		if !p.isOwn(row) {
			continue
		}
		was := p.termAt(row.Range.Start)
		t := &rowTerm{Ref: row.Ref()}
		switch before := p.continuedTerms(row, was); {
		case was != nil && was.Range == row.Range && was.Epoch == row.Epoch && was.Lineage == row.Lineage:
			t.termState = was.termState
			kept[was] = true
		case before != nil:
			t.termState = &termState{open: true, counted: slices.Clone(before[0].counted)}
			for _, b := range before {
				kept[b] = true
				t.open = t.open && b.open
				t.counted = slices.DeleteFunc(t.counted, func(l learner) bool { return !slices.Contains(b.counted, l) })
			}
			u.rebounded = append(u.rebounded, t)
		default:
			t.termState = &termState{learned: p.hasLearned(row.Range), notJoined: slices.Clone(row.Backups)}
			u.begun = append(u.begun, t)
		}
		t.backups, t.members = row.Backups, t.requiredMembers(row)
		u.terms = append(u.terms, t)
	}
	p.planLosses(st, u, kept, still)
	for _, t := range u.terms {
		t.quorum = p.quorumOf(t.members)
		if !p.isTappedBy(t.Range, t.quorum) {
			u.moves = append(u.moves, tapMove{t.Range, t.quorum})
		}
	}
	return u
}

// isOwn reports whether this start of the node is the primary of a row.
func (p *primaryState) isOwn(row *table.Row) bool {
	return row.Primary == p.self && row.Incarnation == p.incarnation
}

// requiredMembers returns the members that must acknowledge the writes of a row: its backups, and
// the counting learners that the table may still admit.
func (t *rowTerm) requiredMembers(row *table.Row) []string {
	members := slices.Clone(row.Backups)
	for _, l := range t.counted {
		if i := slices.Index(row.Learners, l.node); i >= 0 && row.Starts[i] == l.incarnation {
			members = append(members, l.node)
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// continuedTerms returns the terms that make up a row, if this node has been its primary all the
// time and only the bounds have changed.
func (p *primaryState) continuedTerms(row *table.Row, first *rowTerm) []*rowTerm {
	if first == nil || first.Lineage != row.Lineage {
		return nil
	}
	if first.Range == row.Range {
		return nil // equal bounds would have an equal epoch
	}
	before := p.overlapping(row.Range)
	var epoch, covered uint64
	for _, t := range before {
		if t.Lineage != row.Lineage || len(t.notJoined) > 0 {
			return nil
		}
		epoch = max(epoch, t.Epoch)
		if spans.Within(t.Range, row.Range) {
			covered += t.Range.Len()
		} else if spans.Within(row.Range, t.Range) {
			covered += row.Range.Len()
		}
	}
	if covered != row.Range.Len() || row.Epoch != epoch+1 {
		return nil
	}
	// Every backup was a member before.
	for _, b := range row.Backups {
		if slices.ContainsFunc(before, func(t *rowTerm) bool { return !slices.Contains(t.members, b) }) {
			return nil
		}
	}
	return before
}

// isTappedBy reports whether all of a range belongs to a quorum.
func (p *primaryState) isTappedBy(r ring.Range, q *quorum) bool {
	t := p.termAt(r.Start)
	if t != nil && t.Range == r {
		return t.quorum == q
	}
	before := p.overlapping(r)
	if q == nil {
		return !slices.ContainsFunc(before, func(t *rowTerm) bool { return t.quorum != nil })
	}
	covered := uint64(0)
	for _, t := range before {
		if t.quorum != q {
			return false
		}
		if spans.Within(r, t.Range) {
			return true
		}
		covered += t.Range.Len()
	}
	return covered == r.Len()
}

// planLosses adds the ranges that this node no longer serves, or serves in a new term.
func (p *primaryState) planLosses(st *table.State, u *transition, kept map[*rowTerm]bool, still func(ring.Range) bool) {
	var gone spans.Set // ordered, as the terms are
	for _, t := range p.terms {
		if kept[t] || t.quorum == nil {
			continue
		}
		gone = append(gone, t.Range)
		if t.quorum.lastChange != t.quorum.acked && !still(t.Range) && !slices.Contains(u.lost, t.quorum) {
			u.lost = append(u.lost, t.quorum)
			delete(p.quorums, t.quorum.key)
		}
	}
	if len(gone) == 0 {
		return
	}
	for row := range st.Rows() {
		if p.isOwn(row) {
			continue
		}
		if gone.Overlap(row.Range) {
			u.moves = append(u.moves, tapMove{row.Range, nil})
		}
	}
}
