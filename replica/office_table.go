package replica

import (
	"maps"
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

// learns notes that ranges come here by a stream.
func (o *office) learns(ranges []ring.Range) {
	o.unlearn(ranges)
	o.learned = append(o.learned, ranges...)
}

// follows notes that this node follows another in ranges. How a handoff found them says
// nothing any more then: others may be brought what this node is not.
func (o *office) follows(rows []joinRow) {
	if !o.out.apply(ruleFollowed) {
		return
	}
	ranges := make([]ring.Range, 0, len(rows))
	for i := range rows {
		ranges = append(ranges, rows[i].Range)
	}
	o.unlearn(ranges)
}

func (o *office) unlearn(ranges []ring.Range) {
	if len(o.learned) > 0 {
		all := newSpans(ranges)
		o.learned = slices.DeleteFunc(o.learned, all.touch)
	}
}

// hasLearned tells whether a range came here by a stream.
func (o *office) hasLearned(r ring.Range) bool {
	return slices.ContainsFunc(o.learned, func(l ring.Range) bool { return within(r, l) })
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

// remember notes what rows were given as those of other quorums, which go on with other
// rows perhaps.
func (o *office) remember(u *turn) {
	for _, t := range u.tenures {
		for _, was := range o.overlapping(t.Range) {
			if was.term != t.term {
				t.before = append(slices.Clip(t.before), was.before...)
			}
			if was.set != nil && was.set != t.set {
				t.before = append(slices.Clip(t.before), promise{was.set, was.set.given})
			}
		}
		t.before = slices.DeleteFunc(slices.Clone(t.before), promise.kept)
	}
}

// promises are what must be kept until all that was written in ranges is wherever it must
// be.
func (o *office) promises(ranges []ring.Range) (all []promise) {
	for _, r := range ranges {
		for _, t := range o.overlapping(r) {
			all = append(all, t.before...)
			if t.set != nil {
				all = append(all, promise{t.set, t.set.given})
			}
		}
	}
	for _, q := range o.old {
		all = append(all, promise{q, q.given})
	}
	return all
}

// opened tells whether all members of this node's rows in ranges have joined them. Before
// that they may differ, and whoever the rows go to would not know.
func (o *office) opened(ranges []ring.Range) bool {
	for _, r := range ranges {
		for _, t := range o.overlapping(r) {
			if len(t.missing) > 0 && o.out.apply(ruleOpened) {
				return false
			}
		}
	}
	return true
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

// retire puts quorums without rows aside, and forgets those who were released from all
// that they were members of.
func (o *office) retire(needed map[string]bool) {
	for names, q := range o.sets {
		if q.rows == 0 {
			delete(o.sets, names)
			o.old = append(o.old, q)
		}
	}
	for _, q := range o.old {
		q.members = slices.DeleteFunc(slices.Clone(q.members), func(m string) bool { return !needed[m] })
	}
}

// done takes out the quorums of which nothing is left.
func (o *office) done() (done []*quorum) {
	o.old = slices.DeleteFunc(o.old, func(q *quorum) bool {
		if q.given == q.acked {
			done = append(done, q)
			return true
		}
		return false
	})
	return done
}

// distrust cuts the lines of members that nobody has let join: somebody admitted them
// who did not count them first.
func (o *office) distrust() {
	for _, t := range o.tenures {
		for _, m := range t.members {
			if l := o.lines[m]; l != nil && slices.Contains(t.rejected, m) && t.open {
				o.cut(l, "it was admitted without being fed")
			}
		}
	}
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

// reject has a member released from a tenure.
func (o *office) reject(node string, t *tenure) {
	if !slices.Contains(t.rejected, node) {
		t.rejected = append(slices.Clip(t.rejected), node)
	}
}

// A dismissal is rows from which a node is to be released.
type dismissal struct {
	node string
	rows []table.Ref
}

// dismissals are those that a state still has in a set although they are not fed.
func (o *office) dismissals(st *table.State) (all []dismissal) {
	for _, t := range o.tenures {
		row, ok := st.Row(t.Range.Start)
		if !ok || row.Range != t.Range || row.Primary != o.self {
			continue
		}
		for _, b := range row.Backups {
			l := o.lines[b]
			if (l == nil || l.broken == "") && !slices.Contains(t.rejected, b) {
				continue
			}
			i := slices.IndexFunc(all, func(d dismissal) bool { return d.node == b })
			if i < 0 {
				i = len(all)
				all = append(all, dismissal{node: b})
			}
			all[i].rows = append(all[i].rows, row.Ref())
		}
	}
	return all
}
