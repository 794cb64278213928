package replica

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
)

const (
	// reachEvery is the interval of the leader's rounds of connections.
	reachEvery = time.Second
	// reachTimeout bounds one connection. The leader must know that others do not reach it before the
	// leases of nodes that could not ask for another one have expired.
	reachTimeout = 500 * time.Millisecond
	// askedAboutSelf is how many nodes the leader asks in each round whether they reach it.
	askedAboutSelf = 2
	// maxReached bounds the nodes of one request.
	maxReached = 256
)

// watchReach finds out, while this node leads, which nodes accept connections.
func (o *leaseServer) watchReach(ctx context.Context) {
	if o.e.lease.Cfg.Reach == nil {
		return
	}
	tick := time.NewTicker(reachEvery)
	defer tick.Stop()
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, self := o.e.lease.Cfg.Consensus.Leader(); self {
			o.runReachRound(ctx, turn)
		}
	}
}

// runReachRound connects to each node with a lease. The nodes that fail are dialled by the others,
// too, and this node is dialled by some of them in turn, or by all if one has failed to.
func (o *leaseServer) runReachRound(ctx context.Context, turn int) {
	self, clock := o.e.cfg.Self, o.e.lease.Cfg.Clock
	o.mu.Lock()
	term, began := o.granter.Term, clock()
	failing := o.granter.Reach.Failing(self, began)
	others := slices.DeleteFunc(o.granter.Holders(began), func(node string) bool { return node == self })
	o.mu.Unlock()
	askers := others
	if len(others) == 0 { // perhaps since no node reaches this one
		for _, m := range o.e.cfg.Table.State().MembersOf() {
			if m.ID != self {
				askers = append(askers, m.ID)
			}
		}
	}
	if term == 0 || len(askers) == 0 {
		return
	}
	round := lease.NewReachRound(self, others)
	nodes := slices.Clone(others)
	for _, node := range failing {
		if node != self && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	var mu sync.Mutex
	var asking sync.WaitGroup
	add := func(by string, find func() lease.ReachReply) {
		asking.Go(func() {
			reply := find()
			mu.Lock()
			defer mu.Unlock()
			round.Add(by, reply)
			if slices.Contains(reply.Unreached, self) {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.granter.Reach.Doubt(clock())
			}
		})
	}
	ask := func(node string, about []string) {
		about = slices.DeleteFunc(slices.Clone(about), func(n string) bool { return n == node })
		if len(about) > 0 {
			add(node, func() lease.ReachReply { return o.e.askReach(ctx, node, about) })
		}
	}
	add(self, func() lease.ReachReply { return o.e.reachAll(ctx, nodes) })
	for i, node := range askers {
		about := failing
		if (i+turn)%len(askers) < askedAboutSelf && !slices.Contains(about, self) {
			about = append(slices.Clone(about), self)
		}
		ask(node, about)
	}
	asking.Wait()
	// Those that fail for the first time are dialled by all others now.
	first := slices.DeleteFunc(round.Unreached(), func(n string) bool { return slices.Contains(failing, n) })
	for _, node := range askers {
		ask(node, first)
	}
	asking.Wait()
	if ctx.Err() != nil {
		return
	}
	if is, before := o.noteReach(term, round, append(nodes, self), began); is {
		o.e.renewer.giveUpUnreachable(ctx, !before)
	}
}

// noteReach records the outcome of a round. It returns whether this node is unreachable, and whether
// it was before.
func (o *leaseServer) noteReach(term uint64, round *lease.ReachRound, nodes []string, began time.Duration) (is, was bool) {
	self := o.e.cfg.Self
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.granter.Term != term {
		return false, false
	}
	r := &o.granter.Reach
	r.EndRound()
	for _, node := range nodes {
		reached, known := round.Outcome(node)
		if !known {
			continue
		}
		before := r.IsUnreachable(node)
		now := o.e.lease.Cfg.Clock()
		again := r.Note(node, reached, began, now)
		switch {
		case node == self:
			is, was = r.IsUnreachable(node), before
		case r.Report(node, now):
			o.e.cfg.Logger.Warn("a node accepts no connections of others: it gets no lease, and backups become the primaries of its ranges", "node", node)
		case again:
			o.e.cfg.Logger.Info("a node accepts connections again", "node", node)
		}
	}
	return is, was
}

// askReach asks a node to connect to others. An older build does not answer, which says nothing.
func (e *Engine) askReach(ctx context.Context, node string, about []string) (reply lease.ReachReply) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout+reachTimeout/2)
	defer cancel()
	if err := e.ask(ctx, node, questionReach, &lease.ReachRequest{Nodes: about}, &reply); err != nil {
		return lease.ReachReply{}
	}
	return reply
}

// reachAll connects to nodes.
func (e *Engine) reachAll(ctx context.Context, nodes []string) (reply lease.ReachReply) {
	if e.lease.Cfg.Reach == nil {
		return reply
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var mu sync.Mutex
	var dialling sync.WaitGroup
	for _, node := range nodes[:min(len(nodes), maxReached)] {
		dialling.Go(func() {
			err := e.lease.Cfg.Reach(ctx, node)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				reply.Reached = append(reply.Reached, node)
			case errors.Is(err, lease.ErrUnreached):
				reply.Unreached = append(reply.Unreached, node)
			}
		})
	}
	dialling.Wait()
	return reply
}

// giveUpUnreachable hands the leadership to another voter, since other nodes do not reach this one.
// If that succeeds, this node also stops renewing its lease for a while: the new leader would need
// some seconds to notice that no other node reaches it.
func (rn *leaseRenewer) giveUpUnreachable(ctx context.Context, first bool) {
	ctx, cancel := context.WithTimeout(ctx, lease.Length)
	defer cancel()
	c := rn.e.lease.Cfg.Consensus
	if _, self := c.Leader(); !self {
		return
	}
	err := c.TransferLeadership(ctx)
	if _, self := c.Leader(); err != nil || self {
		if first {
			rn.e.cfg.Logger.Warn("this node leads but accepts no connections of others, and no other voter has taken the leadership", "node", rn.e.cfg.Self, "err", err)
		}
		return
	}
	rn.e.cfg.Logger.Error("this node accepts no connections of others: it has given up the leadership and its lease", "node", rn.e.cfg.Self)
	rn.unreachableUntil.Store(int64(rn.e.lease.Cfg.OwnClock() + lease.PatienceForSelf))
}
