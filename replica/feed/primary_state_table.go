package feed

import (
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/table"
)

// updateMembers adapts the state of a term to its new members.
func (t *rowTerm) updateMembers(was *rowTerm) {
	if was != nil && was.termState == t.termState {
		// A member that was admitted without counting never joins, so writes wait until it is
		// released.
		for _, m := range t.members {
			counts := slices.ContainsFunc(t.counted, func(l learner) bool { return l.node == m })
			if !slices.Contains(was.members, m) && !counts {
				t.notJoined = append(slices.Clip(t.notJoined), m)
				t.rejected = append(slices.Clip(t.rejected), m)
			}
		}
	}
	gone := func(n string) bool { return !slices.Contains(t.members, n) }
	t.counted = slices.DeleteFunc(slices.Clone(t.counted), func(l learner) bool { return gone(l.node) || slices.Contains(t.backups, l.node) })
	t.notJoined = slices.DeleteFunc(slices.Clone(t.notJoined), gone)
	t.rejected = slices.DeleteFunc(slices.Clone(t.rejected), gone)
	t.open = t.open || len(t.notJoined) == 0
}

// applyTransition makes a transition the current state, at the moment when its taps move. fresh are
// the sessions that begin, ended those that no row needs any more.
func (p *primaryState) applyTransition(u *transition, st *table.State) (fresh, ended []*session) {
	for _, t := range u.terms {
		t.updateMembers(p.termAt(t.Range.Start))
	}
	p.carryObligations(u)
	before := p.terms
	p.terms = u.terms
	for _, was := range before {
		if q := was.quorum; q != nil && q.lastChange != q.acked && p.minInSync > 1 {
			if now := p.termAt(was.Range.Start); now == nil || now.quorum != q || now.Range != was.Range {
				q.formerRanges = append(q.formerRanges, was.Range)
			}
		}
	}
	for _, q := range p.quorums {
		q.rows = 0
	}
	needed := make(map[string]bool)
	for _, t := range p.terms {
		if t.quorum != nil {
			t.quorum.rows++
		}
		for _, m := range t.members {
			needed[m] = true
		}
	}
	for _, node := range slices.Sorted(maps.Keys(needed)) { // sorted, since sessions are numbered
		if p.sessions[node] == nil {
			n, _ := st.Node(node)
			fresh = append(fresh, p.beginSession(node, n.Incarnation))
		}
	}
	for node, l := range p.sessions {
		if n, ok := st.Node(node); !ok || n.Incarnation != l.incarnation {
			p.endSession(l, "it was started again")
		}
		if !needed[node] && l.pins == 0 {
			delete(p.sessions, node)
			ended = append(ended, l)
		}
	}
	p.retireQuorums(needed)
	p.endRejectedSessions()
	return fresh, ended
}

// beginSession starts a session with a member.
func (p *primaryState) beginSession(node string, incarnation uint64) *session {
	p.lastSession++
	l := &session{node: node, incarnation: incarnation, id: p.lastSession}
	p.sessions[node] = l
	return l
}

// newestFrame returns the id of a node's session and the number of its newest frame. Of a session
// that has ended, no frame is newer than the result.
func (p *primaryState) newestFrame(node string) (session, k uint64) {
	if l := p.sessions[node]; l != nil && l.endReason == "" {
		return l.id, l.sent
	}
	return p.lastSession, ^uint64(0)
}

// markJoined records that a member has joined rows.
func (p *primaryState) markJoined(node string, ts []*rowTerm) {
	for _, t := range ts {
		t.notJoined = slices.DeleteFunc(slices.Clone(t.notJoined), func(n string) bool { return n == node })
		t.open = t.open || len(t.notJoined) == 0
	}
}

// currentTerm returns the present rowTerm of the same term; nil if the term has ended.
func (p *primaryState) currentTerm(t *rowTerm) *rowTerm {
	if now := p.termAt(t.Range.Start); now != nil && now.termState == t.termState {
		return now
	}
	return nil
}

// planCounting prepares that a learner starts or stops to count in rows.
func (p *primaryState) planCounting(rows []*rowTerm, l learner, on bool) *transition {
	u := new(transition)
	change := make(map[*rowTerm]bool, len(rows))
	for _, t := range rows {
		change[t] = true
	}
	for _, t := range p.terms {
		if change[t] {
			next := &rowTerm{Ref: t.Ref, termState: t.termState, backups: t.backups, members: slices.Clone(t.members)}
			switch {
			case on && p.rules.Enforced(rules.Count):
				next.members = append(next.members, l.node)
				slices.Sort(next.members)
				next.members = slices.Compact(next.members)
			case !on:
				next.members = slices.DeleteFunc(next.members, func(n string) bool { return n == l.node })
			}
			next.quorum = p.quorumOf(next.members)
			u.moves = append(u.moves, tapMove{t.Range, next.quorum})
			t = next
		}
		u.terms = append(u.terms, t)
	}
	return u
}
