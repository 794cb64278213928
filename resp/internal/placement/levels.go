package placement

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// Levels are what a node has of the placement, in ranges.
type Levels struct{ Primaries, Backups, Pending int }

// LevelsOf returns what a node has.
func LevelsOf(p *ring.Placement, node string) (l Levels) {
	for row := range p.Rows() {
		switch {
		case row.Primary == node:
			l.Primaries++
			l.Pending += len(row.Learners)
		case slices.Contains(row.Backups, node):
			l.Backups++
		case slices.Contains(row.Learners, node):
			l.Pending++
		}
	}
	return l
}
