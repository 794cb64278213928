package placement

import (
	"math"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// SetChanges returns how often a backup left a range that a node serves in both of two placements, or came to one.
func SetChanges(old, now *ring.Placement, self string) (left, came int64) {
	for row := range now.Rows() {
		was := old.Lookup(row.Range.Start)
		if row.Primary != self || was.Primary != self || was.Range != row.Range {
			continue
		}
		for _, b := range was.Backups {
			if !slices.Contains(row.Backups, b) {
				left++
			}
		}
		for _, b := range row.Backups {
			if !slices.Contains(was.Backups, b) {
				came++
			}
		}
	}
	return left, came
}

// Names reports whether a placement names a node as one of a range.
func Names(p *ring.Placement, node string) bool {
	for row := range p.Rows() {
		if row.Holds(node) || slices.Contains(row.Learners, node) {
			return true
		}
	}
	return false
}

// BackupsOf returns the nodes that are backups of a node's ranges, in the order of their ids.
func BackupsOf(p *ring.Placement, self string) (nodes []string) {
	for row := range p.Rows() {
		if row.Primary == self {
			nodes = append(nodes, row.Backups...)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// Synced returns 1 if the primaries of the ranges for which of is true have flushed their logs, else 0, and how many
// backups have, in the range that has fewest.
func Synced(p *ring.Placement, of func(ring.Range) bool, has func(node string) bool) (primaries, backups int) {
	primaries, backups = 1, math.MaxInt
	for row := range p.Rows() {
		if !of(row.Range) {
			continue
		}
		n := 0
		for _, id := range row.Backups {
			if has(id) {
				n++
			}
		}
		if backups = min(backups, n); !has(row.Primary) {
			primaries = 0
		}
	}
	return primaries, backups
}
