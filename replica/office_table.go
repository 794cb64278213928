package replica

import (
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// staff brings a term in line with whose word is needed from now on.
func (t *tenure) staff(was *tenure) {
	if was != nil && was.term == t.term {
		// Who is in the set without having counted is waited for, in vain, until it is
		// released.
		for _, m := range t.members {
			counts := slices.ContainsFunc(t.counted, func(l learner) bool { return l.node == m })
			if !slices.Contains(was.members, m) && !counts {
				t.missing = append(slices.Clip(t.missing), m)
				t.rejected = append(slices.Clip(t.rejected), m)
			}
		}
	}
	gone := func(n string) bool { return !slices.Contains(t.members, n) }
	t.counted = slices.DeleteFunc(slices.Clone(t.counted), func(l learner) bool { return gone(l.node) || slices.Contains(t.backups, l.node) })
	t.missing = slices.DeleteFunc(slices.Clone(t.missing), gone)
	t.rejected = slices.DeleteFunc(slices.Clone(t.rejected), gone)
	t.open = t.open || len(t.missing) == 0
}

// take makes a turn the office's state, at the moment when its moves are made. It
// returns the lines that are needed and not there, which begin a session, and those
// that are not needed any more.
func (o *office) take(u *turn, st *table.State) (fresh, ended []*line) {
	for _, t := range u.tenures {
		t.staff(o.tenureAt(t.Range.Start))
	}
	o.remember(u)
	before := o.tenures
	o.tenures = u.tenures
	for _, was := range before {
		if q := was.set; q != nil && q.given != q.acked && o.min > 1 {
			if now := o.tenureAt(was.Range.Start); now == nil || now.set != q || now.Range != was.Range {
				q.left = append(q.left, was.Range)
			}
		}
	}
	for _, q := range o.sets {
		q.rows = 0
	}
	needed := make(map[string]bool)
	for _, t := range o.tenures {
		if t.set != nil {
			t.set.rows++
		}
		for _, m := range t.members {
			needed[m] = true
		}
	}
	for _, node := range slices.Sorted(maps.Keys(needed)) { // sessions are numbered
		if o.lines[node] == nil {
			n, _ := st.Node(node)
			fresh = append(fresh, o.begin(node, n.Incarnation))
		}
	}
	for node, l := range o.lines {
		if n, ok := st.Node(node); !ok || n.Incarnation != l.incarnation {
			o.cut(l, "it was started again")
		}
		if !needed[node] && l.pinned == 0 {
			delete(o.lines, node)
			ended = append(ended, l)
		}
	}
	o.retire(needed)
	o.distrust()
	return fresh, ended
}

// begin starts a session with a member.
func (o *office) begin(node string, incarnation uint64) *line {
	o.sessions++
	l := &line{node: node, incarnation: incarnation, session: o.sessions}
	o.lines[node] = l
	return l
}

// newest is the newest frame to a node, by its session and number. Of a session that is
// over none is newer than any.
func (o *office) newest(node string) (session, k uint64) {
	if l := o.lines[node]; l != nil && l.broken == "" {
		return l.session, l.sent
	}
	return o.sessions, ^uint64(0)
}

// joined notes that a member has joined some tenures.
func (o *office) joined(node string, ts []*tenure) {
	for _, t := range ts {
		t.missing = slices.DeleteFunc(slices.Clone(t.missing), func(n string) bool { return n == node })
		t.open = t.open || len(t.missing) == 0
	}
}

// current finds the tenure of the same term, if it has not ended.
func (o *office) current(t *tenure) *tenure {
	if now := o.tenureAt(t.Range.Start); now != nil && now.term == t.term {
		return now
	}
	return nil
}

// recount prepares that a learner counts in some rows, or does not any more.
func (o *office) recount(rows []*tenure, l learner, on bool) *turn {
	u := new(turn)
	change := make(map[*tenure]bool, len(rows))
	for _, t := range rows {
		change[t] = true
	}
	for _, t := range o.tenures {
		if change[t] {
			next := &tenure{Ref: t.Ref, term: t.term, backups: t.backups, members: slices.Clone(t.members)}
			switch {
			case on && o.out.apply(ruleCount):
				next.members = append(next.members, l.node)
				slices.Sort(next.members)
				next.members = slices.Compact(next.members)
			case !on:
				next.members = slices.DeleteFunc(next.members, func(n string) bool { return n == l.node })
			}
			next.set = o.quorumOf(next.members)
			u.moves = append(u.moves, move{t.Range, next.set})
			t = next
		}
		u.tenures = append(u.tenures, t)
	}
	return u
}
