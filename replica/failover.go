package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

const (
	// superviseEvery is how often the leader looks at whose lease is over.
	superviseEvery = 100 * time.Millisecond
	// fenceTimeout bounds a question to a member: who does not answer leaves the sets, so
	// it is longer than a stumble.
	fenceTimeout = time.Second
	// supersedeTries bounds how often one failover is proposed while the table changes
	// under it, before the leader looks anew.
	supersedeTries = 8
)

// supervise replaces, while this node leads, whoever has lost its lease.
func (e *Engine) supervise(ctx context.Context) {
	tick := time.NewTicker(superviseEvery)
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
			e.granting.mu.Lock()
			e.granting.granter.resign()
			e.granting.mu.Unlock()
			continue
		}
		for _, v := range e.vacancies() {
			running.Go(func() { e.supersede(ctx, v) })
		}
	}
}

// A failing is a start of a node that is to be replaced, in a term.
type failing struct {
	tenant
	term uint64
}

// vacancies are the nodes whose failover is to begin, one start of each. No grant is given to them from
// now on.
func (e *Engine) vacancies() []failing {
	o := &e.granting
	o.mu.Lock()
	defer o.mu.Unlock()
	g, now := &o.granter, e.lease.cfg.Clock()
	if g.term == 0 {
		return nil
	}
	g.wake(now)
	st := e.cfg.Table.State()
	serving := make(map[tenant]bool)
	for row := range st.Rows() {
		if len(row.Backups) > 0 {
			serving[tenant{row.Primary, row.Incarnation}] = true
		}
	}
	g.meet(serving, now)
	var all []failing
	for t := range serving {
		if now < o.again[t.node] || !g.over(t, now) || !g.replace(t.node) {
			continue
		}
		all = append(all, failing{t, g.term})
	}
	return all
}

// supersede is one failover.
func (e *Engine) supersede(ctx context.Context, f failing) {
	err := e.succeed(ctx, f)
	if err != nil && ctx.Err() == nil {
		e.cfg.Logger.Warn("replacing a failed node did not succeed, trying again", "node", f.node, "err", err)
	}
	o := &e.granting
	o.mu.Lock()
	defer o.mu.Unlock()
	o.granter.replaced(f.node, f.term)
	if o.again == nil {
		o.again = make(map[string]time.Duration)
	}
	delete(o.again, f.node)
	if err != nil {
		o.again[f.node] = e.lease.cfg.Clock() + e.cfg.Retry
	}
}

var errNoMember = errors.New("no other copy of its ranges is there")

func (e *Engine) succeed(ctx context.Context, f failing) error {
	var err error
	for range supersedeTries {
		v := vacancyOf(e.cfg.Table.State(), f.tenant)
		if v == nil {
			return nil
		}
		e.fenceAll(ctx, v)
		e.reached(FailoverAnswered)
		entry := v.entry()
		if entry == nil {
			return errNoMember
		}
		if err = e.lease.cfg.Consensus.ApplyIn(ctx, f.term, entry); err == nil {
			e.reached(FailoverDecided)
			e.lease.figures.failovers.Add(1)
			e.lease.figures.promoted.Add(int64(len(entry.Rows)))
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
			if err := e.settleOutcome(ctx, f.term); err != nil {
				return err
			}
		}
	}
	return err
}

// settleOutcome waits until everything that was proposed in a term is decided, and known
// here, or the term is over: then nothing of it is decided any more but what its
// successor knows before it grants a lease.
func (e *Engine) settleOutcome(ctx context.Context, term uint64) error {
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
func (e *Engine) fenceAll(ctx context.Context, v *vacancy) {
	ctx, cancel := context.WithTimeout(ctx, fenceTimeout)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	request := &fenceRequest{Node: v.failed.node, Incarnation: v.failed.incarnation}
	for _, node := range v.asked() {
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

// Silent tells, on the leader, for how long a node has been silent: how long ago it was
// granted its last lease, by as much as this leader knows. ok is false on other nodes.
func (e *Engine) Silent(node string) (d time.Duration, ok bool) {
	o := &e.granting
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.granter.term == 0 {
		return 0, false
	}
	return o.granter.silent(node, e.lease.cfg.Clock()), true
}
