package node

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/internal/orders"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/resp/node/internal/planning"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

const (
	// assumedRate is the assumed speed of a handoff, in bytes a second, while none has been
	// measured.
	assumedRate = 100 * mib
	// leastMeasured is how many bytes must have moved for their rate to mean anything.
	leastMeasured = 16 * mib
	// planTimeout is how long a plan waits for one node to count what would move.
	planTimeout = 20 * time.Second
)

// plan returns what would move after a change, and the placement then. The nodes may have so many points together; 0 is
// [ring.MaxPoints].
func (c *cluster) plan(ctx context.Context, change orders.Change, mostPoints int) (*status.Plan, *ring.Placement, error) {
	st := c.table.State()
	members, leaving, err := c.plannedMembers(st, change.Join, change.Leave)
	if err != nil {
		return nil, nil, err
	}
	of := st.Cluster()
	next := placing.InForce(&of)
	if change.Strategy != "" {
		if next, err = otherStrategy(&of, change.Strategy, change.Settings); err != nil {
			return nil, nil, err
		}
	}
	in := inputOf(st, members)
	in.MostPoints = mostPoints
	var balance *load.Proposal
	switch {
	case change.Load:
		if balance, err = c.balancer.proposal(ctx, st); err != nil {
			return nil, nil, err
		}
		in.Overrides = balance.Overrides
	case change.Strategy != "":
		in.Overrides = nil // a switch drops them
	}
	desired, err := placing.Desired(next, in)
	if err != nil {
		return nil, nil, err
	}
	p := c.compare(ctx, st, desired, members)
	p.Leave = leaving
	if balance != nil {
		p.Balance = plannedBalance(balance)
	}
	if change.Strategy != "" {
		to := strategyReport(next, of.Backups)
		p.Switch = &to
	}
	for _, m := range change.Join {
		text := m.ID
		if m.Weight != 1 {
			text += " of weight " + strconv.FormatFloat(m.Weight, 'g', 4, 64)
		}
		if m.Zone != "" {
			text += " in zone " + m.Zone
		}
		p.Join = append(p.Join, text)
	}
	return p, desired, nil
}

// compare describes what has to move to a desired placement.
func (c *cluster) compare(ctx context.Context, st *table.State, desired *ring.Placement, members []ring.Member) *status.Plan {
	present, of := st.Placement(), st.Cluster()
	changes := ring.NewPlan(present, desired)
	p := &status.Plan{
		Strategy: strategyReport(placing.InForce(&of), of.Backups), Nodes: planning.Nodes(present, desired, members),
		Promotions: len(changes.Promotions), Drops: len(changes.Drops),
		Throttle: of.Throttle, Paused: of.Paused, Running: len(st.Handoffs()),
	}
	c.measure(ctx, st, p, changes.Handoffs, planning.CountMoves(present, desired))
	return p
}

// plannedMembers are the members that there would be. Its error names what cannot be.
func (c *cluster) plannedMembers(st *table.State, join []ring.Member, leave []string) (members []ring.Member, leaving []string, err error) {
	members = st.MembersOf()
	for _, name := range leave {
		n, err := c.findNode(name)
		if err != nil {
			return nil, nil, fmt.Errorf("LEAVE: %w", err)
		}
		at := slices.IndexFunc(members, func(m ring.Member) bool { return m.ID == n.ID })
		if at < 0 {
			return nil, nil, fmt.Errorf("LEAVE: %s is a %v that is %v: it has no share", n.ID, n.Role, n.State)
		}
		members = slices.Delete(members, at, at+1)
		leaving = append(leaving, n.ID)
	}
	for _, m := range join {
		if n, ok := st.Node(m.ID); ok && n.State != table.Gone {
			return nil, nil, fmt.Errorf("JOIN: %s is in the cluster already", m.ID)
		}
		members = append(members, m)
	}
	if len(members) == 0 {
		return nil, nil, fmt.Errorf("LEAVE: no node would be left to take the data")
	}
	_, err = ring.SortedMembers(members)
	return members, leaving, err
}

// measure asks every node for what it would send, and for how fast it has been.
func (c *cluster) measure(ctx context.Context, st *table.State, p *status.Plan, handoffs []ring.Handoff, ranges map[planning.Pair]int) {
	inquiries := make(map[string]*statusQuery)
	for _, n := range st.Nodes() {
		if n.State != table.Gone && c.alive(n.ID) {
			inquiries[n.ID] = &statusQuery{}
		}
	}
	for _, h := range handoffs {
		if q := inquiries[h.From]; q != nil {
			for _, piece := range h.Pieces {
				q.Loads = append(q.Loads, piece.Range)
			}
		}
	}
	outcomes := c.status.queryAll(ctx, inquiries, planTimeout)
	p.Rate, p.Measured = rateOf(outcomes)
	if p.Throttle > 0 {
		p.Rate = min(p.Rate, float64(p.Throttle))
	}
	told := make(map[string]int) // how many loads of a node are used
	more := make(map[string]*status.Amount)
	add := func(node string, sign int64, load ring.Load) {
		if more[node] == nil {
			more[node] = new(status.Amount)
		}
		more[node].Keys += sign * load.Keys
		more[node].Bytes += sign * load.Bytes
	}
	for _, h := range handoffs {
		m := status.PlannedMove{From: h.From, To: h.To, Ranges: ranges[planning.Pair{From: h.From, To: h.To}]}
		switch o, asked := outcomes[h.From]; {
		case !asked:
			m.Fault = errAway.Error()
		case o.err != nil:
			m.Fault = o.err.Error()
		default:
			for _, piece := range h.Pieces {
				load := o.Loads[told[h.From]]
				told[h.From]++
				m.Keys += load.Keys
				m.Bytes += load.Bytes
				add(h.To, 1, load)
				add(piece.Release, -1, load)
			}
		}
		p.Moves = append(p.Moves, m)
	}
	delete(more, "") // copies that are added
	for _, m := range more {
		p.Least.Keys += max(0, m.Keys)
		p.Least.Bytes += max(0, m.Bytes)
	}
}

// rateOf is the mean rate of all nodes' handoffs so far, or else the assumed one.
func rateOf(outcomes map[string]queryResult) (rate float64, handoffs int64) {
	bytes, seconds := 0.0, 0.0
	for _, o := range outcomes {
		if m := o.Moved; o.err == nil && m.Rate > 0 {
			bytes += float64(m.Bytes)
			seconds += float64(m.Bytes) / m.Rate
			handoffs += m.Done
		}
	}
	if bytes < leastMeasured {
		return assumedRate, 0
	}
	return bytes / seconds, handoffs
}
