package ring

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxOverrides bounds the overrides of a cluster.
const MaxOverrides = 1024

// An Override gives a range to another primary than the strategy does, to even the load.
type Override struct {
	Range Range
	// Node is to be the primary, as long as it is a member.
	Node string
	// Home is the primary that the strategy had chosen. Under a strategy with quotas, the quota of
	// Node grows by the range and that of Home shrinks, so that Home gets nothing in its place.
	Home string
}

// CheckOverrides returns what is wrong with overrides, which have to be ordered by Range.Start.
func CheckOverrides(all []Override) error {
	if len(all) > MaxOverrides {
		return fmt.Errorf("%w: %d overrides, %d are allowed", ErrOverrides, len(all), MaxOverrides)
	}
	for i := range all {
		o := &all[i]
		for _, node := range []string{o.Node, o.Home} {
			if err := validateID(node); err != nil {
				return fmt.Errorf("%w: %v: %w", ErrOverrides, o.Range, err)
			}
		}
		next := &all[(i+1)%len(all)]
		switch {
		case o.Node == o.Home:
			return fmt.Errorf("%w: %v is given from %s to itself", ErrOverrides, o.Range, o.Node)
		case len(all) == 1:
		case i+1 < len(all) && o.Range.Start >= next.Range.Start:
			return fmt.Errorf("%w: %v and %v are out of order", ErrOverrides, o.Range, next.Range)
		case o.Range.Start == o.Range.End || o.Range.Contains(next.Range.Start):
			return fmt.Errorf("%w: %v and %v overlap", ErrOverrides, o.Range, next.Range)
		}
	}
	return nil
}

// overrides finds the override of a token. They are ordered, and disjoint.
type overrides []Override

// at returns the override of a token, nil if there is none, and the number of tokens up to its end or,
// without one, up to the next override.
func (all overrides) at(t Token) (*Override, uint64) {
	i, found := slices.BinarySearchFunc(all, t, func(o Override, t Token) int { return cmp.Compare(o.Range.Start, t) })
	if !found {
		i = (i + len(all) - 1) % len(all) // the last one may wrap
	}
	if o := &all[i]; o.Range.Contains(t) {
		return o, o.Range.Len() - uint64(t-o.Range.Start)
	}
	return nil, uint64(all[(i+1)%len(all)].Range.Start - t)
}

// Overridden returns a desired placement with overrides applied. Rows are cut at their bounds. A backup that
// becomes the primary changes places with it; any other node takes the place of a backup in its zone, if there
// is one, or of the primary.
func Overridden(desired, present *Placement, all []Override, members []Member) (*Placement, error) {
	if len(all) == 0 {
		return desired, nil
	}
	there, zones := memberSet(members), ZonesOf(members)
	rows := make([]Row, 0, len(desired.rows)+2*len(all))
	for _, row := range desired.rows {
		for at, left := row.Range.Start, row.Range.Len(); left > 0; {
			o, n := overrides(all).at(at)
			n = min(n, left)
			piece := row
			if n < row.Range.Len() {
				piece.Range = Range{at, at + Token(n)}
			}
			if o != nil && there[o.Node] {
				piece.Promote(o.Node, zones)
			}
			rows = append(rows, piece)
			at, left = at+Token(n), left-n
		}
	}
	p, err := Succeed(present, rows)
	if err != nil {
		return nil, err
	}
	return p.WithSeats(desired.seats), nil
}

// OverrideOf returns the override that a range lies in as a whole, nil if there is none.
func OverrideOf(all []Override, r Range) *Override {
	if len(all) == 0 {
		return nil
	}
	if o, n := overrides(all).at(r.Start); o != nil && n >= r.Len() {
		return o
	}
	return nil
}

// Promote makes a node the primary. If it is a backup, the primary takes its place there; otherwise the
// primary loses its copy, or a backup in the zone of the node, which would be the second copy there. The row
// may share its slices with others.
func (r *Row) Promote(node string, zones *Zones) {
	if r.Primary == node || r.Primary == "" {
		return
	}
	r.Backups = slices.Clone(r.Backups)
	if !r.Holds(node) && !zones.Share(node, r.Primary) {
		if at := slices.IndexFunc(r.Backups, func(b string) bool { return zones.Share(node, b) }); at >= 0 {
			r.Backups[at] = node
		}
	}
	if at := slices.Index(r.Backups, node); at >= 0 {
		r.Backups[at] = r.Primary
	}
	r.Primary = node
}

func memberSet(members []Member) map[string]bool {
	there := make(map[string]bool, len(members))
	for i := range members {
		there[members[i].ID] = true
	}
	return there
}
