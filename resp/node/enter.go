package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/resp/node/internal/policies"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

const (
	enterPause  = 200 * time.Millisecond // between two attempts to enter
	enterRemind = 30 * time.Second       // until the log repeats the reason of the wait
	// enterTimeout bounds one attempt to register, and one question to another node.
	enterTimeout = 5 * time.Second
)

var (
	// errWaiting is the error of a wait that ends by itself, or by an operator on another node.
	errWaiting = errors.New("waiting")
	// errChosen says that this node has chosen another cluster meanwhile.
	errChosen = errors.New("another choice was made")
	// errAbandoned says that this node leaves before it has entered.
	errAbandoned = errors.New("the node leaves")
)

// A permanentError is an error that only an operator of this node can resolve.
type permanentError struct{ error }

func (h permanentError) Unwrap() error { return h.error }

// entry brings the node into a cluster, and keeps what it has chosen.
type entry struct {
	c *cluster

	// choice guards the chosen membership, and founding.
	choice     sync.Mutex
	membership membership
	founding   bool
	// registering reports that this start or an earlier one may be registered, abandoned that none
	// is or will be. At most one is true.
	registering, abandoned bool
	committed              atomic.Bool   // the choice cannot be undone any more
	entered                atomic.Bool   // this start is registered
	enteredCh              chan struct{} // closed when this start is registered
	latestForms            atomic.Bool   // this start has founded a cluster that is to use the latest forms of data
}

// enter brings the node into a cluster: the one of its directory, one that it joins, or one that it
// founds. It returns once the node is registered. After a permanent error it ends the node.
func (en *entry) enter() {
	en.c.n.cfg.env.Reached(startEntering)
	said, at := "", time.Time{}
	for en.c.ctx.Err() == nil {
		err := en.advance()
		if err == nil || en.c.ctx.Err() != nil || errors.Is(err, errAbandoned) {
			return
		}
		var end permanentError
		if errors.As(err, &end) {
			en.c.n.finish(err)
			return
		}
		if text := err.Error(); text != said && !errors.Is(err, errChosen) || time.Since(at) > enterRemind {
			said, at = text, time.Now()
			en.c.n.cfg.Logger.Info("not in a cluster yet: requests wait", "node", en.c.n.id, "err", err)
		}
		select {
		case <-time.After(cmp.Or(en.c.n.cfg.env.Tune.Enter, enterPause)):
		case <-en.c.ctx.Done():
		}
	}
}

// advance takes the next step into a cluster. It returns nil once the node is registered.
func (en *entry) advance() error {
	b := en.chosenMembership()
	begun := b.Entered || en.c.table.Known()
	switch {
	case b.Generation == 0:
		if err := en.chooseCluster(b); err != nil {
			return err
		}
	case begun || b.Founder == "":
	case b.Founder != en.c.n.id:
		if err := en.awaitFounder(b); err != nil {
			return err
		}
	default:
		if err := en.resumeFounding(b); err != nil {
			return err
		}
	}
	if b = en.chosenMembership(); b.Founder == en.c.n.id && !b.Entered {
		if err := en.foundCluster(b.Generation); err != nil && !errors.Is(err, table.ErrFounded) {
			return err
		}
	}
	return en.register()
}

// chooseCluster chooses a cluster.
func (en *entry) chooseCluster(b membership) error {
	cfg := &en.c.n.cfg
	if en.foundsAlone() {
		was := b
		b.Generation, b.Founder = newGeneration(), en.c.n.id
		return en.choose(was, b)
	}
	found := en.generations()
	switch {
	case len(found) > 1:
		var each []string
		for generation, nodes := range found {
			each = append(each, fmt.Sprintf("generation %d at %s", generation, strings.Join(idsOf(nodes), ", ")))
		}
		return fmt.Errorf("%w: there are two clusters named %q, %s: name nodes of one of them to join", errWaiting, cfg.Cluster, strings.Join(each, "; "))
	case len(found) == 1:
		for generation, nodes := range found {
			return en.joinCluster(b, generation, nodes)
		}
	case cfg.BootstrapExpect > 0:
		return en.bootstrap(b)
	}
	if peers := en.c.peers(); len(peers) > 0 {
		return fmt.Errorf("%w: %s can be reached, but no node there is in a cluster yet", errWaiting, strings.Join(peers, ", "))
	}
	if len(cfg.Join) == 0 { // a proxy that other nodes are told to join
		return fmt.Errorf("%w for a store to join this proxy, which founds no cluster", errWaiting)
	}
	return fmt.Errorf("%w: no other node answers at %s (a node without join founds a cluster, several found one with bootstrap-expect)",
		errWaiting, strings.Join(cfg.Join, ", "))
}

// foundsAlone reports whether the node founds a cluster by itself: it was not told to join.
func (en *entry) foundsAlone() bool {
	cfg := &en.c.n.cfg
	return cfg.Role == RoleStore && len(cfg.Join) == 0 && cfg.BootstrapExpect == 0
}

// joinCluster chooses an existing cluster, if one of its nodes admits this one.
func (en *entry) joinCluster(b membership, generation uint64, nodes []members.Node) error {
	ctx, cancel := context.WithTimeout(en.c.ctx, enterTimeout)
	defer cancel()
	var faults []error
	for _, m := range nodes {
		a, err := en.c.ask(ctx, m.ID, &question{Kind: askEnter, Wants: en.c.n.cfg.wants()})
		if err == nil && a.Later != "" {
			err = errors.New(a.Later)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", m.ID, err))
			continue
		}
		if a.Refusal != "" {
			return permanentError{fmt.Errorf("%w: %s", ErrRefused, a.Refusal)}
		}
		was := b
		b.Generation, b.Founder = generation, ""
		return en.choose(was, b)
	}
	return fmt.Errorf("%w for a node of the cluster to answer: %w", errWaiting, errors.Join(faults...))
}

// foundCluster founds the cluster, or completes what an earlier start began.
func (en *entry) foundCluster(generation uint64) error {
	cfg := &en.c.n.cfg
	own, err := cfg.strategy()
	if err != nil {
		return permanentError{err}
	}
	self := ring.Member{ID: en.c.n.id, Weight: cfg.Weight, Pins: en.c.pins.Tokens, OnlyPins: en.c.pins.Only}
	alone, err := placing.Desired(own, ring.Input{Members: []ring.Member{self}})
	if err != nil {
		return permanentError{err}
	}
	f := &table.Found{
		Cluster: table.Cluster{Name: cfg.Cluster, Generation: generation, Strategy: placing.ToTable(own), Backups: cfg.Backups},
		Node:    en.c.n.id, Incarnation: en.c.incarnation - 1, Weight: cfg.Weight, Pins: self.Pins, OnlyPins: self.OnlyPins,
		Seated: strategy.HasSeats(own.Name), Databases: cfg.Databases,
	}
	together, err := policies.Numbers(cfg.Together, cfg.Databases)
	if err != nil {
		return permanentError{err}
	}
	f.Policies = policies.Founding(together, en.c.policies.Token)
	for row := range alone.Rows() {
		f.Rows = append(f.Rows, *row)
	}
	ctx, cancel := context.WithTimeout(en.c.ctx, enterTimeout)
	defer cancel()
	_, err = en.c.table.Found(ctx, f)
	// Who founds a cluster with one database may want nodes of earlier builds in it.
	en.latestForms.Store(err == nil && cfg.Databases > 1 && !cfg.env.OldForms)
	return err
}

// register registers this start in the chosen cluster.
func (en *entry) register() error {
	cfg := &en.c.n.cfg
	r := &table.Register{
		Node: en.c.n.id, Incarnation: en.c.incarnation, Weight: cfg.Weight,
		HasPins: cfg.Pin != "", Pins: en.c.pins.Tokens, OnlyPins: en.c.pins.Only, Role: cfg.tableRole(),
	}
	r.Intact, r.After = en.c.n.run.Intact()
	if !en.beginRegistering() {
		return errAbandoned
	}
	ctx, cancel := context.WithTimeout(en.c.ctx, enterTimeout)
	defer cancel()
	_, err := en.c.table.Apply(ctx, r)
	st := en.c.table.State()
	n, known := st.Node(en.c.n.id)
	switch {
	case known && n.Incarnation == en.c.incarnation: // also if an earlier attempt has succeeded
		cfg.env.Reached(startRegistered)
	case errors.Is(err, table.ErrIncarnation) && en.c.table.Abstains():
		// This node follows no table that could tell which of the two it is.
		return permanentError{fmt.Errorf("%w; or this start is registered, and the answer that said so was lost: then start the node again", ErrSuperseded)}
	case errors.Is(err, table.ErrIncarnation) && !en.c.table.Known():
		return en.learnRegistered(ctx, err)
	case errors.Is(err, table.ErrIncarnation) && !(known && n.Incarnation > en.c.incarnation):
		// An earlier attempt may have succeeded without an answer: the state will show it.
		return fmt.Errorf("%w for the table of the cluster: %w", errWaiting, err)
	case errors.Is(err, table.ErrIncarnation):
		return permanentError{fmt.Errorf("a later start of this node is registered: another process has its id, or its directory is a copy: %w", err)}
	case table.IsRefused(err):
		return permanentError{fmt.Errorf("the cluster refuses this node: %w", err)}
	case err != nil:
		return fmt.Errorf("%w for the cluster to register this start of the node: %w", errWaiting, err)
	default:
		return fmt.Errorf("%w for the table of the cluster", errWaiting)
	}
	return en.completeEntry(st)
}

// learnRegistered is for a node with a new directory whose id is registered with a later start: the
// clock was ahead then, or is behind now. No table tells this node that, so it asks. It notes the
// number and ends; the next start takes a higher one.
func (en *entry) learnRegistered(ctx context.Context, refused error) error {
	for _, peer := range en.c.peers() {
		a, err := en.c.ask(ctx, peer, &question{Kind: askEnter, Wants: en.c.n.cfg.wants()})
		if err != nil || a.Generation != en.chosenMembership().Generation || a.Registered <= en.c.incarnation {
			continue
		}
		en.c.n.run.Incarnation = a.Registered
		if err := en.c.n.run.Save(en.c.n.cfg.Dir); err != nil {
			return permanentError{err}
		}
		return permanentError{fmt.Errorf("this directory is new, and a later start of node %s is registered: the clock of this machine is behind, "+
			"or was ahead, or another process has this id. If none has, start the node again: it then takes a later number: %w", en.c.n.id, refused)}
	}
	return fmt.Errorf("%w for the table of the cluster: %w", errWaiting, refused)
}

// tableRole returns the role of the node in the table's terms.
func (c *Config) tableRole() table.Role {
	switch c.Role {
	case RoleProxy:
		return table.Proxy
	case RoleWitness:
		return table.Witness
	}
	return table.Store
}

// beginRegistering reports whether the node still wants to be registered. From then on only the
// table knows whether it is.
func (en *entry) beginRegistering() bool {
	en.choice.Lock()
	defer en.choice.Unlock()
	en.registering = !en.abandoned
	return en.registering
}

// abandonEntry ends the way into a cluster, unless this start or an earlier one may be registered
// already.
func (en *entry) abandonEntry() bool {
	en.choice.Lock()
	defer en.choice.Unlock()
	en.abandoned = !en.registering
	return en.abandoned
}

// completeEntry compares the settings with the cluster's and announces that the node has entered.
func (en *entry) completeEntry(st *table.State) error {
	cluster := st.Cluster()
	if text := en.c.n.cfg.wants().Differences(&cluster); text != "" {
		return permanentError{fmt.Errorf("%w: %s", ErrRefused, text)}
	}
	if err := en.c.refuseAlone(); err != nil {
		return permanentError{err}
	}
	en.choice.Lock()
	b := en.membership
	b.Generation, b.Entered = cluster.Generation, true
	err := en.chooseLocked(b)
	en.choice.Unlock()
	if err != nil {
		return err
	}
	// Later starts refer to this one.
	if err := en.c.n.runRegistered(en.c.incarnation, en.c.advertisedBus); err != nil {
		return permanentError{err}
	}
	en.committed.Store(true)
	if err := en.c.members.SetGeneration(cluster.Generation); err != nil && en.c.ctx.Err() == nil {
		return err
	}
	en.entered.Store(true)
	en.c.endIfSuperseded() // a later start may have been registered before this one counted as entered
	close(en.enteredCh)
	en.c.n.cfg.env.Reached(startEntered)
	en.c.n.cfg.Logger.Info("joined the cluster", "node", en.c.n.id, "cluster", cluster.Name, "generation", cluster.Generation, "strategy", cluster.Strategy.Name, "role", en.c.n.cfg.Role)
	if len(st.FormerNames(en.c.n.id)) > 0 {
		en.c.done.Go(en.c.takeOver)
	}
	if self, _ := st.Node(en.c.n.id); self.State == table.Leaving {
		// The node was told to leave before it was started again.
		if err := en.c.departure.leaveAndEnd(en.c.ctx); err != nil {
			return permanentError{err}
		}
	}
	return nil
}
