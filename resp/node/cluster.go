package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Errors of a node that was started in another way than its directory wants.
var (
	// ErrLoneData says that a node was to join a cluster with data of its own, which
	// would be lost.
	ErrLoneData = errors.New("the directory holds the data of a node that was alone")
	// ErrInCluster says that a node was to be alone though its directory belongs to a
	// cluster, which would part the data.
	ErrInCluster = errors.New("the directory belongs to a cluster")
)

// raftDir is where a node of a cluster keeps the table.
func (c *Config) raftDir() string { return filepath.Join(c.Dir, "raft") }

// cluster is a node's part in a cluster.
type cluster struct {
	n           *Node
	strategy    ring.Strategy
	settings    strategy.Config
	incarnation uint64

	bus     *bus.Bus
	members *members.Members
	table   *table.Table
	engine  *replica.Engine

	ctx    context.Context
	cancel context.CancelFunc
	opened chan struct{} // closed once all of the above is there for other nodes
	done   sync.WaitGroup

	mu    sync.Mutex
	links map[string]*link // by node
	p     *ring.Placement
	held  func(ring.Range) bool
}

// openCluster joins the node to its cluster, or founds one.
func openCluster(n *Node, settings strategy.Config, placing ring.Strategy) (c *cluster, err error) {
	c = &cluster{
		n: n, strategy: placing, settings: settings,
		incarnation: uint64(time.Now().UnixNano()),
		links:       make(map[string]*link),
		opened:      make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	cfg := &n.cfg
	c.bus, err = bus.Listen(bus.Config{
		ID: n.id, Incarnation: c.incarnation, Cluster: cfg.Cluster, Strategy: cfg.Strategy, Hash: cfg.Hash,
		Generation: c.generation, Key: []byte(cfg.ClusterKey), Listen: cfg.BusAddr, Logger: cfg.Logger,
	})
	if err != nil {
		return c, err
	}
	c.bus.Handle(bus.Forward, c.serveForward)
	c.bus.Handle(bus.Control, c.serveControl)
	c.bus.Handle(bus.Stream, c.serveStream)
	layer := c.bus.RaftLayer()
	if err := c.bus.Start(); err != nil {
		return c, err
	}
	c.members, err = members.Open(members.Config{
		ID: n.id, Incarnation: c.incarnation, Cluster: cfg.Cluster, Strategy: cfg.Strategy, Hash: cfg.Hash,
		Key: []byte(cfg.ClusterKey), Weight: cfg.Weight, Version: cfg.Version,
		BusAddr: c.bus.Addr().String(), ClientAddr: c.clientAddr(),
		BindAddr: cfg.GossipAddr, Join: cfg.Join, Dir: cfg.Dir, Timing: cfg.gossip, Logger: cfg.Logger,
	})
	if err != nil {
		return c, err
	}
	c.table, err = table.Open(table.Config{
		ID: n.id, Dir: cfg.raftDir(), Transport: layer, Address: c.busAddr,
		Forward: c.askTable, Peers: c.peers, Logger: cfg.Logger,
	})
	if err != nil {
		return c, err
	}
	if keys := n.store.Keys(); len(cfg.Join) > 0 && keys > 0 && !c.table.Known() {
		return c, fmt.Errorf("%w: %s has %d keys; to keep them, start this node without join and let the others join it, or name another directory",
			ErrLoneData, cfg.Dir, keys)
	}
	// Until the table says otherwise, nothing is this node's: requests wait.
	nothing, err := ring.NewPlacement([]ring.Row{{}})
	if err != nil {
		return c, err
	}
	c.Route(nothing, func(ring.Range) bool { return true })
	c.engine, err = replica.New(replica.Config{
		Self: n.id, Incarnation: c.incarnation, Strategy: placing, Store: data{n.store},
		Table: agreed{c.table}, Front: c, Dial: c.dialStream, Logger: cfg.Logger,
		Requests: func() float64 { return float64(n.server.Rate()) },
	})
	if err != nil {
		return c, err
	}
	close(c.opened)
	c.done.Go(c.watch)
	c.done.Go(c.enter)
	return c, nil
}

// clientAddr is where others send clients: on the host of the bus if clients may connect
// on every interface.
func (c *cluster) clientAddr() string {
	addr, ok := c.n.listener.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsUnspecified() {
		return c.n.listener.Addr().String()
	}
	host, _, err := net.SplitHostPort(c.bus.Addr().String())
	if err != nil {
		return addr.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(addr.Port))
}

func (c *cluster) close() {
	c.cancel()
	c.done.Wait()
	if c.engine != nil {
		c.engine.Close()
	}
	if c.table != nil {
		_ = c.table.Close()
	}
	if c.members != nil {
		_ = c.members.Close()
	}
	c.mu.Lock()
	for _, l := range c.links {
		l.peer.Close()
	}
	c.mu.Unlock()
	if c.bus != nil {
		_ = c.bus.Close()
	}
}

// enter founds a cluster, or registers this start in the one that it belongs to or
// joins.
func (c *cluster) enter() {
	for c.ctx.Err() == nil {
		err := c.found()
		if err == nil || errors.Is(err, table.ErrFounded) {
			_, err = c.table.Apply(c.ctx, &table.Register{Node: c.n.id, Incarnation: c.incarnation, Weight: c.n.cfg.Weight})
		}
		if err == nil || c.ctx.Err() != nil {
			return
		}
		c.n.cfg.Logger.Warn("enter the cluster", "node", c.n.id, "err", err)
		select {
		case <-time.After(time.Second):
		case <-c.ctx.Done():
		}
	}
}

// found makes a cluster if the directory belongs to none and none is to be joined.
func (c *cluster) found() error {
	if len(c.n.cfg.Join) > 0 || c.table.Known() && c.table.State().Founded() {
		return nil
	}
	alone, err := c.strategy.Desired(ring.Input{Members: []ring.Member{{ID: c.n.id, Weight: c.n.cfg.Weight}}})
	if err != nil {
		return err
	}
	f := &table.Found{
		Cluster: table.Cluster{
			Name: c.n.cfg.Cluster, Generation: c.incarnation,
			Strategy: table.Settings{
				Name: c.settings.Name, Hash: c.settings.Hash, Points: c.settings.Points,
				KetamaRule: string(c.settings.KetamaRule), VNodes: c.settings.VNodes, Mask: c.settings.Mask,
			},
		},
		Node: c.n.id, Incarnation: c.incarnation - 1, Weight: c.n.cfg.Weight,
	}
	for row := range alone.Rows() {
		f.Rows = append(f.Rows, *row)
	}
	_, err = c.table.Found(c.ctx, f)
	return err
}

func (c *cluster) generation() uint64 {
	if c.table == nil {
		return 0
	}
	return c.table.State().Cluster().Generation
}

var errUnknownNode = errors.New("no such node is known")

func (c *cluster) busAddr(node string) (string, error) {
	m, ok := c.members.Node(node)
	if !ok {
		return "", fmt.Errorf("%s: %w", node, errUnknownNode)
	}
	return m.BusAddr, nil
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
	addr, err := c.busAddr(node)
	if err != nil {
		return nil, err
	}
	conn, _, err := c.bus.Dial(ctx, addr, node, purpose)
	return conn, err
}

func (c *cluster) dialStream(ctx context.Context, node string) (net.Conn, error) {
	return c.dial(ctx, node, bus.Stream)
}

// open waits until this node is whole, since others connect before; false if it ends.
func (c *cluster) open() bool {
	select {
	case <-c.opened:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *cluster) serveStream(peer bus.Peer, conn net.Conn) {
	if !c.open() {
		_ = conn.Close()
		return
	}
	err := c.engine.Serve(c.ctx, peer.ID, conn)
	if err != nil && c.ctx.Err() == nil && !errors.Is(err, replica.ErrReceiving) {
		c.n.cfg.Logger.Warn("receive a stream", "node", peer.ID, "err", err)
	}
}

func (c *cluster) serveForward(peer bus.Peer, conn net.Conn) {
	err := client.ServeForward(conn, client.ServeConfig{}, func(b *client.Batch) {
		go c.runForwarded(b)
	})
	if err != nil && c.ctx.Err() == nil {
		c.n.cfg.Logger.Debug("forwarded requests end", "node", peer.ID, "err", err)
	}
}

func (c *cluster) runForwarded(b *client.Batch) {
	if !b.Deadline.IsZero() && time.Now().After(b.Deadline) {
		b.Refuse("too late")
		return
	}
	c.n.server.RunForwarded(b.Commands, b.N, b.RESP3, func(r resp.Replies, err error) {
		if err != nil {
			b.Fail(err.Error())
			return
		}
		lens := make([]uint32, len(r.Ends))
		at := 0
		for i, end := range r.Ends {
			lens[i] = uint32(end - at)
			at = end
		}
		_ = b.Reply(lens, r.Bytes)
	})
}

// maxMessage bounds a message to a table, in bytes.
const maxMessage = 64 << 20

// askTable takes a message to another node's table.
func (c *cluster) askTable(ctx context.Context, node string, message []byte) ([]byte, error) {
	conn, err := c.dial(ctx, node, bus.Control)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrUnsent, err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := writeMessage(conn, message); err != nil {
		return nil, err
	}
	return readMessage(conn)
}

func (c *cluster) serveControl(_ bus.Peer, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for c.open() {
		message, err := readMessage(conn)
		if err != nil {
			return
		}
		reply, err := c.table.HandleForward(c.ctx, message)
		if err != nil || writeMessage(conn, reply) != nil {
			return
		}
	}
}

func writeMessage(w io.Writer, message []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(message)) < n {
		err = io.ErrUnexpectedEOF
	}
	return message, err
}

// agreed is the table as the engine sees it.
type agreed struct{ *table.Table }

func (a agreed) Apply(ctx context.Context, c table.Command) error {
	_, err := a.Table.Apply(ctx, c)
	return err
}

func (a agreed) Leads() bool {
	_, self := a.Leader()
	return self
}

// Route implements replica.Front.
func (c *cluster) Route(p *ring.Placement, held func(ring.Range) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p, c.held = p, held
	c.routeLocked()
}

// Quiesce implements replica.Front.
func (c *cluster) Quiesce(ctx context.Context) error { return c.n.server.Quiesce(ctx) }

func (c *cluster) routeLocked() {
	if c.p == nil {
		return
	}
	r := &resp.Routes{Placement: c.p, Self: c.n.id, Nodes: make(map[string]resp.Route), Held: make(map[int]bool)}
	for i := range c.p.Len() {
		if c.held(c.p.Row(i).Range) {
			r.Held[i] = true
		}
	}
	for _, m := range c.members.Nodes() {
		r.Nodes[m.ID] = resp.Route{ID: m.ID, Addr: m.ClientAddr, Link: c.linkLocked(m.ID)}
	}
	c.n.server.SetRoutes(r)
}

func (c *cluster) linkLocked(node string) resp.Link {
	if node == c.n.id {
		return nil
	}
	l := c.links[node]
	if l == nil {
		peer, err := client.NewPeer(client.PeerConfig{
			Dial:   func(ctx context.Context) (net.Conn, error) { return c.dial(ctx, node, bus.Forward) },
			Logger: c.n.cfg.Logger,
		})
		if err != nil {
			return nil
		}
		l = &link{peer: peer}
		c.links[node] = l
	}
	return l
}

// watch routes anew when nodes come, go or move.
func (c *cluster) watch() {
	events, cancel := c.members.Watch()
	defer cancel()
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
			c.mu.Lock()
			c.routeLocked()
			c.mu.Unlock()
		case <-c.ctx.Done():
			return
		}
	}
}

// leave hands everything over and returns once this node has nothing left.
func (c *cluster) leave(ctx context.Context) error {
	if _, err := c.table.Apply(ctx, &table.Leave{Node: c.n.id, Incarnation: c.incarnation}); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	changes, cancel := c.table.Changes()
	defer cancel()
	for {
		ranges := 0
		for row := range c.table.State().Rows() {
			if row.Holds(c.n.id) {
				ranges++
			}
		}
		if ranges == 0 {
			return c.members.Leave(ctx)
		}
		select {
		case <-changes:
		case <-ctx.Done():
			return fmt.Errorf("leave: %d ranges have stayed: %w", ranges, ctx.Err())
		}
	}
}
