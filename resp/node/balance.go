package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// loadBalancer evens the load on nodes: at an order, and on the leader again and again while it is on.
type loadBalancer struct {
	c *cluster

	mu sync.Mutex
	// told is the last outcome of a look by this node as the leader, at when.
	told string
	at   time.Time
}

// run looks at the load while this node leads and load balancing is on.
func (lb *loadBalancer) run() {
	tick := time.NewTicker(load.Interval)
	defer tick.Stop()
	var b load.Balancer
	for {
		select {
		case <-lb.c.ctx.Done():
			return
		case <-tick.C:
		}
		st := lb.c.table.State()
		if !lb.leads() || !st.Founded() || !st.LoadBalance().On {
			b = load.Balancer{}
			b.Reset(time.Now())
			continue
		}
		text := "nothing to do"
		if err := lb.look(&b, st); err != nil {
			text = err.Error()
			lb.c.n.cfg.Logger.Debug("balancing by load was left out", "err", err)
		}
		lb.mu.Lock()
		lb.told, lb.at = text, time.Now()
		lb.mu.Unlock()
	}
}

func (lb *loadBalancer) leads() bool {
	_, isSelf := lb.c.table.Leader()
	return isSelf
}

// look has the table accept what the balancer decides.
func (lb *loadBalancer) look(b *load.Balancer, st *table.State) error {
	if err := lb.ready(st); err != nil {
		b.Reset(time.Now())
		return err
	}
	c, err := lb.measure(lb.c.ctx, st)
	if err != nil {
		return err
	}
	p, err := b.Look(time.Now(), c)
	if p == nil || err != nil {
		return err
	}
	lb.c.n.cfg.Logger.Info("evening the load", "busiest", p.Busiest, "ratio", p.Before, "expected", p.After, "ranges", p.Moves, "promotions", p.Promotions, "bytes", p.Bytes)
	return lb.propose(lb.c.ctx, st, true, p.Overrides)
}

var (
	errMoving     = errors.New("data is moving already: wait until the handoffs are over")
	errMovePaused = errors.New("the moving of data is paused: RING RESUME lets it go on")
	errSwitching  = errors.New("the strategy is being switched: wait until that is over")
)

// ready returns why the load is not to be evened now.
func (lb *loadBalancer) ready(st *table.State) error {
	of := st.Cluster()
	switch {
	case of.Unfinished:
		return errSwitching
	case of.Paused:
		return errMovePaused
	case len(st.Handoffs()) > 0:
		return errMoving
	}
	return nil
}

// measure asks all members for their load.
func (lb *loadBalancer) measure(ctx context.Context, st *table.State) (load.Cluster, error) {
	of := st.Cluster()
	c := load.Cluster{
		Members: st.MembersOf(), Present: st.Placement(), Overrides: st.LoadBalance().Overrides,
		Whole: of.Strategy.Name == strategy.Buckets, Profiles: make(map[string]*load.Profile),
	}
	queries := make(map[string]*statusQuery)
	for _, m := range c.Members {
		if !lb.c.alive(m.ID) {
			return c, fmt.Errorf("%w: %s is away", load.ErrUnknown, m.ID)
		}
		queries[m.ID] = &statusQuery{Profile: true}
	}
	for id, answer := range lb.c.status.queryAll(ctx, queries, statusTimeout) {
		switch {
		case answer.err != nil:
			return c, fmt.Errorf("%w: %s: %w", load.ErrUnknown, id, answer.err)
		case answer.Load == nil:
			return c, fmt.Errorf("%w: the build of %s does not measure it", load.ErrUnknown, id)
		}
		p := new(load.Profile)
		if err := p.UnmarshalBinary(answer.Profile); err != nil {
			return c, fmt.Errorf("load of %s: %w", id, err)
		}
		c.Profiles[id] = p
	}
	return c, nil
}

// proposal returns what evens the load as it is now.
func (lb *loadBalancer) proposal(ctx context.Context, st *table.State) (*load.Proposal, error) {
	c, err := lb.measure(ctx, st)
	if err != nil {
		return nil, err
	}
	return load.Propose(c)
}

// propose has the table accept a setting with overrides.
func (lb *loadBalancer) propose(ctx context.Context, st *table.State, on bool, overrides []ring.Override) error {
	was := st.LoadBalance()
	set := &table.SetLoadBalance{On: on, Overrides: overrides, After: was.Since, Strategy: st.Cluster().Since}
	var err error
	if set.Starts, err = lb.c.switcher.starts(ctx, st, bus.LoadVersion, "even the load"); err != nil {
		return err
	}
	return lb.c.propose(ctx, set, func(st *table.State) bool {
		now := st.LoadBalance()
		return now.Since > was.Since && now.On == on
	})
}

// order carries out RING BALANCE LOAD on, off or once.
func (lb *loadBalancer) order(ctx context.Context, mode string) error {
	var err error
	for range switchTries {
		if err = lb.try(ctx, mode); !errors.Is(err, table.ErrIncarnation) && !errors.Is(err, table.ErrStale) {
			break
		}
	}
	return err
}

func (lb *loadBalancer) try(ctx context.Context, mode string) error {
	st := lb.c.table.State()
	now := st.LoadBalance()
	switch mode {
	case "on":
		return lb.propose(ctx, st, true, now.Overrides)
	case "off":
		return lb.propose(ctx, st, false, nil)
	case "once":
		if err := lb.ready(st); err != nil {
			return err
		}
		p, err := lb.proposal(ctx, st)
		if err != nil {
			return err
		}
		if p.Moves == 0 {
			return fmt.Errorf("nothing would make the load more even: the busiest node, %s, has %.2f times the mean", p.Busiest, p.Before)
		}
		return lb.propose(ctx, st, now.On, p.Overrides)
	}
	return fmt.Errorf("%.40q is not ON, OFF or ONCE", mode)
}

// text describes the setting, and what the leader has last found.
func (lb *loadBalancer) text() string {
	st := lb.c.table.State()
	now := st.LoadBalance()
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s:%v\r\n", name, value) }
	mode := "off"
	if now.On {
		mode = "on"
	}
	line("load_balancing", mode)
	line("overrides", len(now.Overrides))
	tokens := uint64(0)
	for i := range now.Overrides {
		tokens += now.Overrides[i].Range.Len()
	}
	line("overridden_percent", fmt.Sprintf("%.2f", float64(tokens)/(1<<32)*100))
	for i := range now.Overrides {
		o := &now.Overrides[i]
		line("override", fmt.Sprintf("range=%s,node=%s,home=%s", o.Range, o.Node, o.Home))
	}
	line("handoffs", len(st.Handoffs()))
	lb.mu.Lock()
	defer lb.mu.Unlock()
	if lb.leads() && !lb.at.IsZero() {
		line("last_look_seconds_ago", int64(time.Since(lb.at).Seconds()))
		line("last_look", lb.told)
	}
	return b.String()
}

// plannedBalance describes a proposal for RING PLAN.
func plannedBalance(p *load.Proposal) *status.PlannedBalance {
	b := &status.PlannedBalance{Before: p.Before, After: p.After, Busiest: p.Busiest, Ranges: p.Moves, Bytes: p.Bytes, Hottest: p.Hottest, HottestShare: p.HottestShare, Loads: make(map[string][2]float64)}
	for id, l := range p.Loads {
		b.Loads[id] = [2]float64{l.Before, l.After}
	}
	return b
}

// BalanceLoad implements resp.Operator.
func (o operator) BalanceLoad(ctx context.Context, mode string) (string, error) {
	c, err := o.cluster()
	if err != nil {
		return "", err
	}
	if mode == "" {
		return c.balancer.text(), nil
	}
	return "", c.balancer.order(ctx, mode)
}
