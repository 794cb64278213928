package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// fenceTimeout bounds a question to a member. A member without a reply leaves the set, so it is
	// longer than a short stall.
	fenceTimeout = time.Second
)

// superviseLeases replaces nodes whose lease has expired, while this node leads.
func (o *leaseServer) superviseLeases(ctx context.Context) {
	tick := time.NewTicker(lease.SuperviseInterval)
	defer tick.Stop()
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, self := o.e.lease.Cfg.Consensus.Leader(); !self {
			o.mu.Lock()
			o.granter.EndTerm()
			o.mu.Unlock()
			continue
		}
		for _, v := range o.dueFailovers() {
			running.Go(func() { o.failOver(ctx, v) })
		}
	}
}

// A failoverTarget is a start of a node to be replaced in a Raft term.
type failoverTarget struct {
	lease.NodeStart
	term uint64
}

// dueFailovers returns the starts whose failover begins now. They get no grant from now on.
func (o *leaseServer) dueFailovers() []failoverTarget {
	o.mu.Lock()
	defer o.mu.Unlock()
	g, now := &o.granter, o.e.lease.Cfg.Clock()
	if g.Term == 0 {
		return nil
	}
	g.NoteAwake(now)
	o.findServing(o.e.cfg.Table.State())
	g.NoteServing(o.serving, now)
	if g.WaitsForSuccessor(now) {
		return nil
	}
	var all []failoverTarget
	for t := range o.serving {
		if now < o.retryAt[t.Node] || !g.LeaseOver(t, now) || !g.BeginReplacement(t.Node) {
			continue
		}
		all = append(all, failoverTarget{t, g.Term})
	}
	return all
}

// findServing looks through all rows of a table that is not the last one. mu is held.
func (o *leaseServer) findServing(st *table.State) {
	if st == o.servingOf {
		return
	}
	o.serving, o.servingOf = make(map[lease.NodeStart]bool), st
	for row := range st.Rows() {
		if len(row.Backups) > 0 {
			o.serving[lease.NodeStart{Node: row.Primary, Incarnation: row.Incarnation}] = true
		}
	}
}

// failOver carries out one failover.
func (o *leaseServer) failOver(ctx context.Context, f failoverTarget) {
	if f.Node == o.e.cfg.Self {
		o.e.lease.Suspend()
	}
	err := o.runFailover(ctx, f)
	if f.Node == o.e.cfg.Self {
		o.e.done.Go(func() { o.resume(ctx, err) })
	}
	if err != nil && ctx.Err() == nil {
		o.e.cfg.Logger.Warn("replacing a failed node did not succeed, trying again", "node", f.Node, "err", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.granter.EndReplacement(f.Node, f.term)
	if o.retryAt == nil {
		o.retryAt = make(map[string]time.Duration)
	}
	delete(o.retryAt, f.Node)
	if err != nil {
		o.retryAt[f.Node] = o.e.lease.Cfg.Clock() + o.e.cfg.Retry
	}
}

// resume ends the suspension of this node's own lease once the outcome of its failover is applied
// here. It is, unless the term has ended before the outcome was known.
func (o *leaseServer) resume(ctx context.Context, err error) {
	for errors.Is(err, lease.ErrNotLeader) && ctx.Err() == nil {
		locks.Pause(ctx, leasePause)
		if o.e.lease.Cfg.Consensus.Barrier(ctx) == nil {
			err = nil
		}
	}
	if ctx.Err() == nil {
		o.e.lease.Resume()
	}
}

var errNoMember = errors.New("no other copy of its ranges is there")

func (o *leaseServer) runFailover(ctx context.Context, f failoverTarget) error {
	var err error
	for range lease.MaxFailoverTries {
		v := lease.NewFailover(o.e.cfg.Table.State(), f.NodeStart)
		if v == nil {
			return nil
		}
		o.fenceAll(ctx, v)
		o.e.reached(step.FailoverAnswered)
		entry := v.Command()
		if entry == nil {
			return errNoMember
		}
		if err = o.e.lease.Cfg.Consensus.ApplyIn(ctx, f.term, entry); err == nil {
			o.e.reached(step.FailoverDecided)
			o.e.lease.Counters.Failovers.Add(1)
			o.e.lease.Counters.Promoted.Add(int64(len(entry.Rows)))
			o.e.cfg.Logger.Warn("a failed node was replaced", "node", f.Node, "ranges", len(entry.Rows), "of", len(v.Rows))
			return nil
		}
		switch {
		case errors.Is(err, table.ErrTerm):
			return err
		case table.IsRefused(err): // the table has changed meanwhile
		default:
			// Until the outcome is known the node gets no lease: it could be one under a table that
			// no longer names it.
			if err := o.waitForOutcome(ctx, f.term); err != nil {
				return err
			}
		}
	}
	return err
}

// waitForOutcome waits until all proposals of a term are decided and applied here, or the term is
// over. After that, the next leader applies whatever was decided before it grants a lease.
func (o *leaseServer) waitForOutcome(ctx context.Context, term uint64) error {
	c := o.e.lease.Cfg.Consensus
	for {
		err := c.Barrier(ctx)
		if c.Term() != term {
			return lease.ErrNotLeader
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		locks.Pause(ctx, leasePause)
	}
}

// fenceAll asks all members, also those that have replied for an earlier entry.
func (o *leaseServer) fenceAll(ctx context.Context, v *lease.Failover) {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	request := &lease.FenceRequest{Node: v.Failed.Node, Incarnation: v.Failed.Incarnation}
	for _, node := range v.MembersToAsk() {
		asking.Go(func() {
			var reply lease.FenceReply
			var err error
			if node == o.e.cfg.Self {
				reply, err = o.e.answerFence(ctx, request)
			} else {
				err = o.e.ask(ctx, node, questionFence, request, &reply)
			}
			if err != nil {
				o.e.cfg.Logger.Info("asking a backup for its state failed", "node", node, "of", v.Failed.Node, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			v.Answers[node] = reply
		})
	}
	asking.Wait()
}

// answerFence returns how far this node has followed another one, and rejects all further frames of
// it.
func (e *Engine) answerFence(ctx context.Context, r *lease.FenceRequest) (lease.FenceReply, error) {
	reply := lease.FenceReply{Incarnation: e.cfg.Incarnation}
	if r.Node == e.cfg.Self {
		return reply, nil
	}
	reply.Refuses = e.cfg.Store.Writable() != nil || e.cfg.Store.Stalled() >= StalledAfter
	at, err := e.Fence(ctx, r.Node, r.Incarnation)
	e.reached(step.FailoverFenced)
	reply.Last, reply.Known = at.Last, at.Known
	return reply, err
}

// LeaseSilence returns, on the leader, how long ago a node was granted its last lease, as far as
// this leader knows. ok is false on other nodes.
func (o *leaseServer) LeaseSilence(node string) (d time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.granter.Term == 0 {
		return 0, false
	}
	return o.granter.Silence(node, o.e.lease.Cfg.Clock()), true
}
