package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
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

// enter brings the node into a cluster: the one of its directory, one that it joins, or one that it
// founds. It returns once the node is registered. After a permanent error it ends the node.
func (c *cluster) enter() {
	c.n.cfg.env.reached(startEntering)
	said, at := "", time.Time{}
	for c.ctx.Err() == nil {
		err := c.advance()
		if err == nil || c.ctx.Err() != nil || errors.Is(err, errAbandoned) {
			return
		}
		var end permanentError
		if errors.As(err, &end) {
			c.n.finish(err)
			return
		}
		if text := err.Error(); text != said && !errors.Is(err, errChosen) || time.Since(at) > enterRemind {
			said, at = text, time.Now()
			c.n.cfg.Logger.Info("not in a cluster yet: requests wait", "node", c.n.id, "err", err)
		}
		select {
		case <-time.After(enterPause):
		case <-c.ctx.Done():
		}
	}
}

// advance takes the next step into a cluster. It returns nil once the node is registered.
func (c *cluster) advance() error {
	b := c.chosenMembership()
	begun := b.Entered || c.table.Known()
	switch {
	case b.Generation == 0:
		if err := c.chooseCluster(b); err != nil {
			return err
		}
	case begun || b.Founder == "":
	case b.Founder != c.n.id:
		if err := c.awaitFounder(b); err != nil {
			return err
		}
	default:
		if err := c.resumeFounding(b); err != nil {
			return err
		}
	}
	if b = c.chosenMembership(); b.Founder == c.n.id && !b.Entered {
		if err := c.foundCluster(b.Generation); err != nil && !errors.Is(err, table.ErrFounded) {
			return err
		}
	}
	return c.register()
}

// chooseCluster chooses a cluster.
func (c *cluster) chooseCluster(b membership) error {
	cfg := &c.n.cfg
	if c.foundsAlone() {
		was := b
		b.Generation, b.Founder = newGeneration(), c.n.id
		return c.choose(was, b)
	}
	found := c.generations()
	switch {
	case len(found) > 1:
		var each []string
		for generation, nodes := range found {
			each = append(each, fmt.Sprintf("generation %d at %s", generation, strings.Join(idsOf(nodes), ", ")))
		}
		return fmt.Errorf("%w: there are two clusters named %q, %s: name nodes of one of them to join", errWaiting, cfg.Cluster, strings.Join(each, "; "))
	case len(found) == 1:
		for generation, nodes := range found {
			return c.joinCluster(b, generation, nodes)
		}
	case cfg.BootstrapExpect > 0:
		return c.bootstrap(b)
	}
	if peers := c.peers(); len(peers) > 0 {
		return fmt.Errorf("%w: %s can be reached, but no node there is in a cluster yet", errWaiting, strings.Join(peers, ", "))
	}
	if len(cfg.Join) == 0 { // a proxy that other nodes are told to join
		return fmt.Errorf("%w for a store to join this proxy, which founds no cluster", errWaiting)
	}
	return fmt.Errorf("%w: no other node answers at %s (a node without join founds a cluster, several found one with bootstrap-expect)",
		errWaiting, strings.Join(cfg.Join, ", "))
}

// foundsAlone reports whether the node founds a cluster by itself: it was not told to join.
func (c *cluster) foundsAlone() bool {
	cfg := &c.n.cfg
	return cfg.Role == RoleStore && len(cfg.Join) == 0 && cfg.BootstrapExpect == 0
}

// joinCluster chooses an existing cluster, if one of its nodes admits this one.
func (c *cluster) joinCluster(b membership, generation uint64, nodes []members.Node) error {
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	var faults []error
	for _, m := range nodes {
		a, err := c.ask(ctx, m.ID, &question{Kind: askEnter, Wants: c.n.cfg.wants()})
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
		return c.choose(was, b)
	}
	return fmt.Errorf("%w for a node of the cluster to answer: %w", errWaiting, errors.Join(faults...))
}

// foundCluster founds the cluster, or completes what an earlier start began.
func (c *cluster) foundCluster(generation uint64) error {
	cfg := &c.n.cfg
	own, err := cfg.strategy()
	if err != nil {
		return permanentError{err}
	}
	self := ring.Member{ID: c.n.id, Weight: cfg.Weight, Pins: c.pins.Tokens, OnlyPins: c.pins.Only}
	alone, err := c.strategy.Desired(ring.Input{Members: []ring.Member{self}})
	if err != nil {
		return permanentError{err}
	}
	f := &table.Found{
		Cluster: table.Cluster{Name: cfg.Cluster, Generation: generation, Strategy: tableSettings(own), Backups: cfg.Backups},
		Node:    c.n.id, Incarnation: c.incarnation - 1, Weight: cfg.Weight, Pins: self.Pins, OnlyPins: self.OnlyPins,
	}
	for row := range alone.Rows() {
		f.Rows = append(f.Rows, *row)
	}
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	_, err = c.table.Found(ctx, f)
	return err
}

// register registers this start in the chosen cluster.
func (c *cluster) register() error {
	cfg := &c.n.cfg
	r := &table.Register{
		Node: c.n.id, Incarnation: c.incarnation, Weight: cfg.Weight,
		HasPins: cfg.Pin != "", Pins: c.pins.Tokens, OnlyPins: c.pins.Only, Role: cfg.tableRole(),
	}
	r.Intact, r.After = c.n.run.intact()
	if !c.beginRegistering() {
		return errAbandoned
	}
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	_, err := c.table.Apply(ctx, r)
	st := c.table.State()
	n, known := st.Node(c.n.id)
	switch {
	case known && n.Incarnation == c.incarnation: // also if an earlier attempt has succeeded
		cfg.env.reached(startRegistered)
	case errors.Is(err, table.ErrIncarnation) && c.table.Abstains():
		// This node follows no table that could tell which of the two it is.
		return permanentError{fmt.Errorf("%w; or this start is registered, and the answer that said so was lost: then start the node again", ErrSuperseded)}
	case errors.Is(err, table.ErrIncarnation) && !(known && n.Incarnation > c.incarnation):
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
	return c.completeEntry(st)
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
func (c *cluster) beginRegistering() bool {
	c.choice.Lock()
	defer c.choice.Unlock()
	c.registering = !c.abandoned
	return c.registering
}

// abandonEntry ends the way into a cluster, unless this start or an earlier one may be registered
// already.
func (c *cluster) abandonEntry() bool {
	c.choice.Lock()
	defer c.choice.Unlock()
	c.abandoned = !c.registering
	return c.abandoned
}

// completeEntry compares the settings with the cluster's and announces that the node has entered.
func (c *cluster) completeEntry(st *table.State) error {
	cluster := st.Cluster()
	if text := c.n.cfg.wants().differences(cluster.Strategy); text != "" {
		return permanentError{fmt.Errorf("%w: %s", ErrRefused, text)}
	}
	c.choice.Lock()
	b := c.membership
	b.Generation, b.Entered = cluster.Generation, true
	err := c.chooseLocked(b)
	c.choice.Unlock()
	if err != nil {
		return err
	}
	// Later starts refer to this one.
	if err := c.n.runRegistered(c.incarnation, c.advertisedBus); err != nil {
		return permanentError{err}
	}
	c.committed.Store(true)
	if err := c.members.SetGeneration(cluster.Generation); err != nil && c.ctx.Err() == nil {
		return err
	}
	c.entered.Store(true)
	close(c.enteredCh)
	c.n.cfg.env.reached(startEntered)
	c.n.cfg.Logger.Info("joined the cluster", "node", c.n.id, "cluster", cluster.Name, "generation", cluster.Generation, "role", c.n.cfg.Role)
	if len(st.FormerNames(c.n.id)) > 0 {
		c.done.Go(c.takeOver)
	}
	if self, _ := st.Node(c.n.id); self.State == table.Leaving {
		// The node was told to leave before it was started again.
		if err := c.leaveAndEnd(c.ctx); err != nil {
			return permanentError{err}
		}
	}
	return nil
}
