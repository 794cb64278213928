package node

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/replica/decisions"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/internal/trace"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/environment"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
	"github.com/ringside-kv/ringside/resp/node/internal/listeners"
	"github.com/ringside-kv/ringside/resp/page"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Node is one running Ringside: a store, the server in front of it, and its
// metrics. Its methods may be called from any goroutine.
type Node struct {
	cfg     Config
	id      string
	store   *store.Store
	server  *resp.Server
	sockets *listeners.Set // for clients
	local   *client.Pool   // for Do
	served  chan struct{}  // closed when server has ended

	// clock and ownClock are those of leases: see environment.Environment. Deadlines that other nodes set for this one are
	// counted by ownClock, so that a pause of the machine counts, too; those that this node sets by clock, which never jumps.
	clock, ownClock func() time.Duration

	health    admin.Health
	cluster   *cluster
	part      atomic.Pointer[cluster] // cluster, once it is open, for callers that may come earlier
	metrics   *admin.Metrics
	web       *admin.Server // nil when HTTP is off
	webAt     net.Listener
	webServed chan struct{}
	page      *page.Page      // of web
	traces    *trace.Exporter // nil: none
	decisions decisions.Log

	run lastrun.Run // of the directory; only the goroutine that enters the cluster changes it, then Close

	secret peerSecret // that other nodes prove, set before any of them can connect
	key    []byte     // likewise
	// passwordChanged reports that the password was changed at run time to one that other nodes do not prove.
	passwordChanged atomic.Bool

	tls       certs.Current // that clients are met with
	nodeTLS   certs.Current // between nodes
	reloading sync.Mutex    // serializes Reload
	last      resp.Settings // as Open or Reload had them; reloading guards it
	lastSpare int64         // MinFreeDisk, likewise

	done     chan struct{}
	doneOnce sync.Once
	err      error

	closeOnce sync.Once
	closeErr  error
}

// Open starts a node and returns once it serves. The caller must Close it. A [*Fault] says
// that a setting does not fit the directory.
func Open(cfg Config) (*Node, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.env.Conns, cfg.env.Local = new(environment.ConnSet), memconn.Listen()
	cfg.env.Offline = cfg.staysAlone()
	n := &Node{cfg: cfg, served: make(chan struct{}), done: make(chan struct{})}
	n.local = client.NewPool(func(ctx context.Context) (net.Conn, error) { return n.Dial(ctx, "", "") })
	if err := n.open(); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *Node) open() (err error) {
	var undo []func()
	defer func() {
		if err != nil {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	forClients, forNodes, err := n.cfg.loadTLS()
	if err != nil {
		return err
	}
	n.tls.Set(forClients, n.cfg.Logger)
	n.nodeTLS.Set(forNodes, n.cfg.Logger)
	n.last, n.lastSpare = n.cfg.settings(), n.cfg.MinFreeDisk
	if n.cfg.Role != RoleStore {
		if err := refuseStore(n.cfg.Dir); err != nil {
			return err
		}
	}
	// First the ports: a second node started by mistake should say so before it
	// touches anything, and probes may see that this one starts.
	if n.sockets, err = listeners.Open(n.cfg.sockets()); err != nil {
		return err
	}
	undo = append(undo, n.sockets.Close)
	if n.metrics, err = admin.NewMetrics(n.cfg.Version, n.cfg.Logger); err != nil {
		return err
	}
	undo = append(undo, func() { _ = n.metrics.Close() })
	if err := n.openWeb(); err != nil {
		return err
	}
	undo = append(undo, func() { _ = n.closeWeb(context.Background()) })
	settings, replaceable, err := n.findPlacing()
	if err != nil {
		return err
	}
	token, err := settings.TokenFunc()
	if err != nil {
		return err
	}
	settled := n.cfg.store(token, replaceable)
	if settled.Used, err = lastrun.Exists(n.cfg.Dir); err != nil {
		return err
	}
	if n.store, err = n.cfg.env.OpenStore(settled); err != nil {
		return err
	}
	undo = append(undo, func() { _ = n.store.Close() })
	if n.id, err = n.cfg.fixName(n.store); err != nil {
		return err
	}
	if err := n.beginRun(); err != nil {
		return err
	}
	n.cfg.env.Reached(startNoted)
	if n.cfg.Scope == nil {
		n.cfg.Scope = n.metrics.Scope()
	}
	n.clock, n.ownClock = n.cfg.env.Clocks()
	if n.traces, err = trace.Open(trace.Config{
		Endpoint: n.cfg.OTLPEndpoint, Sample: n.cfg.OTLPSample, Node: n.id, Cluster: n.cfg.Cluster, Version: n.cfg.Version,
		Logger: n.cfg.Logger, Dial: n.cfg.env.Dialer(),
	}); err != nil {
		return err
	}
	undo = append(undo, n.traces.Close)
	n.server, err = resp.NewServer(resp.Config{
		Store:     n.store,
		Settings:  n.cfg.settings(),
		Debug:     n.cfg.Debug,
		TLS:       n.tls.Server(),
		Fixed:     n.cfg.fixed(n.sockets),
		Clock:     n.ownClock,
		Version:   n.cfg.Version,
		NodeID:    n.id,
		Slots:     n.cfg.Hash == HashSlot,
		Operator:  operator{n},
		TellAll:   tellAll,
		Password:  n.changePassword,
		ACLFile:   n.cfg.ACLFile,
		AuditLog:  n.cfg.AuditLog,
		CertUsers: func(cert *x509.Certificate) []string { return certs.Users(n.cfg.TLSUser, cert) },
		Overview:  overview{n},
		Placement: n.placement, TellsChanges: n.tellsChanges,
		Databases: n.databases, Shutdown: func() { n.finish(nil) },
		ConfigFile: n.cfg.ConfigFile, Dir: n.cfg.Dir, Zone: n.cfg.Zone, Guard: n.guardUsers,
		Rewrite: n.cfg.Rewrite, Logger: n.cfg.Logger, Scope: n.cfg.Scope, Rounds: &n.cfg.env.Conns.Rounds,
		Traces: n.traces, AckTimes: func(tap *store.Tap, change uint64, visit func(string, time.Time)) {
			if c := n.part.Load(); c != nil {
				c.engine.AckTimes(tap, change, visit)
			}
		},
	})
	if err != nil {
		return err
	}
	if err := n.metrics.ObserveLatency(n.server, func() durations.Histogram { return n.store.Stats().Fsyncs }); err != nil {
		_ = n.server.Close(context.Background())
		return err
	}
	if n.cluster, err = openCluster(n, settings); err != nil {
		n.cluster = nil
		_ = n.server.Close(context.Background())
		return err
	}
	n.part.Store(n.cluster)
	if err := n.metrics.ObserveFacts(factsOf(n.cluster)); err != nil {
		n.cluster.close()
		_ = n.server.Close(context.Background())
		return err
	}
	n.health.Also(n.cluster.readiness.ready)
	n.health.Started(n.store)
	go func() {
		defer close(n.served)
		n.sockets.Serve(n.server.Serve, func(err error) {
			if !errors.Is(err, resp.ErrServerClosed) {
				n.finish(err)
			}
		})
	}()
	go n.watchStore()
	return nil
}

func (c *Config) store(token ring.TokenFunc, replaceable bool) store.Config {
	if c.Role != RoleStore {
		return c.proxyStore(token)
	}
	return store.Config{
		Dir:         c.Dir,
		Strategy:    c.Strategy,
		Hash:        c.Hash,
		Replaceable: replaceable,
		Token:       token,
		Fsync:       store.Fsync(c.Fsync),
		Cache:       c.Cache,
		BlockCache:  c.BlockCache,
		MemTable:    c.MemTableSize,
		MinFreeDisk: c.MinFreeDisk,
		DamageGrace: damageGrace,
		Logger:      c.Logger,
	}
}

// damageGrace is how long a node with damaged data continues to accept writes, while the damaged
// ranges are handed over and copied again.
const damageGrace = 2 * time.Minute

// fixed are settings that CONFIG GET shows and only a restart changes.
func (c *Config) fixed(sockets *listeners.Set) map[string]string {
	host, port := "", "0"
	if tcp := sockets.TCP(); tcp != nil {
		host, port, _ = net.SplitHostPort(tcp.String())
	}
	shown := map[string]string{
		"bind": host, "port": port, "dir": c.Dir,
		"unixsocket": sockets.Unix(), "unixsocketperm": strconv.FormatUint(uint64(c.UnixSocketMode), 8),
		"hash": c.Hash, "availability-zone": c.Zone,
		"tls-cert-file": c.TLSCert, "tls-key-file": c.TLSKey, "tls-ca-cert-file": c.TLSCA,
		"aclfile": c.ACLFile, "shutdown-timeout": strconv.Itoa(int(c.StopTimeout / time.Second)),
	}
	if c.ClusterTLSCert != "" {
		shown["tls-cluster"] = "yes"
	}
	return shown
}

// settings are those that CONFIG SET may change later.
func (c *Config) settings() resp.Settings {
	return resp.Settings{
		Password:          c.RequirePass,
		Route:             resp.RouteMode(c.Route),
		MaxData:           c.MaxData,
		DataPolicy:        c.MaxDataPolicy,
		MaxClients:        c.MaxClients,
		MaxKey:            c.MaxKeySize,
		MaxValue:          c.MaxValueSize,
		MaxArgs:           c.MaxArgs,
		Packed:            c.PackedSize,
		Sparse:            c.SparseSize,
		OutputBuffer:      c.OutputBuffer,
		ClientMemory:      c.ClientMemory,
		ScriptMemory:      c.ScriptMemory,
		IdleTimeout:       c.IdleTimeout,
		KeepAlive:         c.TCPKeepAlive,
		ProtectedMode:     c.ProtectedMode,
		TrackedKeys:       zeroIsNone(int64(c.TrackedKeys)),
		BusyAfter:         zeroIsNone(c.BusyAfter),
		AuthTimeout:       zeroIsNone(c.AuthTimeout),
		SlowlogSlowerThan: c.SlowlogSlowerThan,
		SlowlogMaxLen:     c.SlowlogMaxLen,
		StrictSlots:       c.StrictSlots,
		StrictBusy:        c.StrictBusy,
		ForwardTimeout:    c.ForwardTimeout,
		MinInSync:         c.MinInSync,
		ScrubInterval:     c.ScrubInterval,
		KeyEvents:         c.KeyEvents,
		RedisConfig:       c.RedisConfig,
	}
}

// zeroIsNone says in resp's words that there is no limit.
func zeroIsNone[T int64 | time.Duration](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

// watchStore logs that the storage engine has stopped. Reads continue until the node is closed.
func (n *Node) watchStore() {
	select {
	case <-n.store.Fatal():
		n.cfg.Logger.Error("the storage engine has stopped: reads continue, a restart recovers every acknowledged write",
			"err", n.store.Writable())
	case <-n.served:
	}
}

// finish asks the owner of the node to close it.
func (n *Node) finish(err error) {
	n.doneOnce.Do(func() {
		n.err = err
		close(n.done)
	})
}

// placement returns the newest agreed placement that this node knows.
func (n *Node) placement() *ring.Placement {
	c := n.part.Load()
	if c == nil {
		return nil
	}
	return c.table.State().Placement()
}

// Addr is where clients connect: the TCP address, or the path of the Unix socket if there is none.
// A node with neither has an address that only [Node.Dial] reaches.
func (n *Node) Addr() net.Addr { return n.sockets.Addr() }

// SocketPath is the path of the Unix socket for clients, empty if there is none.
func (n *Node) SocketPath() string { return n.sockets.Unix() }

// HTTPAddr is where metrics and health are served, nil if they are not.
func (n *Node) HTTPAddr() net.Addr {
	if n.web == nil {
		return nil
	}
	return n.webAt.Addr()
}

// Ready returns nil while the node serves all keys that it should serve and accepts writes, else the
// reason, as /readyz does. Alive returns nil unless only a restart helps, as /livez does.
func (n *Node) Ready() error {
	_, err := n.health.Ready()
	return err
}

// Alive is explained at Ready.
func (n *Node) Alive() error { return n.health.Alive() }

// ID is the name of the node.
func (n *Node) ID() string { return n.id }

// Done is closed when the node wants to stop: by a client's SHUTDOWN, after a client's
// RING LEAVE once nothing is left here, or by an error that ends it; and by Kill.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is, after Done, why the node ends: nil after SHUTDOWN, RING LEAVE and Kill.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Leave hands all data to the other nodes of the cluster and leaves it. It returns once
// the node has nothing left and may be closed, or with an error that says what has
// stayed. The last store of a cluster cannot leave.
func (n *Node) Leave(ctx context.Context) error { return n.cluster.departure.leave(ctx) }

// closeStore makes everything durable, and notes that it is, unless the store has
// stopped before: what it could not write then is not known to be there.
func (n *Node) closeStore() error {
	stopped := false
	select {
	case <-n.store.Fatal():
		stopped = true
	default:
	}
	if err := n.store.Close(); err != nil || stopped {
		return err
	}
	return n.endRun()
}

// endWaits ends, with an error, all commands that wait for other nodes, or for news of
// them: so their clients still hear it. Nothing is forwarded from then on.
func (n *Node) endWaits() {
	n.cluster.engine.GiveUp()
	n.cluster.cutLinks()
	n.server.EndWaits()
}

// Close takes no more connections, lets running commands finish within
// Config.StopTimeout, makes everything durable and ends the node. Further calls
// return what the first did.
func (n *Node) Close() error {
	n.closeOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), n.cfg.StopTimeout)
		defer cancel()
		n.health.Stopping()
		last := time.AfterFunc(n.cfg.StopTimeout*4/5, n.endWaits)
		n.server.Notices.Move(members.ClientAddrs(n.cluster.members.Nodes(), n.id), n.cfg.StopTimeout/2)
		n.cluster.resign(ctx)
		n.server.Notices.AwaitMoved(ctx)
		n.server.SendBack()
		n.cluster.endForwards() // other nodes send to the new primaries
		err := n.server.Close(ctx)
		n.cluster.forwardConns.wait(ctx)
		last.Stop()
		<-n.served
		_ = n.local.Close()
		n.cluster.withdraw()
		n.cluster.close()
		// HTTP last: probes see that the node stops for as long as it does.
		n.closeErr = errors.Join(err, n.closeStore(), n.closeWeb(ctx), n.metrics.Close())
		n.traces.Close()
	})
	return n.closeErr
}

// tellAll is how long the other nodes may take to say which key events they want.
const tellAll = 5 * time.Second
