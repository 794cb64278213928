package node

import (
	"context"
	"fmt"

	"github.com/ringside-kv/ringside/replica/table"
)

// leave hands everything over and returns once this node has nothing left.
func (c *cluster) leave(ctx context.Context) error {
	if _, err := c.table.Apply(ctx, &table.Leave{Node: c.n.id, Incarnation: c.incarnation}); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	changes, cancel := c.table.Changes()
	defer cancel()
	for {
		ranges := 0
		for row := range c.table.State().Rows() {
			if row.Holds(c.n.id) {
				ranges++
			}
		}
		if ranges == 0 {
			return c.members.Leave(ctx)
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return fmt.Errorf("leave: %d ranges have stayed: %w", ranges, ctx.Err())
		}
	}
}
