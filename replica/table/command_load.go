package table

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// LoadBalance says how the load on nodes is evened. Its zero value is that of a new cluster: a state
// with it has the form that builds without load balancing read.
type LoadBalance struct {
	// On has the leader look for better overrides while the load is uneven.
	On bool
	// Overrides are in force whether On is set or not. They are shared and must not be changed.
	Overrides []ring.Override
	// Since is the table index of the last change; 0 if there was none.
	Since uint64
}

// LoadBalance is how the load on nodes is evened.
func (s *State) LoadBalance() LoadBalance { return s.load }

func (l *LoadBalance) validate() error {
	if err := ring.CheckOverrides(l.Overrides); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

func (l *LoadBalance) code(c *codec) {
	c.flag(&l.On)
	overrides(c, &l.Overrides)
	c.number(&l.Since)
}

func overrides(c *codec, all *[]ring.Override) {
	list(c, all, 10, func(o *ring.Override) {
		c.span(&o.Range)
		c.text(&o.Node)
		c.text(&o.Home)
	})
}

// SetLoadBalance switches load balancing on or off, or gives ranges to other nodes. Builds that do not know
// this command stop at its entry, so the proposer asks all nodes first: see Starts.
type SetLoadBalance struct {
	On        bool
	Overrides []ring.Override
	// After is the [LoadBalance.Since] that the proposer knows, and Strategy the [Switch.Since].
	After, Strategy uint64
	// Starts are the nodes of which the proposer knows that they understand this command. They are all
	// nodes that are not gone.
	Starts []NodeStart
}

func (*SetLoadBalance) kind() kind { return kindSetLoadBalance }

func (s *SetLoadBalance) code(c *codec) {
	c.flag(&s.On)
	overrides(c, &s.Overrides)
	c.number(&s.After)
	c.number(&s.Strategy)
	starts(c, &s.Starts)
}

func (s *SetLoadBalance) apply(d *draft) error {
	switch of := &d.cluster; {
	case s.After != d.load.Since:
		return refuse(ErrStale, "load balancing was changed at index %d, not at %d", d.load.Since, s.After)
	case s.Strategy != of.Since:
		return refuse(ErrStale, "the strategy was switched at index %d, not at %d", of.Since, s.Strategy)
	case of.Unfinished && len(s.Overrides) > 0:
		return refuse(ErrBusy, "the strategy is being switched")
	}
	if err := d.knownStarts(s.Starts); err != nil {
		return err
	}
	if !slices.Equal(s.Overrides, d.load.Overrides) {
		d.replan()
	}
	d.load = LoadBalance{On: s.On, Overrides: s.Overrides, Since: d.index}
	return d.load.validate()
}

// A NodeStart is one start of a node.
type NodeStart struct {
	Node        string
	Incarnation uint64
}

func starts(c *codec, all *[]NodeStart) {
	list(c, all, 2, func(n *NodeStart) {
		c.text(&n.Node)
		c.number(&n.Incarnation)
	})
}

// knownStarts refuses a command unless the proposer knows the present start of each node.
func (d *draft) knownStarts(all []NodeStart) error {
	known := make(map[NodeStart]bool, len(all))
	for _, n := range all {
		known[n] = true
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.State != Gone && !known[NodeStart{n.ID, n.Incarnation}] {
			return refuse(ErrIncarnation, "%s was started meanwhile, as %d", n.ID, n.Incarnation)
		}
	}
	return nil
}
