package replica

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

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
