package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	leaveSay   = 5 * time.Second        // between two lines about what is waited for
	leaveLook  = 100 * time.Millisecond // between two looks at who votes
	forgetTime = 5 * time.Second        // for the last entry of a node that has nothing left
)

// leave hands everything over and returns once this node has nothing left: no range,
// no vote, no place in the table and none in the gossip. What was begun goes on after
// an error: a node that is leaving stays so, also when it is started again.
func (c *cluster) leave(ctx context.Context) error {
	if c.giveUp() {
		return c.members.Leave(ctx) // nobody counts on it
	}
	select {
	case <-c.inside:
	case <-c.n.done:
		return errors.New("leave: the node has ended before it was in the cluster")
	case <-ctx.Done():
		return fmt.Errorf("leave: the node is not in the cluster yet: %w", ctx.Err())
	}
	log := c.n.cfg.Logger
	_, err := c.table.Apply(ctx, &table.Leave{Node: c.n.id, Incarnation: c.incarnation})
	if errors.Is(err, table.ErrUnknownNode) {
		return c.members.Leave(ctx) // an earlier try went as far as the table
	}
	if err != nil && !errors.Is(err, table.ErrNodeState) {
		return fmt.Errorf("leave: %w; all data stays in %s", err, c.n.cfg.Dir)
	}
	log.Info("leaving the cluster", "node", c.n.id)
	if err := c.drained(ctx); err != nil {
		return err
	}
	// The node may be put out of the group before it hears that the table has forgotten
	// it, so it does not wait for that.
	forget, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	if _, err := c.table.Apply(forget, &table.Forget{Node: c.n.id, Incarnation: c.incarnation}); err != nil {
		log.Warn("everything is handed over, but the table may go on to list this node; RING FORGET removes it", "node", c.n.id, "err", err)
	}
	return c.members.Leave(ctx)
}

// drained waits until this node has no range and no vote, and says what it waits for.
func (c *cluster) drained(ctx context.Context) error {
	changes, cancel := c.table.Changes()
	defer cancel()
	look, say := time.NewTicker(leaveLook), time.NewTicker(leaveSay)
	defer look.Stop()
	defer say.Stop()
	for {
		ranges := c.ranges()
		votes := c.table.Votes()
		if ranges == 0 && !votes {
			return nil
		}
		select {
		case <-changes:
		case <-look.C:
		case <-say.C:
			c.n.cfg.Logger.Info("leaving: waiting for the other nodes to take over", "node", c.n.id,
				"ranges", ranges, "keys", c.n.store.Keys(), "votes", votes)
		case <-ctx.Done():
			if ranges == 0 {
				return fmt.Errorf("leave: all data is handed over, but no other node took this one's vote in time: %w", ctx.Err())
			}
			return fmt.Errorf("leave: %d ranges with about %d keys have stayed in %s, which is not empty; the node is still leaving, and goes on when it is started again: %w",
				ranges, c.n.store.Keys(), c.n.cfg.Dir, ctx.Err())
		}
	}
}

// ranges counts those of which this node has a copy.
func (c *cluster) ranges() int {
	n := 0
	for row := range c.table.State().Rows() {
		if row.Holds(c.n.id) {
			n++
		}
	}
	return n
}
