package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// leaveReport is how often the log says what a node that leaves waits for.
	leaveReport = 5 * time.Second
	// leavePoll is how often it looks at what no change of the table tells.
	leavePoll = 100 * time.Millisecond
	// forgetTimeout bounds the last entry about a node that leaves. It may be put out
	// of the group before it hears of it.
	forgetTimeout = 3 * time.Second
)

// leave hands everything over and returns once this node has nothing left, neither
// data nor a vote, and the others know that it is gone.
func (c *cluster) leave(ctx context.Context) error {
	if err := c.beginLeave(ctx); err != nil {
		return err
	}
	return c.drain(ctx)
}

// leaveAndEnd begins to leave, and has the node closed when that is done.
func (c *cluster) leaveAndEnd(ctx context.Context) error {
	if err := c.beginLeave(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return errors.New("leave: the node is being stopped")
	}
	if c.drains {
		return nil
	}
	c.drains = true
	c.done.Go(func() {
		err := c.drain(c.ctx)
		switch {
		case c.ctx.Err() != nil:
		case err != nil:
			c.n.cfg.Logger.Error("leave", "node", c.n.id, "err", err)
		default:
			c.n.finish(nil)
		}
	})
	return nil
}

// beginLeave has the table say that this node leaves.
func (c *cluster) beginLeave(ctx context.Context) error {
	st := c.table.State()
	self, _ := st.Node(c.n.id)
	switch {
	case self.State == table.Leaving || self.State == table.Gone:
		return nil
	case st.Cluster().Paused:
		return errors.New("leave: the moving of data is paused: RING RESUME first")
	}
	_, err := c.table.Apply(ctx, &table.Leave{Node: c.n.id, Incarnation: c.incarnation})
	switch {
	case errors.Is(err, table.ErrLastStore):
		return errors.New("leave: no other node could take the data; to end this one and keep its data, stop it")
	case errors.Is(err, table.ErrUnknownOutcome):
		if self, _ := c.table.State().Node(c.n.id); self.State == table.Leaving {
			return nil
		}
		fallthrough
	case err != nil:
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// drain waits until this node, which leaves, is not needed any more.
func (c *cluster) drain(ctx context.Context) error {
	changes, cancel := c.table.Changes()
	defer cancel()
	poll, report := time.NewTicker(leavePoll), time.NewTicker(leaveReport)
	defer poll.Stop()
	defer report.Stop()
	c.n.cfg.Logger.Info("leaving", "node", c.n.id)
	for {
		stays := c.stays()
		if stays == "" {
			break
		}
		select {
		case <-changes:
		case <-poll.C:
		case <-report.C:
			c.n.cfg.Logger.Info("leaving", "node", c.n.id, "waits", stays)
		case <-ctx.Done():
			return fmt.Errorf("leave: %s: %w", stays, context.Cause(ctx))
		}
	}
	c.beGone(ctx)
	if err := c.members.Leave(ctx); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	c.n.cfg.Logger.Info("left the cluster", "node", c.n.id)
	return nil
}

// stays says what keeps this node in the cluster; empty if nothing does.
func (c *cluster) stays() string {
	st := c.table.State()
	var words []string
	ranges := 0
	for row := range st.Rows() {
		if row.Holds(c.n.id) {
			ranges++
		}
	}
	if ranges > 0 {
		words = append(words, fmt.Sprintf("%d ranges are still here", ranges))
		for _, p := range c.engine.Progress() {
			text := fmt.Sprintf("%d of them go to %s (%s)", p.Ranges, p.To, p.Phase)
			if p.Waits != "" {
				text += ", which waits: " + p.Waits
			}
			words = append(words, text)
		}
		if st.Cluster().Paused {
			words = append(words, "the moving of data is paused (RING RESUME)")
		}
	} else if slices.ContainsFunc(st.Handoffs(), func(h *table.Handoff) bool { return h.From == c.n.id }) {
		words = append(words, "the last handoff is not closed yet")
	}
	if slices.Contains(c.table.Voters(), c.n.id) {
		words = append(words, "its vote has not passed to another node yet")
	}
	return strings.Join(words, "; ")
}

// beGone has the table say that this node is gone. Should that fail, the node is still
// known as one that leaves, has nothing, and can be forgotten by hand.
func (c *cluster) beGone(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	_, err := c.table.Apply(ctx, &table.Forget{Node: c.n.id, Incarnation: c.incarnation})
	if err != nil && !errors.Is(err, table.ErrUnknownNode) {
		c.n.cfg.Logger.Warn("leave: the others may have to forget this node: RING FORGET", "node", c.n.id, "err", err)
	}
}
