package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// fenceTimeout bounds a question to a member: who does not answer leaves the sets, so
	// it is longer than a stumble.
	fenceTimeout = time.Second
)

// superviseLeases replaces, while this node leads, whoever has lost its lease.
func (e *Engine) superviseLeases(ctx context.Context) {
	tick := time.NewTicker(superviseInterval)
	defer tick.Stop()
	var running sync.WaitGroup
	defer running.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, self := e.lease.cfg.Consensus.Leader(); !self {
			e.leaseServer.mu.Lock()
			e.leaseServer.granter.endTerm()
			e.leaseServer.mu.Unlock()
			continue
		}
		for _, v := range e.dueFailovers() {
			running.Go(func() { e.failOver(ctx, v) })
		}
	}
}

// A failoverTarget is a start of a node that is to be replaced, in a term.
type failoverTarget struct {
	nodeStart
	term uint64
}

// dueFailovers are the nodes whose failover is to begin, one start of each. No grant is given to them from
// now on.
func (e *Engine) dueFailovers() []failoverTarget {
	o := &e.leaseServer
	o.mu.Lock()
	defer o.mu.Unlock()
	g, now := &o.granter, e.lease.cfg.Clock()
	if g.term == 0 {
		return nil
	}
	g.noteAwake(now)
	st := e.cfg.Table.State()
	serving := make(map[nodeStart]bool)
	for row := range st.Rows() {
		if len(row.Backups) > 0 {
			serving[nodeStart{row.Primary, row.Incarnation}] = true
		}
	}
	g.noteServing(serving, now)
	var all []failoverTarget
	for t := range serving {
		if now < o.retryAt[t.node] || !g.leaseOver(t, now) || !g.beginReplacement(t.node) {
			continue
		}
		all = append(all, failoverTarget{t, g.term})
	}
	return all
}

// failOver is one failover.
func (e *Engine) failOver(ctx context.Context, f failoverTarget) {
	err := e.runFailover(ctx, f)
	if err != nil && ctx.Err() == nil {
		e.cfg.Logger.Warn("replacing a failed node did not succeed, trying again", "node", f.node, "err", err)
	}
	o := &e.leaseServer
	o.mu.Lock()
	defer o.mu.Unlock()
	o.granter.endReplacement(f.node, f.term)
	if o.retryAt == nil {
		o.retryAt = make(map[string]time.Duration)
	}
	delete(o.retryAt, f.node)
	if err != nil {
		o.retryAt[f.node] = e.lease.cfg.Clock() + e.cfg.Retry
	}
}

var errNoMember = errors.New("no other copy of its ranges is there")

func (e *Engine) runFailover(ctx context.Context, f failoverTarget) error {
	var err error
	for range maxFailoverTries {
		v := newFailover(e.cfg.Table.State(), f.nodeStart)
		if v == nil {
			return nil
		}
		e.fenceAll(ctx, v)
		e.reached(FailoverAnswered)
		entry := v.command()
		if entry == nil {
			return errNoMember
		}
		if err = e.lease.cfg.Consensus.ApplyIn(ctx, f.term, entry); err == nil {
			e.reached(FailoverDecided)
			e.lease.stats.failovers.Add(1)
			e.lease.stats.promoted.Add(int64(len(entry.Rows)))
			e.cfg.Logger.Warn("a failed node was replaced", "node", f.node, "ranges", len(entry.Rows), "of", len(v.rows))
			return nil
		}
		switch {
		case errors.Is(err, table.ErrTerm):
			return err
		case table.IsRefused(err): // the table has changed meanwhile
		default:
			// Until it is known what became of it, the node gets no lease: it could be
			// one under a table that does not name it any more.
			if err := e.waitForOutcome(ctx, f.term); err != nil {
				return err
			}
		}
	}
	return err
}

// waitForOutcome waits until everything that was proposed in a term is decided, and known
// here, or the term is over: then nothing of it is decided any more but what its
// successor knows before it grants a lease.
func (e *Engine) waitForOutcome(ctx context.Context, term uint64) error {
	c := e.lease.cfg.Consensus
	for {
		err := c.Barrier(ctx)
		if c.Term() != term {
			return ErrNotLeader
		}
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		pause(ctx, leasePause)
	}
}

// fenceAll asks all members, also those that have answered for an earlier entry.
func (e *Engine) fenceAll(ctx context.Context, v *failover) {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	request := &fenceRequest{Node: v.failed.node, Incarnation: v.failed.incarnation}
	for _, node := range v.membersToAsk() {
		asking.Go(func() {
			var reply fenceReply
			var err error
			if node == e.cfg.Self {
				reply, err = e.answerFence(ctx, request)
			} else {
				err = e.ask(ctx, node, questionFence, request, &reply)
			}
			if err != nil {
				e.cfg.Logger.Info("asking a backup for its state failed", "node", node, "of", v.failed.node, "err", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			v.answers[node] = reply
		})
	}
	asking.Wait()
}

// answerFence says what this node has of another, of which it takes in nothing more.
func (e *Engine) answerFence(ctx context.Context, r *fenceRequest) (fenceReply, error) {
	reply := fenceReply{Incarnation: e.cfg.Incarnation}
	if r.Node == e.cfg.Self {
		return reply, nil
	}
	reply.Refuses = e.cfg.Store.Writable() != nil || e.cfg.Store.Stalled() >= stalledAfter
	at, err := e.Fence(ctx, r.Node, r.Incarnation)
	e.reached(FailoverFenced)
	reply.Last, reply.Known = at.Last, at.Known
	return reply, err
}

// LeaseSilence tells, on the leader, for how long a node has been silent: how long ago it was
// granted its last lease, by as much as this leader knows. ok is false on other nodes.
func (e *Engine) LeaseSilence(node string) (d time.Duration, ok bool) {
	o := &e.leaseServer
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.granter.term == 0 {
		return 0, false
	}
	return o.granter.silence(node, e.lease.cfg.Clock()), true
}
