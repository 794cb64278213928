package buckets

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Overrides apply to whole buckets: a bucket that lies in one is served by its node, and quotas follow.
// So the balance has nothing to even when a hot bucket moves: its receiver may have one more, its home
// one less.

// projected returns the present placement as if all overrides had been carried out.
func projected(in ring.Input) *ring.Placement {
	if in.Present == nil || len(in.Overrides) == 0 {
		return in.Present
	}
	rows, zones := make([]ring.Row, 0, in.Present.Len()), ring.ZonesOf(in.Members)
	for row := range in.Present.Rows() {
		is := *row
		is.Learners = nil
		if o := ring.OverrideOf(in.Overrides, row.Range); o != nil && isMember(in.Members, o.Node) && is.Primary != "" {
			is.Promote(o.Node, zones)
			if at := slices.Index(is.Backups, o.Home); at >= 0 && len(is.Backups) >= in.Copies() {
				is.Backups = slices.Delete(slices.Clone(is.Backups), at, at+1) // it has a copy until the handoff is over
			}
		}
		rows = append(rows, is)
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		panic("buckets: a placement with overrides is none: " + err.Error())
	}
	return p
}

// overridden applies the overrides to the rows of a desired placement.
func overridden(rows []ring.Row, in ring.Input) []ring.Row {
	zones := ring.ZonesOf(in.Members)
	for i := range rows {
		if o := ring.OverrideOf(in.Overrides, rows[i].Range); o != nil && isMember(in.Members, o.Node) {
			rows[i].Promote(o.Node, zones)
		}
	}
	return rows
}

func isMember(members []ring.Member, id string) bool {
	return slices.ContainsFunc(members, func(m ring.Member) bool { return m.ID == id })
}

// A shift is by how many buckets overrides change the quotas of members.
type shift struct{ held, serves []int }

func newShift(members []ring.Member, all []bucket, overrides []ring.Override) shift {
	s := shift{make([]int, len(members)), make([]int, len(members))}
	if len(overrides) == 0 {
		return s
	}
	place := placesOf(members)
	for i := range all {
		o := ring.OverrideOf(overrides, all[i].Range())
		if o == nil {
			continue
		}
		node, isMember := place[o.Node]
		home, isThere := place[o.Home]
		if !isMember || !isThere {
			continue
		}
		s.serves[node]++
		s.serves[home]--
		if !slices.Contains(all[i].had, home) {
			s.held[node]++
			s.held[home]--
		}
	}
	return s
}

// apply shifts exact quotas of so many buckets, unless one would then be out of its bounds: members have
// joined or left since, and the overrides are of another cluster.
func (s shift) apply(exact []float64, buckets int) {
	for i, n := range s.held {
		if to := exact[i] + float64(n); to < 0 || to > float64(buckets) {
			return
		}
	}
	for i, n := range s.held {
		exact[i] += float64(n)
	}
}
