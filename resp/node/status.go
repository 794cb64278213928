package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
	"github.com/ringside-kv/ringside/resp/node/internal/facts"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/resp/page"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// statusReporter reports the state of the cluster and of this node.
type statusReporter struct{ c *cluster }

// overview is what clients are told of the cluster. It is there before the cluster is.
type overview struct{ n *Node }

var errStarting = errors.New("this node is not in its cluster yet")

// Status implements resp.Overview.
func (o overview) Status(ctx context.Context) (*status.Report, error) {
	c := o.n.part.Load()
	if c == nil || !c.table.State().Founded() {
		return nil, errStarting
	}
	return c.status.report(ctx), nil
}

// Histories returns the last hour of nodes: see [page.Config].
func (o overview) Histories(ctx context.Context, node string) map[string][]page.Sample {
	c := o.n.part.Load()
	if c == nil {
		return nil
	}
	return c.status.histories(ctx, node)
}

// Moves implements resp.Overview.
func (o overview) Moves() resp.Moves {
	c := o.n.part.Load()
	if c == nil || !c.table.State().Founded() {
		return resp.Moves{}
	}
	st := c.table.State()
	of := st.Cluster()
	m := resp.Moves{
		Cluster: of.Name, Generation: generationText(of.Generation), Paused: of.Paused, Throttle: of.Throttle, Switching: of.Unfinished,
		Waiting: make(map[string]int), Moved: moved(c.engine.Totals()),
	}
	for _, cause := range replica.Causes() {
		m.Waiting[cause.String()] = 0
	}
	m.Feeding = c.readiness.feedStatus()
	m.Scrub = *c.scrub()
	m.Short, m.Lost = facts.Shortages(st, c.members.Nodes())
	m.Lease.Valid = true
	if l := leaseOf(c.engine.LeaseStats()); l != nil {
		m.Lease = *l
	}
	m.Leader, _ = c.table.Leader()
	for _, h := range st.Handoffs() {
		if h.From == c.n.id || h.To == c.n.id {
			m.Running++
		}
	}
	for _, p := range c.engine.Progress() {
		m.PendingKeys += max(p.KeysTotal-p.KeysDone, 0)
		m.PendingBytes += max(p.BytesTotal-p.BytesDone, 0)
		if p.Cause != replica.NotWaiting {
			m.Waiting[p.Cause.String()]++
		}
	}
	return m
}

func generationText(generation uint64) string { return strconv.FormatUint(generation, 10) }

// strategyReport keeps the settings that the strategy has.
func strategyReport(s strategy.Config, backups int) status.Strategy {
	r := status.Strategy{Name: s.Name, Hash: s.Hash, Backups: backups, ExactTo: s.ExactTo()}
	switch s.Name {
	case strategy.Buckets:
		r.Mask = s.Setting("mask")
	case strategy.Ketama:
		r.Points, r.KetamaRule = s.Points, string(s.KetamaRule)
	case strategy.VNode:
		r.VNodes = s.VNodes
	case strategy.MultiProbe:
		r.Probes = s.Cells.Probes
	case strategy.LRH:
		r.Candidates = s.Cells.Candidates
	case strategy.Bounded:
		r.Slack = s.Cells.Slack
	}
	return r
}

// report describes the cluster: placement and handoffs by this node's table, running nodes by
// gossip, and what the nodes report of themselves.
func (sr *statusReporter) report(ctx context.Context) *status.Report {
	st := sr.c.table.State()
	of := st.Cluster()
	r := &status.Report{
		Cluster: of.Name, Generation: generationText(of.Generation), Strategy: strategyReport(placing.InForce(&of), of.Backups),
		Asked: sr.c.n.id, At: time.Now(), TableIndex: st.Index(), Paused: of.Paused, Throttle: of.Throttle, ReplicaOf: replicaof.Report(st.Values()),
		Ranges: st.Len(), Nodes: sr.reportNodes(st),
	}
	r.Short, r.Lost = facts.Shortages(st, sr.c.members.Nodes())
	r.Leader, _ = sr.c.table.Leader()
	if of.Strategy.Name == strategy.Buckets {
		r.Buckets = status.BucketsOf(st.Placement())
	}
	inquiries := make(map[string]*statusQuery)
	for i := range r.Nodes {
		if r.Nodes[i].Health == status.Alive {
			inquiries[r.Nodes[i].ID] = &statusQuery{}
		}
	}
	outcomes := sr.queryAll(ctx, inquiries, statusTimeout)
	var sizes []map[int]int64
	for i := range r.Nodes {
		n := &r.Nodes[i]
		outcome, asked := outcomes[n.ID]
		switch {
		case !asked:
		case outcome.err != nil:
			n.Fault = outcome.err.Error()
		default:
			n.Answered, n.Version, n.Keys, n.Bytes = true, outcome.Version, outcome.Keys, outcome.Bytes
			n.WritesRefused, n.Moved, n.Lease, n.Feeding, n.Scrub = outcome.Refused, outcome.Moved, outcome.Lease, outcome.Feeding, outcome.Scrub
			n.Load, n.Machine = outcome.Load, outcome.Machine
			sizes = append(sizes, outcome.Sizes)
		}
	}
	r.Databases = sr.c.policies.Report(st, sizes)
	for _, h := range st.Handoffs() {
		source, asked := outcomes[h.From]
		if !asked {
			source.err = errAway
		}
		r.Handoffs = append(r.Handoffs, reportHandoff(st, h, source))
	}
	return r
}

// reportNodes are the nodes of the table, and those that gossip and are in none.
func (sr *statusReporter) reportNodes(st *table.State) []status.Node {
	var nodes []status.Node
	voters := sr.c.table.Voters()
	met := make(map[string]members.Node)
	for _, m := range sr.c.members.Nodes() {
		met[m.ID] = m
	}
	for _, n := range st.Nodes() {
		m, ok := met[n.ID]
		if n.State == table.Gone && (!ok || m.Status != members.Alive) {
			delete(met, n.ID)
			continue
		}
		if n.State == table.Gone {
			continue // it is there all the same: below
		}
		delete(met, n.ID)
		r := status.Node{
			ID: n.ID, Role: n.Role.String(), State: n.State.String(), Health: status.Unseen, Weight: n.Weight,
			Voter: slices.Contains(voters, n.ID), Zone: zones.Of(st.Values(), n.ID),
		}
		if ok {
			sr.addGossip(&r, m)
		}
		nodes = append(nodes, r)
	}
	for _, m := range met {
		if m.Status == members.Alive {
			r := status.Node{ID: m.ID, Role: string(m.Role), State: status.Stray, Weight: m.Weight}
			sr.addGossip(&r, m)
			nodes = append(nodes, r)
		}
	}
	slices.SortFunc(nodes, func(a, b status.Node) int { return cmp.Compare(a.ID, b.ID) })
	countRanges(nodes, st)
	return nodes
}

// addGossip adds what gossip knows of a node.
func (sr *statusReporter) addGossip(r *status.Node, m members.Node) {
	r.Addr, r.Version = m.ClientAddr, m.Version
	r.Health, r.Since = m.Status.String(), sr.c.sightings.Since(m.ID)
}

func countRanges(nodes []status.Node, st *table.State) {
	at := make(map[string]*status.Node, len(nodes))
	for i := range nodes {
		at[nodes[i].ID] = &nodes[i]
	}
	tokens := make(map[string]uint64, len(nodes))
	for row := range st.Rows() {
		if n := at[row.Primary]; n != nil {
			n.Primaries++
			tokens[n.ID] += row.Range.Len()
		}
		for _, id := range row.Backups {
			if n := at[id]; n != nil {
				n.Backups++
			}
		}
		for _, id := range row.Learners {
			if n := at[id]; n != nil {
				n.Learners++
			}
		}
	}
	for id, n := range tokens {
		at[id].Share = float64(n) / (1 << 32)
	}
}

var errAway = errors.New("it does not account")

// reportHandoff is a handoff with what its source says of it.
func reportHandoff(st *table.State, h *table.Handoff, source queryResult) status.Handoff {
	r := status.Handoff{ID: h.ID, From: h.From, To: h.To, Phase: h.Phase.String()}
	at := slices.IndexFunc(source.Progress, func(p replica.Progress) bool { return p.Handoff == h.ID })
	if source.err != nil || at < 0 {
		for row := range st.Rows() {
			if _, carried := h.Carries(row.Range); carried && row.Primary == h.From {
				r.Ranges++
			}
		}
		if source.err != nil {
			r.Waits = fmt.Sprintf("%s, which has the data: %v", h.From, source.err)
		}
		return r
	}
	p := &source.Progress[at]
	r.Reported, r.Ranges, r.Phase = true, p.Ranges, p.Phase
	r.KeysDone, r.KeysTotal, r.BytesDone, r.BytesTotal = p.KeysDone, p.KeysTotal, p.BytesDone, p.BytesTotal
	r.Rate, r.Waits = p.Rate, p.Waits
	if !p.Started.IsZero() {
		r.Started = &p.Started
	}
	r.SetLeft()
	return r
}

// feedStatus is how this node stands with its backups.
func (rd *readiness) feedStatus() (s status.Feeding) {
	for _, f := range rd.c.engine.Feeds() {
		s.Pending += f.Pending
		s.PendingFor = max(s.PendingFor, f.Waits.Seconds())
	}
	return s
}
