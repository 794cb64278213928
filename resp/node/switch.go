package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/agreement"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// switcher switches the strategy and reports the progress.
type switcher struct {
	c *cluster

	// opened tells that c.table is there: the table dials other nodes while it is still being opened.
	opened atomic.Bool

	mu sync.Mutex
	// versions of the bus protocol that the present starts of other nodes speak, by node.
	versions map[string]spoken
}

// spoken is the version that one start of a node speaks.
type spoken struct {
	incarnation uint64
	version     uint16
}

// met notes the version of a peer.
func (sw *switcher) met(p bus.Peer) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	was := sw.versions[p.ID]
	if p.Incarnation < was.incarnation || p.Incarnation == was.incarnation && p.Version < was.version {
		return
	}
	if sw.versions == nil {
		sw.versions = make(map[string]spoken)
	}
	sw.versions[p.ID] = spoken{p.Incarnation, p.Version}
}

// version returns the version that a start of a node speaks; 0 if it is not known.
func (sw *switcher) version(n *table.Node) uint16 {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if s := sw.versions[n.ID]; s.incarnation == n.Incarnation {
		return s.version
	}
	return 0
}

// neededVersion is the oldest version of the bus protocol that other nodes may speak: those that do
// not understand the table stay out.
func (sw *switcher) neededVersion() uint16 {
	if !sw.opened.Load() {
		return 0
	}
	st := sw.c.table.State()
	switch of := st.Cluster(); {
	case st.Values() != nil:
		return agreement.Needs(st.Values())
	case st.Policies() != nil:
		return bus.PoliciesVersion
	case st.Databases() > 1:
		return bus.DatabasesVersion
	case of.Tuned():
		return bus.TunedVersion
	case st.Seats() != nil:
		return bus.SeatsVersion
	case st.LoadBalance().Since != 0:
		return bus.LoadVersion
	case of.Since != 0:
		return bus.SwitchVersion
	}
	return 0
}

// Switch implements resp.Operator.
func (o operator) Switch(ctx context.Context, name string, settings []string) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.switcher.run(ctx, name, settings)
}

// switchTries is how often a switch is proposed while nodes start.
const switchTries = 3

// run has the table accept another strategy, or other settings of it.
func (sw *switcher) run(ctx context.Context, name string, settings []string) error {
	var err error
	for range switchTries {
		err = sw.propose(ctx, name, settings)
		if !errors.Is(err, table.ErrIncarnation) {
			break
		}
	}
	return err
}

func (sw *switcher) propose(ctx context.Context, name string, settings []string) error {
	st := sw.c.table.State()
	of := st.Cluster()
	next, err := otherStrategy(&of, name, settings)
	if err != nil {
		return err
	}
	// The strategy may refuse these members.
	in := inputOf(st, st.MembersOf())
	in.Overrides = nil // a switch drops them
	if _, err := placing.Desired(next, in); err != nil {
		return err
	}
	set := &table.SetStrategy{Strategy: placing.ToTable(next), After: of.Since, Seated: strategy.HasSeats(next.Name)}
	version, what := uint16(bus.SwitchVersion), "switch strategies"
	switch {
	case set.Strategy.Cells != table.CellSettings{}:
		version, what = bus.TunedVersion, "place by settings of "+next.Name
	case set.Seated:
		version, what = bus.SeatsVersion, "place by "+next.Name
	}
	if set.Starts, err = sw.starts(ctx, st, version, what); err != nil {
		return err
	}
	err = sw.c.propose(ctx, set, func(st *table.State) bool {
		now := st.Cluster()
		return now.Since > of.Since && now.Strategy == set.Strategy
	})
	if errors.Is(err, table.ErrStale) {
		return errors.New("another switch came first: RING STRATEGY shows it")
	}
	return err
}

// otherStrategy reads a strategy with its settings, which must not be those in force.
func otherStrategy(of *table.Cluster, name string, settings []string) (strategy.Config, error) {
	next, err := placing.InForce(of).With(name, settings)
	if err != nil {
		return next, err
	}
	if placing.ToTable(next) == of.Strategy {
		return next, fmt.Errorf("the strategy is %s with these settings already", next.Name)
	}
	next.Anew = true
	return next, nil
}

// inputOf is what a strategy needs to know for its desired placement.
func inputOf(st *table.State, members []ring.Member) ring.Input {
	return ring.Input{Members: members, Backups: st.Cluster().Backups, Present: st.Placement(), Overrides: st.LoadBalance().Overrides}
}

const (
	// versionTimeout bounds the question to nodes for their versions. It is longer than gossip
	// needs to notice that a node has crashed.
	versionTimeout = 15 * time.Second
	versionPause   = 200 * time.Millisecond // between two attempts to ask a node
)

// starts returns the nodes, all of which speak a version and so can do what is asked for. A node that was met has said so, though
// it may have crashed since. The others are asked, and one that is away says it when it returns: see
// neededVersion.
func (sw *switcher) starts(ctx context.Context, st *table.State, needed uint16, what string) ([]table.NodeStart, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var all []table.NodeStart
	for _, n := range st.Nodes() {
		if n.State == table.Gone {
			continue
		}
		all = append(all, table.NodeStart{Node: n.ID, Incarnation: n.Incarnation})
		if n.ID == sw.c.n.id {
			continue
		}
		version, err := sw.version(&n), error(nil)
		if version < needed {
			version, err = sw.ask(ctx, n.ID)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("node %s does not say whether its build can %s: %w", n.ID, what, err)
		case version != 0 && version < needed:
			return nil, fmt.Errorf("the build of node %s cannot %s: upgrade it first", n.ID, what)
		}
	}
	return all, nil
}

// ask returns the version that a node speaks, 0 if the node is away.
func (sw *switcher) ask(ctx context.Context, node string) (uint16, error) {
	for sw.c.alive(node) {
		conn, peer, err := sw.c.dialPeer(ctx, node, bus.Control)
		if err == nil {
			_ = conn.Close()
			return peer.Version, nil
		}
		select {
		case <-time.After(versionPause):
		case <-ctx.Done():
			return 0, err
		}
	}
	return 0, nil
}

// Strategy implements resp.Operator.
func (o operator) Strategy(ctx context.Context) (string, error) {
	c, err := o.cluster()
	if err != nil {
		return "", err
	}
	return c.switcher.text(ctx)
}

// text describes the strategy in force and what is left of a switch to it.
func (sw *switcher) text(ctx context.Context) (string, error) {
	c := sw.c
	st := c.table.State()
	of := st.Cluster()
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s:%v\r\n", name, value) }
	line("strategy", of.Strategy.Name)
	for _, setting := range strategy.Settings(of.Strategy.Name) {
		line(strings.ReplaceAll(setting, "-", "_"), placing.InForce(&of).Setting(setting))
	}
	line("hash", of.Strategy.Hash)
	line("founding_strategy", of.FoundedWith().Name)
	line("exact_to", cmp.Or(placing.InForce(&of).ExactTo(), "none"))
	line("switching", of.Unfinished)
	line("ranges", st.Len())
	if !of.Unfinished {
		return b.String(), nil
	}
	members := st.MembersOf()
	desired, err := c.strategy.Desired(inputOf(st, members))
	if err != nil {
		return "", err
	}
	p := c.compare(ctx, st, desired, members)
	sum := p.Total()
	line("desired_ranges", desired.Len())
	line("ranges_left", sum.Ranges)
	line("keys_left", sum.Keys)
	line("bytes_left", sum.Bytes)
	line("seconds_left", int64(math.Ceil(p.Seconds())))
	line("handoffs", p.Running)
	line("paused", p.Paused)
	return b.String(), nil
}
