package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	leaveLogInterval  = 5 * time.Second        // between two log lines about the wait
	leavePollInterval = 100 * time.Millisecond // between two looks at the voters
	forgetTimeout     = 5 * time.Second        // for the last entry of a leaving node
)

var errStopping = errors.New("the node is being stopped")

// leave hands everything over and returns once this node has nothing left: no range, no vote, no
// row in the table and no entry in gossip. After an error the node is still leaving, also when it
// is started again.
func (c *cluster) leave(ctx context.Context) error {
	if c.abandonEntry() {
		return c.members.Leave(ctx) // no other node relies on it
	}
	if err := c.beginLeave(ctx); err != nil {
		return fmt.Errorf("leave: %w; all data stays in %s", err, c.n.cfg.Dir)
	}
	return c.finishLeave(ctx)
}

// leaveAndEnd returns once the table knows that this node leaves. When the node has nothing left,
// it asks its owner to close it. If the outcome in the table is unknown, the node leaves as soon as
// the table shows it: otherwise it would get no ranges and never end.
func (c *cluster) leaveAndEnd(ctx context.Context) error {
	if c.abandonEntry() {
		err := c.members.Leave(ctx) // no other node relies on it
		c.n.finish(nil)
		return err
	}
	err := c.beginLeave(ctx)
	if err != nil && !errors.Is(err, errLeaderLost) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return errStopping
	}
	if c.leaving {
		return err
	}
	c.leaving = true
	c.done.Go(func() {
		if !c.waitForState(c.leaveCtx, isNow(c.n.id, table.Leaving)) {
			return
		}
		switch err := c.finishLeave(c.ctx); {
		case c.leaveCtx.Err() != nil:
		case err != nil:
			c.n.cfg.Logger.Error("leaving the cluster failed", "node", c.n.id, "err", err)
		default:
			c.n.cfg.Logger.Info("handed over all data and left the cluster", "node", c.n.id)
			c.n.finish(nil)
		}
	})
	return err
}

// beginLeave has the table record that this node leaves.
func (c *cluster) beginLeave(ctx context.Context) error {
	select {
	case <-c.enteredCh:
	case <-c.n.done:
		return errors.New("the node has ended before it was in the cluster")
	case <-ctx.Done():
		return fmt.Errorf("the node is not in the cluster yet: %w", ctx.Err())
	}
	st := c.table.State()
	self, _ := st.Node(c.n.id)
	switch {
	case c.leaveCtx.Err() != nil:
		return errStopping
	case self.State == table.Leaving || self.State == table.Gone:
		return nil
	case st.Cluster().Paused && self.Role == table.Store:
		return errors.New("the moving of data is paused: RING RESUME first")
	}
	err := c.propose(ctx, &table.Leave{Node: c.n.id, Incarnation: c.incarnation}, isNow(c.n.id, table.Leaving))
	switch {
	case errors.Is(err, table.ErrNodeState): // it is already leaving
		return nil
	case errors.Is(err, table.ErrLastStore):
		return fmt.Errorf("no other node could take the data; to end this one and keep its data, stop it: %w", err)
	}
	return err
}

// finishLeave waits until a leaving node is no longer needed, and removes it from the cluster.
func (c *cluster) finishLeave(ctx context.Context) (err error) {
	log := c.n.cfg.Logger
	log.Info("leaving the cluster", "node", c.n.id)
	defer func() {
		if err != nil {
			c.withdrawing.Store(false)
		}
	}()
	for {
		if err := c.waitDrained(ctx); err != nil {
			return err
		}
		// The node is removed from the group once the table has forgotten it, and may never hear of
		// that.
		c.withdrawing.Store(true)
		err := c.forgetSelf(ctx)
		if !errors.Is(err, table.ErrCopies) {
			if err != nil && !errors.Is(err, table.ErrUnknownNode) {
				log.Warn("all data is handed over, but the table may still list this node; RING FORGET removes it", "node", c.n.id, "err", err)
			}
			return c.members.Leave(ctx)
		}
		// A copy that arrived when the node was told to leave may be admitted later, and this node
		// may not have applied that entry yet.
		c.withdrawing.Store(false)
		select {
		case <-time.After(leavePollInterval):
		case <-c.leaveCtx.Done():
		case <-ctx.Done():
			return fmt.Errorf("leave: the cluster still counts on copies of this node: %w", ctx.Err())
		}
	}
}

// forgetSelf has the table decide that this node is gone. The table refuses while the node has
// copies that count.
func (c *cluster) forgetSelf(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	_, err := c.table.Decide(ctx, &table.Forget{Node: c.n.id, Incarnation: c.incarnation})
	return err
}

// waitDrained waits until this node has no range and no vote. It logs what it waits for.
func (c *cluster) waitDrained(ctx context.Context) error {
	changes, cancel := c.table.Changes()
	defer cancel()
	look, say := time.NewTicker(leavePollInterval), time.NewTicker(leaveLogInterval)
	defer look.Stop()
	defer say.Stop()
	for {
		ranges := c.ranges()
		votes := c.table.Votes()
		if c.leaveCtx.Err() != nil { // checked after the ranges: a stop may have given them up
			return errors.New("leave: the node is being stopped; it continues to leave when it is started again")
		}
		if ranges == 0 && !votes {
			return nil
		}
		select {
		case <-changes:
		case <-look.C:
		case <-c.leaveCtx.Done():
		case <-c.n.done:
			return fmt.Errorf("leave: the node has ended: %w", cmp.Or(c.n.Err(), errStopping))
		case <-say.C:
			c.n.cfg.Logger.Info("leaving: waiting for the other nodes to take over", "node", c.n.id,
				"ranges", ranges, "keys", c.n.store.Keys(), "votes", votes, "handoffs", c.handoffStatus())
		case <-ctx.Done():
			if ranges == 0 {
				return fmt.Errorf("leave: all data is handed over, but no other node took this one's vote in time: %w", ctx.Err())
			}
			return fmt.Errorf("leave: %d ranges with about %d keys are still in %s, which is not empty (%s); the node is still leaving, and continues when it is started again: %w",
				ranges, c.n.store.Keys(), c.n.cfg.Dir, c.handoffStatus(), ctx.Err())
		}
	}
}

// ranges counts the ranges of which this node has a copy.
func (c *cluster) ranges() int {
	n := 0
	for row := range c.table.State().Rows() {
		if row.Holds(c.n.id) {
			n++
		}
	}
	return n
}

// handoffStatus describes the handoffs of this node and what they wait for.
func (c *cluster) handoffStatus() string {
	var words []string
	for _, p := range c.engine.Progress() {
		text := fmt.Sprintf("%d ranges to %s are %s", p.Ranges, p.To, p.Phase)
		if p.Waits != "" {
			text += ", waiting: " + p.Waits
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return "no handoff is planned"
	}
	return strings.Join(words, "; ")
}
