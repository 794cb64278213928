package node

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// takeOverPause is between two attempts to end a former name of this node.
const takeOverPause = time.Second

// takeOver removes the other names under which this node's directory was registered by versions
// that did not store the name. Ranges of which only a former name has a copy lie in this directory
// and become this node's. All other ranges have copies elsewhere; the failover of the former name
// frees them.
func (c *cluster) takeOver() {
	for c.ctx.Err() == nil {
		former := c.table.State().FormerNames(c.n.id)
		if len(former) == 0 {
			return
		}
		for _, n := range former {
			if err := c.takeOverFrom(n); err != nil && c.ctx.Err() == nil {
				c.n.cfg.Logger.Info("removing a former name of this node failed, trying again", "node", c.n.id, "former", n.ID, "err", err)
			}
		}
		select {
		case <-time.After(takeOverPause):
		case <-c.ctx.Done():
		}
	}
}

func (c *cluster) takeOverFrom(n table.Node) error {
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	st := c.table.State()
	self, _ := st.Node(c.n.id)
	var rows []*table.Row
	for row := range st.Rows() {
		if row.Primary == n.ID && len(row.Backups) == 0 && !st.Emptied(row) {
			rows = append(rows, row)
		}
	}
	if len(rows) > 0 && self.Counts() {
		if err := c.recreation.recreateRows(ctx, rows, self); err != nil {
			return err
		}
		c.n.cfg.Logger.Info("took over the ranges of a former name of this node", "node", c.n.id, "former", n.ID, "ranges", describeRows(rows))
	}
	if err := c.propose(ctx, &table.Forget{Node: n.ID, Incarnation: n.Incarnation}, isNow(n.ID, table.Gone)); err != nil {
		return err
	}
	c.n.cfg.Logger.Info("removed a former name of this node", "node", c.n.id, "former", n.ID)
	if _, ok := c.members.Node(n.ID); ok {
		return c.members.Forget(n.ID)
	}
	return nil
}
