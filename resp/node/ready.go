package node

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/replica/members"
)

// ready tells probes whether the node may get clients: once it is in its cluster and
// has seen somebody there to serve each range. A node that becomes unreachable later
// takes its ranges with it, but no other node out of service: those answer for theirs,
// so from then on it is only noted.
func (c *cluster) ready() (note string, err error) {
	if !c.entered.Load() {
		return "", errors.New("not in a cluster yet")
	}
	ranges, orphans := c.orphans()
	if orphans == 0 {
		c.complete.Store(true)
		return "", nil
	}
	text := fmt.Sprintf("%d of %d ranges have nobody to serve them", orphans, ranges)
	if !c.complete.Load() {
		return "", errors.New(text)
	}
	return text, nil
}

// orphans counts the ranges whose primary is not there.
func (c *cluster) orphans() (ranges, orphans int) {
	alive := make(map[string]bool)
	for _, m := range c.members.Nodes() {
		alive[m.ID] = m.Status == members.Alive
	}
	for row := range c.table.State().Rows() {
		ranges++
		if !alive[row.Primary] || row.Primary == c.n.id && row.Incarnation != c.incarnation {
			orphans++
		}
	}
	return ranges, orphans
}
