package node

import (
	"context"
	"errors"
)

// resign lets others take over what this node does before it stops: its ranges that have
// backups, its places in the sets of others, and the lead of the table. It takes at most
// half of the time there is to stop, which is then left to the commands that are running.
func (c *cluster) resign(ctx context.Context) {
	// Before anything is given up: a leave that took this for its own end would have the table
	// forget a node that is started again.
	c.departure.endLeaves()
	cfg := &c.n.cfg
	if !c.entry.entered.Load() || cfg.Role != RoleStore {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.StopTimeout/2)
	defer cancel()
	before := c.engine.Totals().Promoted
	err := c.engine.Resign(ctx, c.alive)
	if promoted := c.engine.Totals().Promoted - before; promoted > 0 {
		cfg.Logger.Info("backups have become primaries of this node's ranges", "node", c.n.id, "ranges", promoted)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		cfg.Logger.Warn("some ranges of this node did not get another primary in time: they wait until its lease expires", "node", c.n.id, "ranges", c.ranges())
	case err != nil:
		cfg.Logger.Warn("handing the ranges to backups failed", "node", c.n.id, "err", err)
	}
	if err := c.table.TransferLeadership(ctx); err != nil {
		cfg.Logger.Info("transferring the leadership failed: the other nodes elect a leader after a timeout", "node", c.n.id, "err", err)
	}
}
