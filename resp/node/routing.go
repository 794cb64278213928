package node

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/ring"
)

// Route implements replica.Front.
func (c *cluster) Route(p *ring.Placement, held func(ring.Range) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placement, c.held, c.routed = p, held, true
	c.routeLocked()
}

// Quiesce implements replica.Front.
func (c *cluster) Quiesce(ctx context.Context, ranges []ring.Range) ([]ring.Range, error) {
	return c.n.server.Quiesce(ctx, ranges...)
}

func (c *cluster) routeLocked() {
	if c.placement == nil {
		return
	}
	st := c.table.State()
	r := &resp.Routes{Placement: c.placement, Strategy: st.Cluster().Strategy.Name, Self: c.n.id, Nodes: make(map[string]resp.Route), Held: make(map[int]bool), Lost: make(map[int]bool), Isolated: c.readiness.isolated.Load(), Policies: st.Policies(), Values: st.Values(), Generation: st.Cluster().Generation, Index: st.Index()}
	if l := c.lease.Load(); l != nil && !l.Valid() {
		r.Why = "CLUSTERDOWN this node does not hold its lease: its disk or machine has stalled, or it cannot reach the majority of its cluster"
	}
	if !c.routed {
		r.Why = "TRYAGAIN this node has not entered its cluster yet"
	}
	links := make(map[string]bool)
	for _, m := range c.members.Nodes() {
		route := resp.Route{ID: m.ID, Addr: m.ClientAddr, Proxy: m.Role != members.RoleStore, Away: m.Status != members.Alive, Zone: zones.Of(st.Values(), m.ID)}
		if n, known := st.Node(m.ID); m.Status != members.Left || known && n.State != table.Gone {
			route.Link, links[m.ID] = c.linkLocked(m.ID), true
		}
		r.Nodes[m.ID] = route
		delete(c.missing, m.ID)
	}
	now, awaited := time.Now(), false
	for i := range c.placement.Len() {
		at := c.placement.Row(i).Range
		if c.held(at) {
			r.Held[i] = true
		}
		if primary := c.placement.Row(i).Primary; primary != c.n.id && r.Nodes[primary].ID == "" && c.missing.For(primary, now) < gossipDelay {
			r.Held[i], awaited = true, true
		}
		row, ok := st.Row(at.Start)
		if ok && st.Lost(row) {
			r.Lost[i] = true
		}
		if ok && row.Op.Primary && !slices.Contains(r.Moving, row.Primary) {
			r.Moving = append(r.Moving, row.Primary)
		}
	}
	c.n.server.SetRoutes(r)
	for id, l := range c.links {
		if !links[id] && l.peer.CloseIdle() {
			delete(c.links, id) // of a node that has left, or that gossip has forgotten
			// Close waits for the link's goroutines, and all that need the routes would wait with it.
			c.closing.Go(l.peer.Close)
		}
	}
	if awaited {
		time.AfterFunc(gossipDelay, func() { updateRoutes(c) })
	}
}

// gossipDelay is how long requests wait for a primary that is not in gossip: the table may name a node that joins or
// leaves before gossip does, or after.
const gossipDelay = 5 * time.Second

// updateRoutes looks again who is there.
func updateRoutes(c *cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.routed && c.ctx.Err() == nil { // else waiting requests would start to wait again
		c.routeLocked()
	}
}

// linkTimeout bounds one attempt to connect to a node that requests are forwarded to. What
// TCP sends to begin with, and gets lost, it sends again only after seconds.
const linkTimeout = 2 * time.Second

func (c *cluster) linkLocked(node string) resp.Link {
	if node == c.n.id {
		return nil
	}
	l := c.links[node]
	if l == nil {
		peer, err := client.NewPeer(client.PeerConfig{
			Dial:   func(ctx context.Context) (net.Conn, error) { return c.dial(ctx, node, bus.Forward) },
			Logger: c.n.cfg.Logger, DialTimeout: linkTimeout, Clock: c.n.clock,
		})
		if err != nil {
			return nil
		}
		l = &link{peer: peer}
		c.links[node] = l
	}
	return l
}

// watchMembers updates the routes when nodes come, go or move.
func (c *cluster) watchMembers() {
	events, cancel := c.members.Watch()
	defer cancel()
	c.sightings.Look(c.members.Nodes(), time.Now())
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
			c.sightings.Look(c.members.Nodes(), time.Now())
			redial(c)
			updateRoutes(c)
		case <-c.ctx.Done():
			return
		}
	}
}

// redial connects at once to nodes that are there, and not after a pause: they may just have started.
func redial(c *cluster) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.members.Nodes() {
		if l := c.links[m.ID]; l != nil && m.Status == members.Alive {
			l.peer.Redial()
		}
	}
}
