package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
)

// leaseLongest is more than a lease lasts, with its margin, by any clock.
const leaseLongest = 3 * time.Second

// A recreateRequest asks the leader to decide a [table.Recreate].
type recreateRequest struct {
	// Holders are the nodes that have had copies.
	Holders []string `json:"holders"`
	// Command is encoded by [table.Encode].
	Command []byte `json:"command"`
}

// A recreateReply says that the command was decided, unless Refusal says why not, or Unknown that
// this is not known.
type recreateReply struct {
	Refusal string `json:"refusal,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
}

// Recreate has the leader decide that ranges are created again whose copies are at nodes that are
// away. The error is table.ErrNoLeader if no leader is known, table.ErrUnknownOutcome if the command
// may have been decided, and otherwise says why it was not.
//
// Invariant: none of the holders answers for a range once another node can. From before the
// command is proposed until its outcome is applied at the leader, it grants the holders no lease,
// and their earlier ones are over. A lease that it grants later counts only at a node that knows
// the new lineage.
func (e *Engine) Recreate(ctx context.Context, holders []string, command *table.Recreate) error {
	leader, isSelf := e.lease.Cfg.Consensus.Leader()
	switch {
	case leader == "":
		return table.ErrNoLeader
	case isSelf:
		return e.leaseServer.recreate(ctx, holders, command)
	}
	var reply recreateReply
	request := recreateRequest{holders, table.Encode(command)}
	err := e.ask(ctx, leader, questionRecreate, &request, &reply)
	switch {
	case err != nil:
		return fmt.Errorf("%w: asking %s, which leads: %w", table.ErrUnknownOutcome, leader, err)
	case reply.Unknown:
		return fmt.Errorf("%w: %s", table.ErrUnknownOutcome, reply.Refusal)
	case reply.Refusal != "":
		return errors.New(reply.Refusal)
	}
	return nil
}

// answerRecreate answers the request of another node.
func (e *Engine) answerRecreate(ctx context.Context, r *recreateRequest) (reply recreateReply) {
	command, err := table.Decode(r.Command)
	again, ok := command.(*table.Recreate)
	if err == nil && !ok {
		err = errors.New("the command is no recreation")
	}
	if err == nil {
		err = e.leaseServer.recreate(ctx, r.Holders, again)
	}
	if err != nil {
		reply = recreateReply{err.Error(), errors.Is(err, table.ErrUnknownOutcome)}
	}
	return reply
}

// recreate is Recreate on the leader.
func (o *leaseServer) recreate(ctx context.Context, holders []string, command *table.Recreate) error {
	if _, isSelf := o.e.lease.Cfg.Consensus.Leader(); !isSelf {
		return lease.ErrNotLeader
	}
	term, err := o.confirm(ctx)
	if err != nil {
		return fmt.Errorf("the leader is not confirmed: try again: %w", err)
	}
	if err := o.holdLeases(holders, term); err != nil {
		return err
	}
	outcome := make(chan error, 1)
	o.e.done.Go(func() {
		o.e.reached(step.RecreationHeld)
		err := o.e.lease.Cfg.Consensus.ApplyIn(o.e.ctx, term, command)
		if err != nil && !table.IsRefused(err) {
			_ = o.waitForOutcome(o.e.ctx, term)
		}
		o.mu.Lock()
		for _, node := range holders {
			o.granter.EndReplacement(node, term)
		}
		o.mu.Unlock()
		outcome <- err
	})
	select {
	case err := <-outcome:
		switch {
		case errors.Is(err, table.ErrTerm):
			return errors.New("the leader has changed: try again")
		case err != nil && !table.IsRefused(err) && !errors.Is(err, table.ErrUnknownOutcome):
			return fmt.Errorf("%w: %w", table.ErrUnknownOutcome, err)
		}
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", table.ErrUnknownOutcome, context.Cause(ctx))
	}
}

// holdLeases withholds leases from nodes that can have none now, in a term.
func (o *leaseServer) holdLeases(nodes []string, term uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	g, now := &o.granter, o.e.lease.Cfg.Clock()
	if o.closed || g.Term != term {
		return lease.ErrNotLeader
	}
	g.NoteAwake(now)
	for _, node := range nodes {
		if g.Replacing[node] || g.Silence(node, now) < leaseLongest {
			return fmt.Errorf("%s may still be answering clients: try again in a few seconds", node)
		}
	}
	for _, node := range nodes {
		g.BeginReplacement(node)
	}
	return nil
}
