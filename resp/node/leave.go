package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	leaveLogInterval  = 5 * time.Second        // between two log lines about the wait
	leavePollInterval = 100 * time.Millisecond // between two looks at the voters
	forgetTimeout     = 5 * time.Second        // for the last entry of a leaving node
)

var errStopping = errors.New("the node is being stopped")

// departure is how the node leaves its cluster.
type departure struct {
	c       *cluster
	leaving bool // the node is handing over its data and ends then; guarded by cluster.mu

	// withdrawing reports that the node has sent its own Forget, as the last step of a leave or as
	// a proxy that stops. It may hear nothing more of the group then. A failed leave resets it.
	withdrawing atomic.Bool

	// leaveCtx ends when the node is being stopped: ranges handed over after that belong to no
	// leave, and the leave continues at the next start.
	leaveCtx  context.Context
	endLeaves context.CancelFunc
}

// leave hands everything over and returns once this node has nothing left: no range, no vote, no
// row in the table and no entry in gossip. After an error the node is still leaving, also when it
// is started again.
func (dp *departure) leave(ctx context.Context) error {
	if dp.c.entry.abandonEntry() {
		return dp.c.members.Leave(ctx) // no other node relies on it
	}
	if err := dp.beginLeave(ctx); err != nil {
		return fmt.Errorf("leave: %w; all data stays in %s", err, dp.c.n.cfg.Dir)
	}
	return dp.finishLeave(ctx)
}

// leaveAndEnd returns once the table knows that this node leaves. When the node has nothing left,
// it asks its owner to close it. If the outcome in the table is unknown, the node leaves as soon as
// the table shows it: otherwise it would get no ranges and never end.
func (dp *departure) leaveAndEnd(ctx context.Context) error {
	if dp.c.entry.abandonEntry() {
		err := dp.c.members.Leave(ctx) // no other node relies on it
		dp.c.n.finish(nil)
		return err
	}
	err := dp.beginLeave(ctx)
	if err != nil && !errors.Is(err, errLeaderLost) {
		return err
	}
	dp.c.mu.Lock()
	defer dp.c.mu.Unlock()
	if dp.c.ctx.Err() != nil {
		return errStopping
	}
	if dp.leaving {
		return err
	}
	dp.leaving = true
	dp.c.done.Go(func() {
		if !dp.c.waitForState(dp.leaveCtx, isNow(dp.c.n.id, table.Leaving)) {
			return
		}
		switch err := dp.finishLeave(dp.c.ctx); {
		case dp.leaveCtx.Err() != nil:
		case err != nil:
			dp.c.n.cfg.Logger.Error("leaving the cluster failed", "node", dp.c.n.id, "err", err)
		default:
			dp.c.n.cfg.Logger.Info("handed over all data and left the cluster", "node", dp.c.n.id)
			dp.c.n.finish(nil)
		}
	})
	return err
}

// hasLeft reports whether a node leaves the cluster or has left it, by the table.
func (n *Node) hasLeft(id string) bool {
	c := n.part.Load()
	if c == nil {
		return false
	}
	node, known := c.table.State().Node(id)
	return known && (node.State == table.Leaving || node.State == table.Gone)
}

// beginLeave has the table record that this node leaves.
func (dp *departure) beginLeave(ctx context.Context) error {
	if !dp.c.entry.entered.Load() { // of several channels that are ready, select takes any
		select {
		case <-dp.c.entry.enteredCh:
		case <-dp.c.n.done:
			return errors.New("the node has ended before it was in the cluster")
		case <-ctx.Done():
			return fmt.Errorf("the node is not in the cluster yet: %w", ctx.Err())
		}
	}
	st := dp.c.table.State()
	self, _ := st.Node(dp.c.n.id)
	switch {
	case dp.leaveCtx.Err() != nil:
		return errStopping
	case self.State == table.Leaving || self.State == table.Gone:
		return nil
	case st.Cluster().Paused && self.Role == table.Store:
		return errors.New("the moving of data is paused: RING RESUME first")
	}
	err := dp.c.propose(ctx, &table.Leave{Node: dp.c.n.id, Incarnation: dp.c.incarnation}, isNow(dp.c.n.id, table.Leaving))
	switch {
	case errors.Is(err, table.ErrNodeState): // it is already leaving
		return nil
	case errors.Is(err, table.ErrLastStore):
		return fmt.Errorf("no other node could take the data; to end this one and keep its data, stop it: %w", err)
	}
	return err
}

// finishLeave waits until a leaving node is no longer needed, and removes it from the cluster.
func (dp *departure) finishLeave(ctx context.Context) (err error) {
	log := dp.c.n.cfg.Logger
	log.Info("leaving the cluster", "node", dp.c.n.id)
	defer func() {
		if err != nil {
			dp.withdrawing.Store(false)
		}
	}()
	for {
		if err := dp.waitDrained(ctx); err != nil {
			return err
		}
		// The node is removed from the group once the table has forgotten it, and may never hear of
		// that.
		dp.withdrawing.Store(true)
		err := dp.forgetSelf(ctx)
		if !errors.Is(err, table.ErrCopies) {
			if err != nil && !errors.Is(err, table.ErrUnknownNode) {
				log.Warn("all data is handed over, but the table may still list this node; RING FORGET removes it", "node", dp.c.n.id, "err", err)
			}
			return dp.c.members.Leave(ctx)
		}
		// A copy that arrived when the node was told to leave may be admitted later, and this node
		// may not have applied that entry yet.
		dp.withdrawing.Store(false)
		select {
		case <-time.After(leavePollInterval):
		case <-dp.leaveCtx.Done():
		case <-ctx.Done():
			return fmt.Errorf("leave: the cluster still counts on copies of this node: %w", ctx.Err())
		}
	}
}

// forgetSelf has the table decide that this node is gone. The table refuses while the node has
// copies that count.
func (dp *departure) forgetSelf(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	_, err := dp.c.table.Decide(ctx, &table.Forget{Node: dp.c.n.id, Incarnation: dp.c.incarnation})
	return err
}

// waitDrained waits until this node has no range and no vote. It logs what it waits for.
func (dp *departure) waitDrained(ctx context.Context) error {
	changes, cancel := dp.c.table.Changes()
	defer cancel()
	look, say := time.NewTicker(leavePollInterval), time.NewTicker(leaveLogInterval)
	defer look.Stop()
	defer say.Stop()
	for {
		ranges := dp.c.ranges()
		votes := dp.c.table.Votes()
		if dp.leaveCtx.Err() != nil { // checked after the ranges: a stop may have given them up
			return errors.New("leave: the node is being stopped; it continues to leave when it is started again")
		}
		if ranges == 0 && !votes {
			return nil
		}
		select {
		case <-changes:
		case <-look.C:
		case <-dp.leaveCtx.Done():
		case <-dp.c.n.done:
			return fmt.Errorf("leave: the node has ended: %w", cmp.Or(dp.c.n.Err(), errStopping))
		case <-say.C:
			dp.c.n.cfg.Logger.Info("leaving: waiting for the other nodes to take over", "node", dp.c.n.id,
				"ranges", ranges, "keys", dp.c.n.store.Keys(), "votes", votes, "handoffs", dp.c.handoffStatus())
		case <-ctx.Done():
			if ranges == 0 {
				return fmt.Errorf("leave: all data is handed over, but no other node took this one's vote in time: %w", ctx.Err())
			}
			return fmt.Errorf("leave: %d ranges with about %d keys are still in %s, which is not empty (%s); the node is still leaving, and continues when it is started again: %w",
				ranges, dp.c.n.store.Keys(), dp.c.n.cfg.Dir, dp.c.handoffStatus(), ctx.Err())
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
