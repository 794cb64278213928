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
	column := make(map[string]int, len(scene.members))
	for i, m := range scene.members {
		column[m.ID] = i
	}
	c := &Circle{}
	for i := range circleCells {
		const length = 1 << 32 / circleCells
		primary, backup := -1, -1
		k := 0
		for node := range p.Lookup(ring.Token(i*length + length/2)).Copies() {
			switch k++; k {
			case 1:
				primary = column[node]
			case 2:
				backup = column[node]
			}
		}
		c.Primary, c.Backup = append(c.Primary, primary), append(c.Backup, backup)
	}
	return c
}
