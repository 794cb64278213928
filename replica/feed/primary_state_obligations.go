package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/ring"
)

// carryObligations records the changes of rows that move to another quorum. The old quorum may
// continue with other rows.
func (p *primaryState) carryObligations(u *transition) {
	for _, t := range u.terms {
		for _, was := range p.overlapping(t.Range) {
			if was.termState != t.termState {
				t.obligations = append(slices.Clip(t.obligations), was.obligations...)
			}
			if was.quorum != nil && was.quorum != t.quorum {
				t.obligations = append(slices.Clip(t.obligations), obligation{was.quorum, was.quorum.lastChange})
			}
		}
		t.obligations = slices.DeleteFunc(slices.Clone(t.obligations), obligation.isMet)
	}
}

// obligationsIn returns the obligations that must be met before all changes in ranges are
// acknowledged.
func (p *primaryState) obligationsIn(ranges []ring.Range) (all []obligation) {
	for _, r := range ranges {
		for _, t := range p.overlapping(r) {
			all = append(all, t.obligations...)
			if t.quorum != nil {
				all = append(all, obligation{t.quorum, t.quorum.lastChange})
			}
		}
	}
	for _, q := range p.retired {
		all = append(all, obligation{q, q.lastChange})
	}
	return all
}

// allJoined reports whether all members of this node's rows in ranges have joined them. Before that
// their data may differ, and a new primary could not tell.
func (p *primaryState) allJoined(ranges []ring.Range) bool {
	for _, r := range ranges {
		for _, t := range p.overlapping(r) {
			if len(t.notJoined) > 0 && p.rules.Enforced(rules.Opened) {
				return false
			}
		}
	}
	return true
}

// retireQuorums moves quorums without rows to retired, and removes members that no row needs any
// more.
func (p *primaryState) retireQuorums(needed map[string]bool) {
	for names, q := range p.quorums {
		if q.rows == 0 {
			delete(p.quorums, names)
			p.retired = append(p.retired, q)
		}
	}
	for _, q := range p.retired {
		q.members = slices.DeleteFunc(slices.Clone(q.members), func(m string) bool { return !needed[m] })
	}
}

// takeSettled removes and returns the retired quorums whose changes are all acknowledged.
func (p *primaryState) takeSettled() (done []*quorum) {
	p.retired = slices.DeleteFunc(p.retired, func(q *quorum) bool {
		if q.lastChange == q.acked {
			done = append(done, q)
			return true
		}
		return false
	})
	return done
}
