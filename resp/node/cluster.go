package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/storage"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/backup"
	"github.com/ringside-kv/ringside/resp/node/internal/kept"
	"github.com/ringside-kv/ringside/resp/node/internal/peerkey"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/resp/node/internal/policies"
	"github.com/ringside-kv/ringside/resp/node/internal/sightings"
	"github.com/ringside-kv/ringside/resp/node/internal/values"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// raftName is the directory of the table within a node's directory.
const raftName = "raft"

func (c *Config) raftDir() string { return filepath.Join(c.Dir, raftName) }

// cluster is a node's part in a cluster.
type cluster struct {
	n           *Node
	strategy    placing.Agreed
	pins        vnode.Pins // of this node, from --pin
	incarnation uint64

	bus           *bus.Bus
	advertisedBus string // address of bus that other nodes are told
	forwardConns  forwardConns
	members       *members.Members
	table         *table.Table
	engine        *replica.Engine
	lease         atomic.Pointer[lease.Lease] // of the engine, once that is open

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	// The parts of the cluster's work that are types of their own; each has its file.
	entry      entry
	departure  departure
	recreation recreation
	readiness  readiness
	status     statusReporter
	switcher   switcher
	policies   *policies.Changer
	values     *values.Keeper
	balancer   loadBalancer
	backups    *backup.Keeper

	mu        sync.Mutex
	links     map[string]*link // by node
	closing   sync.WaitGroup   // links to nodes that have left; mu guards its Go
	keptConns kept.Conns
	placement *ring.Placement
	held      func(ring.Range) bool
	// routed reports that placement is the table's.
	routed bool

	sightings sightings.Sightings
	missing   sightings.Missing // primaries; mu guards it
}

// openCluster opens the node's part in a cluster. enter, in the background, brings the node into
// one.
func openCluster(n *Node, own strategy.Config) (c *cluster, err error) {
	c = &cluster{
		n:            n,
		incarnation:  n.run.Incarnation,
		links:        make(map[string]*link),
		missing:      make(sightings.Missing),
		forwardConns: forwardConns{over: make(chan struct{})},
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.entry.c, c.entry.enteredCh = c, make(chan struct{})
	c.departure.c, c.recreation.c, c.readiness.c, c.status.c = c, c, c, c
	c.switcher.c, c.balancer.c = c, c
	c.departure.leaveCtx, c.departure.endLeaves = context.WithCancel(c.ctx)
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	cfg := &n.cfg
	if c.pins, err = cfg.ownPins(); err != nil {
		return c, err
	}
	if c.entry.membership, err = loadMembership(cfg.Dir, cfg.Cluster); err != nil {
		return c, err
	}
	if err = refuseUnfinished(cfg.Dir, c.entry.membership); err != nil {
		return c, err
	}
	token, err := own.TokenFunc()
	if err != nil {
		return c, err
	}
	hadKey := peerkey.Exists(cfg.Dir)
	key, err := n.peerKey()
	if err != nil {
		return c, err
	}
	c.bus, err = bus.Listen(bus.Config{
		ID: n.id, Incarnation: c.incarnation, Cluster: cfg.Cluster, Strategy: cfg.Strategy, Hash: cfg.Hash,
		Generation: c.entry.busGeneration, Key: key, AcceptKey: []byte(cfg.ClusterKeyAccept), TLS: n.busTLS(), Admit: n.admitPeers, Listen: portOf(cfg.BusAddr), Network: cfg.env.Bus(),
		Logger: cfg.Logger, Scope: cfg.Scope.SubScope("bus"),
		Versions: cfg.env.Versions, Needs: c.switcher.neededVersion,
		Met: func(p bus.Peer) {
			c.switcher.met(p)
			if c.members != nil { // members is not open yet while the original of a copied directory is asked
				c.members.NoteAlive(p.ID)
			}
		},
	})
	if err != nil {
		return c, fmt.Errorf("%w; set bus-addr to another", err)
	}
	c.bus.Handle(bus.Forward, c.serveForward)
	c.bus.Handle(bus.Control, c.serveControl)
	c.bus.Handle(bus.Stream, c.serveStream)
	c.bus.Handle(bus.Ask, c.status.serveStatus)
	c.bus.Handle(bus.Feed, c.serveFeed)
	layer := c.bus.RaftLayer()
	told, err := cfg.advertisedAddrs(c.bus.Addr(), n.sockets.TCP())
	if err != nil {
		return c, err
	}
	c.advertisedBus = told.bus
	m := cfg.gossip(key, n.gossipNetwork())
	m.ID, m.Incarnation, m.BusAddr, m.ClientAddr, m.Advertise = n.id, c.incarnation, told.bus, told.client, told.gossip
	m.HasLeft = n.hasLeft
	if c.entry.membership.Entered {
		m.Generation = c.entry.membership.Generation
	}
	if err = c.refuseSecond(m); err != nil {
		return c, err
	}
	if c.members, err = members.Open(m); err != nil {
		return c, fmt.Errorf("%w; gossip-addr is where this node gossips", err)
	}
	c.table, err = table.Open(cfg.env.Tune.OfTable(table.Config{
		ID: n.id, Dir: cfg.raftDir(), Abstains: n.run.Abstains(), Transport: layer, Address: c.raftAddr,
		Forward: c.askTable, Peers: c.peers, Stalled: c.stalled, Applied: n.decisions.Note, Logger: cfg.Logger, Hooks: cfg.env.Table,
	}))
	if err != nil {
		return c, err
	}
	c.switcher.opened.Store(true)
	c.strategy, c.policies = placing.Agreed{Own: own, State: c.table.State}, c.policyChanger(token)
	c.values = &values.Keeper{Table: c.table, Tell: n.server.SetValues, Dir: cfg.Dir, Logger: cfg.Logger}
	if err = c.values.Open(); err != nil {
		return c, err
	}
	if err := c.refuseAlone(); err != nil {
		return c, err
	}
	if err := refuseNewKey(c, hadKey); err != nil {
		return c, err
	}
	cfg.env.Reached(startOpened)
	c.entry.committed.Store(c.entry.membership.Entered || c.table.Known())
	// The cluster relies on an earlier start until it hears that this one leaves.
	c.entry.registering = c.entry.membership.dataIsFromCluster(n.id) || c.table.Known()
	if err := c.refuseLoneData(); err != nil {
		return c, err
	}
	// Until the table says otherwise this node has no range: requests wait.
	nothing, err := ring.NewPlacement([]ring.Row{{}})
	if err != nil {
		return c, err
	}
	c.placement, c.held = nothing, func(ring.Range) bool { return true }
	c.routeLocked()
	kept, err := n.lineageStore(c.table.State)
	if err != nil {
		return c, err
	}
	c.engine, err = replica.New(cfg.env.Tune.OfEngine(replica.Config{
		Lineages: kept,
		Self:     n.id, Incarnation: c.incarnation, Copied: n.run.Copied, Strategy: c.strategy, Store: storage.New(n.store),
		Table: engineTable{c.table}, Front: c, Dial: c.dialStream, DialFeed: c.dialFeed, Logger: cfg.Logger,
		Away:   func(node string) bool { return node != c.n.id && !c.alive(node) },
		Leases: c.leases(), Rereplicate: cfg.RereplicateAfter, MinInSync: func() int { return n.server.MinInSync() },
		Scrub:    func() time.Duration { return n.server.ScrubInterval() },
		Requests: func() float64 { return float64(n.server.Rate()) },
		Reached:  cfg.env.Steps,
	}))
	if err != nil {
		return c, err
	}
	c.lease.Store(c.engine.Lease())
	n.server.SetLease(c.engine.Lease())
	c.backups = newBackups(c)
	// all handlers are in place now
	if err := c.bus.Start(); err != nil {
		return c, err
	}
	c.done.Go(c.watchMembers)
	c.done.Go(c.watchReplaced)
	c.done.Go(c.readiness.watchMajority)
	c.done.Go(c.watchForgotten)
	c.done.Go(c.entry.enter)
	c.done.Go(c.watchFatal)
	c.done.Go(c.forgetProxies)
	c.done.Go(c.balancer.run)
	c.done.Go(func() { c.policies.Run(c.ctx) })
	c.done.Go(func() { c.values.Run(c.ctx) })
	c.done.Go(func() { loadUsers(c) })
	c.done.Go(func() { keepZone(c) })
	c.done.Go(func() { useLatestForms(c) })
	if cfg.RecreateAfter > 0 {
		c.done.Go(c.recreation.recreateLost)
	}
	c.log(told)
	return c, nil
}

func (c *cluster) cutLinks() {
	c.mu.Lock()
	links := slices.Collect(maps.Values(c.links))
	c.mu.Unlock()
	for _, l := range links {
		l.peer.Close()
	}
}

func (c *cluster) close() {
	c.cancel()
	c.done.Wait()
	if c.backups != nil {
		c.backups.Close()
	}
	if c.engine != nil {
		c.engine.Close()
	}
	if c.table != nil {
		_ = c.table.Close()
	}
	if c.members != nil {
		_ = c.members.Close()
	}
	c.cutLinks()
	c.closing.Wait() // the engine is closed, so no more begin
	c.keptConns.Close()
	if c.bus != nil {
		_ = c.bus.Close()
	}
}

var errUnknownNode = errors.New("no such node is known")

func (c *cluster) busAddr(node string) (string, error) {
	m, ok := c.members.Node(node)
	if !ok {
		return "", fmt.Errorf("%s: %w", node, errUnknownNode)
	}
	return m.BusAddr, nil
}

// raftAddr returns where the Raft group reaches a server. If no node of that name is known, the
// directory may be registered under the name of another host.
func (c *cluster) raftAddr(node string) (string, error) {
	addr, err := c.busAddr(node)
	if id, ok := directoryID(node); err != nil && ok {
		for _, m := range c.members.Nodes() {
			if m.Status == members.Alive && isDefaultName(m.ID, id) {
				return m.BusAddr, nil
			}
		}
	}
	return addr, err
}

func (c *cluster) peers() []string {
	var ids []string
	for _, m := range c.members.Nodes() {
		if m.ID != c.n.id && m.Status == members.Alive {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (c *cluster) dial(ctx context.Context, node string, purpose bus.Purpose) (net.Conn, error) {
	conn, _, err := c.dialPeer(ctx, node, purpose)
	return conn, err
}

func (c *cluster) dialPeer(ctx context.Context, node string, purpose bus.Purpose) (net.Conn, bus.Peer, error) {
	addr, err := c.busAddr(node)
	if err != nil {
		return nil, bus.Peer{}, err
	}
	return c.bus.Dial(ctx, addr, node, purpose)
}

func (c *cluster) dialStream(ctx context.Context, node string) (net.Conn, error) {
	return c.dial(ctx, node, bus.Stream)
}

func (c *cluster) serveStream(peer bus.Peer, conn net.Conn) {
	err := c.engine.Serve(c.ctx, peer.ID, conn)
	if err != nil && c.ctx.Err() == nil && !errors.Is(err, stream.ErrReceiving) {
		level := slog.LevelWarn
		if errors.Is(err, replica.ErrNotLearner) {
			level = slog.LevelInfo // the sender has not seen yet that this node has restarted, or that the handoff has ended
		}
		c.n.cfg.Logger.Log(c.ctx, level, "receiving a stream failed", "node", peer.ID, "err", err)
	}
}

func (c *cluster) dialFeed(ctx context.Context, node string) (net.Conn, error) {
	return c.dial(ctx, node, bus.Feed)
}

func (c *cluster) serveFeed(peer bus.Peer, conn net.Conn) {
	err := c.engine.ServeFeed(c.ctx, peer.ID, conn)
	if err != nil && c.ctx.Err() == nil {
		c.n.cfg.Logger.Warn("receiving writes from a primary failed", "node", peer.ID, "err", err)
	}
}
