package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/decisions"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/orders"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// maxBackups is how many copies beside the primary a cluster can keep.
const maxBackups = 31

// operator carries out the orders of RING. It is there before the cluster is.
type operator struct{ n *Node }

func (o operator) cluster() (*cluster, error) {
	c := o.n.part.Load()
	if c == nil || !c.table.State().Founded() {
		return nil, errStarting
	}
	return c, nil
}

// Ordered implements resp.Operator.
func (o operator) Ordered(ctx context.Context, user, order string) {
	if c, err := o.cluster(); err == nil {
		agreementOf(c).NoteOrder(ctx, decisions.Order{User: user, Node: o.n.id, Text: order}, o.n.cfg.Logger)
	}
}

// Plan implements resp.Operator.
func (o operator) Plan(ctx context.Context, change orders.Change) (string, error) {
	c, err := o.cluster()
	if err != nil {
		return "", err
	}
	p, _, err := c.plan(ctx, change, 0)
	if err != nil {
		return "", err
	}
	return p.Text()
}

func (o operator) Decisions(_ context.Context, n int) (string, error) {
	return o.n.decisions.Text(n), nil
}

// mostWhatIf is the limit of points in a plan for an unauthenticated client: each takes about 600 bytes.
const mostWhatIf = 1 << 17

// whatIf plans a change, which the words after RING PLAN name, for the live page, which anybody may see.
func (o operator) whatIf(ctx context.Context, words []string) (string, *ring.Placement, error) {
	c, err := o.cluster()
	if err != nil {
		return "", nil, err
	}
	change, err := orders.ParseChange(words)
	if err != nil {
		return "", nil, err
	}
	most := mostWhatIf
	if now := c.table.State().Placement(); now != nil {
		most = max(most, 2*now.Len())
	}
	p, desired, err := c.plan(ctx, change, most)
	if err != nil {
		return "", nil, err
	}
	text, err := p.Text()
	return text, desired, err
}

// Leave implements resp.Operator.
func (o operator) Leave(ctx context.Context) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.departure.leaveAndEnd(ctx)
}

// Forget implements resp.Operator.
func (o operator) Forget(ctx context.Context, node string) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.forget(ctx, node)
}

// Pause implements resp.Operator.
func (o operator) Pause(ctx context.Context) error {
	return o.setMoves(ctx, &table.SetMoves{Paused: new(true)})
}

// Resume implements resp.Operator.
func (o operator) Resume(ctx context.Context) error {
	return o.setMoves(ctx, &table.SetMoves{Paused: new(false)})
}

// Throttle implements resp.Operator.
func (o operator) Throttle(ctx context.Context, bytes int64) error {
	return o.setMoves(ctx, &table.SetMoves{Throttle: &bytes})
}

func (o operator) setMoves(ctx context.Context, set *table.SetMoves) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.propose(ctx, set, func(st *table.State) bool {
		moves := st.Cluster().Moves
		return (set.Paused == nil || moves.Paused == *set.Paused) && (set.Throttle == nil || moves.Throttle == *set.Throttle)
	})
}

// Backups implements resp.Operator.
func (o operator) Backups(ctx context.Context, n int) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	if n > maxBackups {
		return fmt.Errorf("%d copies beside the primary are more than the %d that there can be", n, maxBackups)
	}
	return c.propose(ctx, &table.SetBackups{Backups: n}, func(st *table.State) bool { return st.Cluster().Backups == n })
}

// Scrub implements resp.Operator.
func (o operator) Scrub(ctx context.Context) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.engine.Scrub().StartAll(ctx)
}

// Recreate implements resp.Operator.
func (o operator) Recreate(ctx context.Context, ranges []ring.Range, from string) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.recreation.recreate(ctx, ranges, from)
}

// Pin implements resp.Operator.
func (o operator) Pin(ctx context.Context, pins vnode.Pins) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	return c.pin(ctx, pins)
}

// unknownOutcomeTimeout is how long the table may take to show a command with an unknown outcome.
const unknownOutcomeTimeout = 5 * time.Second

// propose has the table take an order, and says in an operator's words why not. shows
// reports whether a state has what was ordered.
func (c *cluster) propose(ctx context.Context, order table.Command, shows func(*table.State) bool) error {
	_, err := c.table.Apply(ctx, order)
	return outcome(ctx, c, err, shows)
}

// outcome is the result of an order, by the error of proposing it. If that is not known, it waits until the
// table shows the order.
func outcome(ctx context.Context, c *cluster, err error, shows func(*table.State) bool) error {
	switch {
	case errors.Is(err, table.ErrNoLeader):
		return errors.New("the cluster has no leader: a majority of its voters cannot be reached, and nothing has changed")
	case errors.Is(err, table.ErrUnknownOutcome):
		ctx, cancel := context.WithTimeout(ctx, unknownOutcomeTimeout)
		defer cancel()
		if c.waitForState(ctx, shows) {
			return nil
		}
		return errLeaderLost
	}
	return err
}

// errLeaderLost says that an order may hold yet.
var errLeaderLost = fmt.Errorf("%w: the leader was lost during the command; RING STATUS soon shows whether the command took effect", agreed.ErrUnknown)

// waitForState waits for a state.
func (c *cluster) waitForState(ctx context.Context, shows func(*table.State) bool) bool {
	changes, end := c.table.Changes()
	defer end()
	for !shows(c.table.State()) {
		select {
		case <-changes:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// isNow returns a condition: the node is in a state.
func isNow(node string, state table.NodeState) func(*table.State) bool {
	return func(st *table.State) bool {
		n, _ := st.Node(node)
		return n.State == state
	}
}

// findNode is the node of a name in an order: see [nodeNamed].
func (c *cluster) findNode(name string) (table.Node, error) {
	var nodes []table.Node
	for _, n := range c.table.State().Nodes() {
		if n.State != table.Gone {
			nodes = append(nodes, n)
		}
	}
	return nodeNamed(name, nodes)
}

// nodeNamed returns the node with an id, or with the id of its directory, the UUID at the end of a default id. Other
// parts of an id name no node: an order that is meant for web-1 must not reach web-10.
func nodeNamed(name string, nodes []table.Node) (table.Node, error) {
	var found []table.Node
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		if n.ID == name {
			return n, nil
		}
		if directory, ok := directoryID(n.ID); ok && directory == name {
			found = append(found, n)
		}
		ids[i] = n.ID
	}
	if len(found) == 1 {
		return found[0], nil
	}
	slices.Sort(ids)
	if len(ids) > maxNamedNodes {
		ids = append(ids[:maxNamedNodes], "… (RING NODES lists all)")
	}
	if len(found) > 1 {
		return table.Node{}, fmt.Errorf("%d nodes have the directory %s: give the whole id; there are %s", len(found), name, strings.Join(ids, ", "))
	}
	return table.Node{}, fmt.Errorf("there is no node %.100q; there are %s", name, strings.Join(ids, ", "))
}

// maxNamedNodes is how many nodes an error names.
const maxNamedNodes = 12

func (c *cluster) alive(node string) bool {
	m, ok := c.members.Node(node)
	return ok && m.Status == members.Alive
}

// forget removes a node that is away for good and has no copy that counts.
func (c *cluster) forget(ctx context.Context, name string) error {
	n, err := c.findNode(name)
	if err == nil {
		return forgetNode(ctx, c, n)
	}
	if m, ok := c.members.Node(name); ok && m.Status != members.Alive {
		return c.members.Forget(name) // it never registered, or is gone from the table already
	}
	return err
}

func forgetNode(ctx context.Context, c *cluster, n table.Node) error {
	switch {
	case n.ID == c.n.id:
		return errors.New("a node cannot forget itself: RING LEAVE hands over its data and stops it")
	case c.alive(n.ID) && n.Role != table.Store:
		return fmt.Errorf("%s is alive: stop it first", n.ID)
	case c.alive(n.ID):
		return fmt.Errorf("%s is alive: send RING LEAVE to it, so that it hands over its data", n.ID)
	}
	err := c.propose(ctx, &table.Forget{Node: n.ID, Incarnation: n.Incarnation}, isNow(n.ID, table.Gone))
	if errors.Is(err, table.ErrCopies) {
		return c.copiesError(n.ID)
	}
	if err != nil {
		return err
	}
	if _, ok := c.members.Node(n.ID); !ok {
		return nil
	}
	if err := c.members.Forget(n.ID); err != nil {
		return fmt.Errorf("%w: %s is no longer in the table, but it may be in gossip: %w", agreed.ErrUnknown, n.ID, err)
	}
	return nil
}

// copiesError says what to do about a node that is away with data.
func (c *cluster) copiesError(node string) error {
	ranges, only := 0, 0
	var first *table.Row
	for row := range c.table.State().Rows() {
		if !row.Holds(node) {
			continue
		}
		ranges++
		if len(row.Backups) == 0 {
			only++
			if first == nil {
				first = row
			}
		}
	}
	if first == nil {
		return fmt.Errorf("%s still has copies of %d ranges: repeat RING FORGET when other nodes have taken them over", node, ranges)
	}
	return fmt.Errorf("%s has %d ranges and the only copy of %d of them: start it again and send it RING LEAVE; "+
		"or give their data up with RING RECREATE ALL, or for one range, such as RING RECREATE %v", node, ranges, only, first.Range)
}

// pin changes the points of a node, if the strategy has a placement with them.
func (c *cluster) pin(ctx context.Context, pins vnode.Pins) error {
	if now := c.strategy.Name(); now != vnode.Name {
		return fmt.Errorf("points are of strategy %s, this cluster has %s", vnode.Name, now)
	}
	n, err := c.findNode(pins.Node)
	if err != nil {
		return err
	}
	if n.Role != table.Store {
		return fmt.Errorf("%s is a %v and has no points", n.ID, n.Role)
	}
	st := c.table.State()
	members := st.MembersOf()
	for i := range members {
		if members[i].ID == n.ID {
			members[i].Pins, members[i].OnlyPins = pins.Tokens, pins.Only
		}
	}
	if _, err := replica.DesiredPlacement(st, c.strategy, members); err != nil {
		return err
	}
	set := &table.SetPins{Node: n.ID, Incarnation: n.Incarnation, Pins: pins.Tokens, OnlyPins: pins.Only}
	return c.propose(ctx, set, func(st *table.State) bool {
		now, _ := st.Node(n.ID)
		return slices.Equal(now.Pins, pins.Tokens) && now.OnlyPins == pins.Only
	})
}
