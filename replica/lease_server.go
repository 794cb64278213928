package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
)

// leaseServer is the leader's side of leases. Every node has one; it does nothing on a node that
// does not lead.
type leaseServer struct {
	e       *Engine
	mu      sync.Mutex
	granter lease.Granter
	round   *round // the next round; nil while no request waits for one
	running bool
	closed  bool
	retryAt map[string]time.Duration // when a failed failover is tried again

	serving   map[lease.NodeStart]bool // starts with rows that have backups, in servingOf
	servingOf *table.State
}

// close prevents further rounds.
func (o *leaseServer) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// A round asks a majority whether this node leads, for all requests that wait.
type round struct {
	done chan struct{}
	term uint64
	err  error
}

// roundTimeout bounds one round.
const roundTimeout = time.Second

// confirm returns the term in which this node leads. A majority has confirmed it since the call,
// and all entries before that term are applied here.
func (o *leaseServer) confirm(ctx context.Context) (uint64, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return 0, context.Canceled
	}
	if o.round == nil {
		o.round = &round{done: make(chan struct{})}
	}
	r := o.round // a round that begins after this call
	if !o.running {
		o.running = true
		o.e.done.Go(o.runRounds)
	}
	o.mu.Unlock()
	select {
	case <-r.done:
		return r.term, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// runRounds runs rounds while requests wait.
func (o *leaseServer) runRounds() {
	for {
		o.mu.Lock()
		r := o.round
		o.round = nil
		o.running = r != nil
		o.mu.Unlock()
		if r == nil {
			return
		}
		r.term, r.err = o.confirmRound()
		close(r.done)
	}
}

// confirmRound runs one round.
func (o *leaseServer) confirmRound() (uint64, error) {
	ctx, cancel := context.WithTimeout(o.e.ctx, roundTimeout)
	defer cancel()
	g, c := &o.granter, o.e.lease.Cfg.Consensus
	term := c.Term()
	if !g.Disabled.Unconfirmed {
		var err error
		if term, err = c.Confirm(ctx); err != nil {
			return 0, err
		}
	}
	o.mu.Lock()
	known := g.Term == term
	o.mu.Unlock()
	if known {
		return term, nil
	}
	if !g.Disabled.Unsettled {
		if err := c.Barrier(ctx); err != nil {
			return 0, err
		}
		if c.Term() != term {
			return 0, lease.ErrNotLeader
		}
	}
	o.mu.Lock()
	g.BeginTerm(term, o.e.lease.Cfg.Clock())
	o.mu.Unlock()
	return term, nil
}

// grantLease replies to a lease request.
func (o *leaseServer) grantLease(ctx context.Context, node string, r *leaseRequest) leaseReply {
	is := lease.NodeCondition{Applied: r.Applied, Refusing: time.Duration(r.Refusing) * time.Millisecond}
	reply, err := o.grant(ctx, lease.NodeStart{Node: node, Incarnation: r.Incarnation}, is)
	reply.Wall = time.Now().UnixMilli()
	if err != nil {
		o.e.lease.Counters.Withheld.Add(1)
		reply.Refusal = err.Error()
		return reply
	}
	o.e.lease.Counters.Given.Add(1)
	return reply
}

// grant returns the reply without the times.
func (o *leaseServer) grant(ctx context.Context, t lease.NodeStart, is lease.NodeCondition) (reply leaseReply, err error) {
	if o.e.lease.Cfg.Clock == nil {
		return reply, errors.New("no leases")
	}
	if _, self := o.e.lease.Cfg.Consensus.Leader(); !self {
		return reply, lease.ErrNotLeader
	}
	term, err := o.confirm(ctx)
	if err != nil {
		return reply, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	st := o.e.cfg.Table.State()
	n, known := st.Node(t.Node)
	if !known || n.State == table.Gone || n.Incarnation != t.Incarnation {
		return reply, fmt.Errorf("%w: %s, %d", lease.ErrStart, t.Node, t.Incarnation)
	}
	g, now := &o.granter, o.e.lease.Cfg.Clock()
	g.NoteRefusing(t.Node, now, is.Refusing)
	if is.Refusing >= replaceRefusing && g.HasSuccessor(st, t, now) {
		return reply, fmt.Errorf("%w: %s", lease.ErrRefusesWrites, t.Node)
	}
	if err := g.Grant(t, term, now, is, st.Index()); err != nil {
		return reply, err
	}
	return leaseReply{Index: st.Index(), Refusing: slices.Sorted(maps.Keys(g.RefusingSince)), Holders: g.Holders(now)}, nil
}

// A leaseRequest asks the leader for a lease.
type leaseRequest struct {
	Incarnation uint64 `json:"incarnation,string"`
	// Wall is the asking node's wall clock, in milliseconds since 1970.
	Wall int64 `json:"wall"`
	// Applied is the table index that the asking node has applied; 0 from a build that does not
	// tell.
	Applied uint64 `json:"applied,string,omitempty"`
	// Refusing is how long, in milliseconds, the asking node's store has refused writes; 0 while it
	// accepts them.
	Refusing int64 `json:"refusing,omitempty"`
}

// A leaseReply grants a lease, unless Refusal says why not.
type leaseReply struct {
	Index   uint64 `json:"index,string"`
	Refusal string `json:"refusal,omitempty"`
	Wall    int64  `json:"wall"`
	// Refusing are the nodes whose stores refuse writes, as far as the leader knows.
	Refusing []string `json:"refusing,omitempty"`
	// Holders are the nodes that may have a lease now, as far as the leader knows.
	Holders []string `json:"holders,omitempty"`
}
