package resp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/rounds"
	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/foreign"
	"github.com/ringside-kv/ringside/resp/internal/hotkeys"
	"github.com/ringside-kv/ringside/resp/internal/keyevents"
	"github.com/ringside-kv/ringside/resp/internal/login"
	"github.com/ringside-kv/ringside/resp/internal/maintenance"
	"github.com/ringside-kv/ringside/resp/internal/monitoring"
	"github.com/ringside-kv/ringside/resp/internal/pause"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
	"github.com/ringside-kv/ringside/resp/internal/report"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/internal/stats"
	"github.com/ringside-kv/ringside/resp/internal/trace"
	"github.com/ringside-kv/ringside/resp/internal/typegate"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/uber-go/tally/v4"
)

// Config says how a Server answers.
type Config struct {
	Store *store.Store
	// Settings that CONFIG SET may change later.
	Settings settings.Settings
	// Debug says which clients may send DEBUG: yes is all, local those of this host, no (the default) none.
	Debug string
	// TLS, if set, is spoken on every connection.
	TLS *tls.Config
	// Rounds, if set, serves clients without TLS, by duplicates of their sockets. The server closes it.
	Rounds *rounds.Lazy
	// Fixed are answers of CONFIG GET that only a restart changes, by name. They go before what the server knows.
	Fixed map[string]string
	// Databases returns how many databases there are; by default [database.Default]. Any goroutine calls it.
	Databases func() int
	// Slots says that tokens are slots of Redis Cluster: --hash slot.
	Slots bool
	// Operator, if set, carries out the orders of RING.
	Operator Operator
	// Password, if set, is asked before CONFIG SET changes the password. It returns the
	// step to take together with the change, or why the change is refused. It must not
	// block.
	Password func(password string) (apply func(), err error)
	// Guard, if set, is asked before users change so that clients without a password may no longer do everything.
	// Its error refuses that.
	Guard func() error
	// ACLFile is the path of the file of ACL LOAD and ACL SAVE, or empty.
	ACLFile string
	// CertUsers, if set, returns the names that a client's certificate stands for: with TLS, the client is the
	// first that is an enabled user.
	CertUsers func(*x509.Certificate) []string
	// AuditLog is the path of the file of the audit log, or "stderr", or empty. Reconfigure opens it once more.
	AuditLog string
	// TellAll is for how long, once there are routes, all key events are told: until other
	// nodes can have said which they want.
	TellAll time.Duration
	// TellsChanges, if set, returns why some node cannot tell replicas of Redis what changes there, or nil.
	TellsChanges func(ctx context.Context) error
	// Overview, if set, knows the cluster: see RING STATUS.
	Overview Overview
	// Placement, if set, is the newest placement that this node knows; nil if it knows
	// none.
	Placement func() *ring.Placement
	// Clock is what [Forwarded.Deadline] counts on, and for how long this node hears of changes at
	// others for its clients' caches: the time since some moment. It must never go
	// back, and should go on while the machine is suspended. It is called from any goroutine, once
	// for each unit of what other nodes forward. The default is the monotonic clock of the process.
	Clock func() time.Duration
	// Dir is where the server keeps its place in the stream of its primary; empty: nowhere.
	Dir string
	// Version and NodeID identify the server.
	Version, NodeID string
	// Zone is what HELLO and INFO show as the availability zone; empty is none.
	Zone string
	// ConfigFile is what INFO shows as such. Rewrite, if set, is CONFIG REWRITE: it keeps the values of the
	// settings, by the names of flags, for the next start. initial has the values of this start.
	ConfigFile string
	Rewrite    func(values, initial map[string]string) error
	// Shutdown is called when a client sends SHUTDOWN. It must not wait for the
	// server to close.
	Shutdown func()
	Logger   *slog.Logger
	Scope    tally.Scope
	// Traces, if set, takes sampled requests. The server does not close it.
	Traces *trace.Exporter
	// AckTimes, if set, tells when backups have acknowledged a change that a tap was handed.
	AckTimes func(tap *store.Tap, number uint64, visit func(node string, at time.Time))
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Databases == nil {
		c.Databases = func() int { return database.Default }
	}
	c.Settings.EnsureDefaults()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Scope == nil {
		c.Scope = tally.NoopScope
	}
	if c.Clock == nil {
		began := time.Now()
		c.Clock = func() time.Duration { return time.Since(began) }
	}
	if c.Shutdown == nil {
		c.Shutdown = func() {}
	}
}

// Server is the RESP front of one node. Its methods may be called from any
// goroutine.
type Server struct {
	cfg             Config
	store           *store.Store
	log             *slog.Logger
	table           *command.Table
	settings        settings.Running
	stats           *stats.Stats
	meter           load.Meter // of this node's ranges
	hotkeys         hotkeys.Tracker
	late            trace.Log // requests whose replies left late
	budget          budget.Budget
	rehome          rehomer
	pause           pause.Pause
	monitors        *monitoring.Monitors
	logins          login.Guesses
	users           acl.Registry
	audit           *audit.Log // nil: none
	foreign         foreign.Log
	unauthenticated unauthenticated
	started         time.Time
	runID           string
	scripts         scriptState
	process         uint64 // in the tokens of watched keys
	admin           *admin.Server
	routing         sync.Mutex // serializes SetRoutes
	routes          atomic.Pointer[Routes]
	lease           atomic.Pointer[Lease] // nil on a node that needs none
	forwards        forwardedConns
	watchers        placement.Watchers
	// Notices are the clients that are told before the node stops.
	Notices  maintenance.Notices
	tracking trackers
	blocked  blocked
	pubsub   pubsub.Registry
	courier  pubsub.Worker
	draws    collection.Draws
	quota    *quota.Quota
	types    typegate.Gate

	keyEvents *keyevents.Events
	replicas  *psync.Server
	follower  *replicaof.Follower

	mu        sync.Mutex
	conns     map[int64]*conn
	listeners map[net.Listener]struct{}
	closing   bool
	nextID    atomic.Int64
	count     atomic.Int64 // connections that are open
	port      atomic.Int64 // of the first listener; 0 before it, or if it has none
	done      sync.WaitGroup
	stop      chan struct{}
	hurry     chan struct{} // closed by EndWaits
	endWaits  sync.Once
}

// NewServer returns a server for a store. Close must be called.
func NewServer(cfg Config) (*Server, error) {
	cfg.EnsureDefaults()
	if cfg.Store == nil {
		return nil, errors.New("resp: no store")
	}
	if err := cfg.Settings.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg:       cfg,
		store:     cfg.Store,
		log:       cfg.Logger,
		table:     newCommandTable(),
		started:   time.Now(),
		runID:     newRunID(),
		process:   newProcess(),
		conns:     make(map[int64]*conn),
		listeners: make(map[net.Listener]struct{}),
		stop:      make(chan struct{}),
		hurry:     make(chan struct{}),
	}
	s.settings.Set(nil, &cfg.Settings)
	s.stats = stats.New(s.table)
	startQuota(s)
	s.follower = newFollower(s)
	s.admin = newAdmin(s)
	var err error
	if s.audit, err = audit.Open(cfg.AuditLog, cfg.Logger); err == nil {
		err = openUsers(s, &cfg)
	}
	if err != nil {
		_ = s.audit.Close()
		close(s.stop)
		s.done.Wait()
		return nil, err
	}
	startBudget(s)
	s.scripts.Init(s.keptMost)
	s.scripts.functions = newFunctions(s)
	s.pause.Init()
	s.tracking.init(s)
	s.monitors = newMonitors(s)
	s.rehome.init(s)
	initTypeGate(s)
	s.blocked.init()
	s.courier.Init(&s.done)
	s.keyEvents = newKeyEvents(s)
	if apply, fault := s.parseEventSetting(cfg.Settings.KeyEvents); fault == "" {
		apply()
	}
	s.replicas = newReplicas(s)
	s.admin.Initial = s.admin.Config.Values()
	m := report.New[*sample](s.table, cfg.Scope)
	serverMetrics(m)
	report.Stats(m, func(x *sample) *stats.Stats { return x.srv.stats })
	report.Load(m, func(x *sample) *status.Load { return &x.load })
	report.Moves(m, func(x *sample) *status.Moves { return &x.moves })
	report.Traces(m, cfg.Traces)
	report.Store(m, func(x *sample) *store.Stats { return &x.store })
	s.done.Go(func() { s.watchConnections(m) })
	return s, nil
}

// ErrServerClosed is what Serve returns after Close.
var ErrServerClosed = errors.New("resp: server closed")

// Serve accepts connections until the listener fails or the server is closed.
func (s *Server) Serve(l net.Listener) error {
	if s.cfg.TLS != nil && l.Addr().Network() == "tcp" {
		l = tls.NewListener(l, s.cfg.TLS)
	}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = l.Close()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		s.port.CompareAndSwap(0, int64(tcp.Port))
	}
	defer s.forget(l)
	var delay time.Duration
	for {
		nc, err := l.Accept()
		if err == nil {
			delay = 0
			s.accept(nc)
			continue
		}
		s.mu.Lock()
		closing := s.closing
		s.mu.Unlock()
		if closing {
			return ErrServerClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept: %w", err)
		}
		// Out of file descriptors, most likely: let some connections end.
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		s.log.Warn("accepting a connection failed", "err", err, "retry", delay)
		select {
		case <-time.After(delay):
		case <-s.stop:
		}
	}
}

func (s *Server) forget(l net.Listener) {
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
}

// accept starts a connection, or tells it why not.
func (s *Server) accept(nc net.Conn) {
	if msg := s.refusal(nc); msg != "" {
		s.stats.Refused.Add(1)
		if strings.HasPrefix(msg, "DENIED") {
			s.stats.Protected.Add(1)
		}
		// A fresh socket's buffer takes this without waiting.
		_ = nc.SetDeadline(time.Now().Add(time.Second))
		if _, secure := nc.(*tls.Conn); !secure {
			_, _ = nc.Write([]byte("-" + msg + "\r\n"))
		}
		_ = nc.Close()
		return
	}
	s.setKeepAlive(nc)
	s.open(s.cfg.Rounds.Take(nc))
}

// open starts a connection, unless the server closes.
func (s *Server) open(nc net.Conn) bool {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = c.net.Close()
		return false
	}
	s.conns[c.session.id] = c
	s.count.Add(1)
	if c.secure != nil || !c.session.authed {
		s.unauthenticated.add(c)
	}
	s.done.Add(1)
	s.mu.Unlock()
	s.stats.Accepted.Add(1)
	go openConn(c)
	return true
}

func (s *Server) setKeepAlive(nc net.Conn) {
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	if tcp, ok := nc.(*net.TCPConn); ok {
		every := time.Duration(s.settings.KeepAlive.Load())
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: every > 0, Idle: every, Interval: every / 3})
	}
}

// refusal returns why a new connection is not taken, or "".
func (s *Server) refusal(nc net.Conn) string {
	if s.count.Load() >= s.settings.MaxClients.Load() && !s.unauthenticated.evict(s) {
		return "ERR max number of clients reached"
	}
	if s.settings.Protected.Load() && s.cfg.TLS == nil && s.users.Now().Default().NeedsNoPassword() && !socket.IsLoopback(nc.RemoteAddr()) {
		return "DENIED Ringside runs in protected mode: it has no password and no TLS, and so talks to " +
			"clients on the same host only. Set --requirepass or --tls-cert, or, if every host that can " +
			"reach it may read and change all data, --protected-mode=no."
	}
	return ""
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	delete(s.conns, c.session.id)
	s.mu.Unlock()
	s.count.Add(-1)
	s.unauthenticated.remove(c)
	s.monitors.Remove(&c.pushes)
	s.watchers.Remove(&c.pushes)
	s.Notices.Remove(&c.pushes)
	s.tracking.remove(c)
	s.pubsub.RemoveAll(&c.subs)
}

// EndWaits has all commands that wait for others, or for newer routes, answer as if their
// time were over, from now on. It is for a server that closes, and before its time is over,
// so that clients still hear it.
func (s *Server) EndWaits() {
	s.endWaits.Do(func() { close(s.hurry) })
	for _, c := range s.snapshot() {
		c.wake()
	}
}

// Close stops accepting, lets running commands finish and their replies leave, and
// ends all connections; those that are not done when ctx is are cut off.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return ErrServerClosed
	}
	for _, c := range s.conns {
		c.endTimedWaits()
	}
	s.closing = true
	close(s.stop)
	for l := range s.listeners {
		_ = l.Close()
	}
	s.mu.Unlock()
	s.pause.End()
	s.budget.End()
	s.replicas.End()
	s.follower.Close()
	for _, c := range s.snapshot() {
		_ = c.net.SetReadDeadline(time.Now())
		c.wake()
	}
	s.SendBack()
	defer s.blocked.end()
	done := make(chan struct{})
	go func() {
		s.done.Wait()
		close(done)
	}()
	defer func() { _ = s.audit.Close() }()
	defer s.cfg.Rounds.Close()
	defer s.keyEvents.Close()
	defer s.replicas.Close()
	defer s.tracking.close()
	defer s.monitors.Close()
	select {
	case <-done:
		s.scripts.End()
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.snapshot() {
		c.close()
	}
	s.scripts.End()
	<-done
	return fmt.Errorf("close: connections were cut off: %w", ctx.Err())
}
