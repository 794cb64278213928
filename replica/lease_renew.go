package replica

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
)

// leaseTimeout bounds one request. The next may go to another leader.
const leaseTimeout = 700 * time.Millisecond

// leaseLate is how long a node waits for its first lease before it warns.
const leaseLate = 5 * time.Second

// leasePause is the pause after a failed request.
const leasePause = 50 * time.Millisecond

// leaseRenewer asks the leader for this node's lease.
type leaseRenewer struct {
	e *Engine
	// registeredAt is when renewLease first saw this start registered, by the clock of its own
	// lease; 0 before.
	registeredAt time.Duration
	// unreachableUntil is until when this node asks for no lease, by the same clock, since others
	// do not reach it.
	unreachableUntil atomic.Int64
}

// renewLease renews the lease of this node and publishes its changes.
func (rn *leaseRenewer) renewLease(ctx context.Context) {
	l := rn.e.lease
	changes, cancel := rn.e.cfg.Table.Changes()
	defer cancel()
	var asked *leaseAttempt // the present request
	valid, warned, leader := false, false, ""
	unregistered := false // so the last request was not sent
	due, end, late := time.NewTimer(0), time.NewTimer(0), time.NewTimer(leaseLate)
	defer due.Stop()
	defer end.Stop()
	defer late.Stop()
	check := time.NewTicker(lease.ClockCheck)
	defer check.Stop()
	clock := lease.ClockWatch{At: l.Cfg.Clock(), Real: time.Now()}
	for {
		var answered <-chan struct{}
		if asked != nil {
			answered = asked.done
		}
		select {
		case <-ctx.Done():
			asked.abandon()
			return
		case <-changes:
			l.Advance(func(h *lease.Holder) { h.ApplyIndex(rn.e.cfg.Table.State().Index()) })
			// A previous leader's reply no longer counts.
			if now, _ := l.Cfg.Consensus.Leader(); now != leader && now != "" {
				asked.abandon()
				asked = nil
				due.Reset(0)
			}
			// Ranges may be handed to this start as soon as it is registered, and clients wait for its lease.
			if unregistered && rn.isRegistered() {
				due.Reset(0)
			}
		case <-check.C:
			if clock.HasStopped(l.Cfg.Clock(), time.Now()) {
				// A reply that is still under way would be a lease without an end.
				asked.abandon()
				asked = nil
				due.Reset(leasePause)
				l.Revoke()
				rn.giveUpLeadership(ctx)
			}
		case <-due.C:
			if asked == nil {
				asked = rn.requestLease(ctx, clock.Stopped)
				leader = asked.leader
			}
		case <-answered:
			if rn.handleLeaseReply(asked) {
				due.Reset(max(lease.RenewEvery-(l.Cfg.OwnClock()-asked.sent), 0))
			} else {
				due.Reset(leasePause)
			}
			unregistered = errors.Is(asked.err, lease.ErrStart)
			asked = nil
		case <-end.C:
		case <-late.C:
			if warned = !valid; warned {
				rn.e.cfg.Logger.Warn("this node has had no lease since its start: clients wait until a majority of the voters answers", "node", rn.e.cfg.Self)
			}
		}
		if now := l.Valid(); now != valid {
			valid = now
			if !now {
				l.Counters.Lapses.Add(1)
			}
			switch {
			case !now && rn.isWithdrawn():
				rn.e.cfg.Logger.Info("the lease of this node has expired: the node is leaving and serves no range", "node", rn.e.cfg.Self)
			case !now:
				warned = true
				rn.e.cfg.Logger.Warn("the lease of this node has expired: clients wait until the leader answers again", "node", rn.e.cfg.Self)
			case warned:
				warned = false
				rn.e.cfg.Logger.Info("this node has its lease again", "node", rn.e.cfg.Self)
			}
			rn.e.publishRoutes()
		}
		end.Reset(max(time.Duration(l.Until.Load())-l.Cfg.OwnClock(), leasePause))
	}
}

// isWithdrawn reports whether this node leaves the cluster, or has left it, and is the primary of no range: no client
// waits for its lease.
func (rn *leaseRenewer) isWithdrawn() bool {
	st := rn.e.cfg.Table.State()
	if n, known := st.Node(rn.e.cfg.Self); known && n.State == table.Member {
		return false
	}
	for row := range st.Rows() {
		if row.Primary == rn.e.cfg.Self {
			return false
		}
	}
	return true
}

// isRegistered reports whether the table knows this start of the node.
func (rn *leaseRenewer) isRegistered() bool {
	n, known := rn.e.cfg.Table.State().Node(rn.e.cfg.Self)
	return known && n.Incarnation == rn.e.cfg.Incarnation
}

// A leaseAttempt is one request for a lease.
type leaseAttempt struct {
	leader string
	sent   time.Duration
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	// The result, once done is closed.
	reply leaseReply
	err   error
}

// abandon cancels a request and waits for its goroutine.
func (a *leaseAttempt) abandon() {
	if a != nil {
		a.cancel()
		<-a.done
	}
}

// requestLease starts a request. The lease is counted from this moment.
func (rn *leaseRenewer) requestLease(ctx context.Context, stopped bool) *leaseAttempt {
	a := &leaseAttempt{sent: rn.e.lease.Cfg.OwnClock(), began: time.Now(), done: make(chan struct{})}
	a.leader, _ = rn.e.lease.Cfg.Consensus.Leader()
	ctx, a.cancel = context.WithTimeout(ctx, leaseTimeout)
	switch fault := rn.e.lease.Cfg.Consensus.Fault(); {
	case !rn.isRegistered():
		a.err = lease.ErrStart
	case fault != nil:
		a.err = fault
	case stopped:
		a.err = lease.ErrClock
	case rn.e.cfg.Copied && rn.originalMayAnswer(a.sent):
		a.err = errOriginal
	case a.sent < time.Duration(rn.unreachableUntil.Load()):
		a.err = lease.ErrUnreachable
	case a.leader == "":
		a.err = lease.ErrNotLeader
	}
	if a.err != nil {
		close(a.done)
		return a
	}
	go func() {
		defer close(a.done)
		request := leaseRequest{
			Incarnation: rn.e.cfg.Incarnation, Wall: a.began.UnixMilli(),
			Applied: rn.e.cfg.Table.State().Index(), Refusing: rn.e.readOnly.refusingFor(a.began).Milliseconds(),
		}
		if a.leader == rn.e.cfg.Self {
			a.reply = rn.e.leaseServer.grantLease(ctx, rn.e.cfg.Self, &request)
		} else {
			a.err = rn.e.ask(ctx, a.leader, questionLease, &request, &a.reply)
		}
	}()
	return a
}

var errOriginal = errors.New("the directory is a copy, and its original may hold a lease for some seconds")

// originalMayAnswer reports whether the original of a copied directory may still hold a lease. now
// is by the clock of the node's own lease. Only renewLease calls it.
func (rn *leaseRenewer) originalMayAnswer(now time.Duration) bool {
	if rn.registeredAt == 0 {
		rn.registeredAt = max(now, 1)
	}
	return now-rn.registeredAt < lease.Length+lease.Margin
}

// handleLeaseReply processes a reply. It returns false if there is no grant.
func (rn *leaseRenewer) handleLeaseReply(a *leaseAttempt) bool {
	a.cancel()
	l := rn.e.lease
	if a.err == nil && a.reply.Refusal != "" {
		a.err = fmt.Errorf("%s: %s", a.leader, a.reply.Refusal)
	}
	if a.err != nil {
		l.Counters.Failed(a.err)
		return false
	}
	l.Counters.Granted.Add(1)
	rn.e.readOnly.setOthers(a.reply.Refusing)
	rn.e.leaseHolders.update(a.reply.Holders, time.Now())
	l.Counters.Compare(a.leader, a.began, time.Now(), a.reply.Wall)
	l.Advance(func(h *lease.Holder) {
		h.AddGrant(a.sent, l.Cfg.OwnClock(), a.reply.Index, rn.e.cfg.Table.State().Index())
	})
	return true
}

// giveUpLeadership hands the leadership to another node, since this one cannot tell when leases
// expire.
func (rn *leaseRenewer) giveUpLeadership(ctx context.Context) {
	rn.e.cfg.Logger.Error("this node gives up its lease and its leadership", "node", rn.e.cfg.Self, "err", lease.ErrClock)
	rn.e.done.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, lease.Length)
		defer cancel()
		if err := rn.e.lease.Cfg.Consensus.TransferLeadership(ctx); err != nil && ctx.Err() == nil {
			rn.e.cfg.Logger.Warn("transferring the leadership failed", "node", rn.e.cfg.Self, "err", err)
		}
	})
}

// LeaseStats returns the figures of this node's lease, and of those that it granted as the leader.
func (e *Engine) LeaseStats() lease.Stats { return e.lease.Stats(e.cfg.Self) }
