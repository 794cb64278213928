package sim

import (
	"github.com/ringside-kv/ringside/ring"
)

// Beyond these a circle is not drawn.
const (
	circleCells    = 512
	maxCircleNodes = 64
)

// A Circle shows which node has which tokens. It has cells of equal length, and a cell shows the nodes of the
// token in its middle, as places in Step.Nodes.
type Circle struct {
	Primary []int
	Backup  []int // the first; -1 for none
}

// circleOf samples a placement; nil if there are very many nodes.
func circleOf(p *ring.Placement, scene *scene) *Circle {
	if len(scene.members) > maxCircleNodes {
		return nil
	}
	column := scene.columns()
	c := &Circle{}
	for i := range circleCells {
		const length = 1 << 32 / circleCells
		row := p.Lookup(ring.Token(i*length + length/2))
		backup := -1
		if len(row.Backups) > 0 {
			backup = column[row.Backups[0]]
		}
		c.Primary, c.Backup = append(c.Primary, column[row.Primary]), append(c.Backup, backup)
	}
	return c
}
