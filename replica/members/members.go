package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/memberlist"
	"github.com/hashicorp/serf/serf"
)

// Members is this node's part in the gossip. All methods may be called by several
// goroutines at once, and after Close.
type Members struct {
	cfg      Config
	self     startID
	log      *slog.Logger
	metrics  metrics
	ownAddrs map[netip.AddrPort]bool
	serf     *serf.Serf

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wait   sync.WaitGroup // for all goroutines but drain and that of Leave

	events    chan serf.Event
	drained   chan struct{} // closed when drain may end
	draining  sync.WaitGroup
	changed   chan struct{} // a note for follow
	seenAlive chan string   // ids, for greet
	forgotten forgotten
	viewMu    sync.Mutex // held while a view is made
	failures  failures   // not logged yet; under viewMu
	view      atomic.Pointer[view]
	watchers  watchers
	fatal     chan error
	failOnce  sync.Once
	refusal   atomic.Pointer[error] // the latest stranger

	tagsMu sync.Mutex // makes changes of tags one after the other
	tags   atomic.Pointer[tags]

	peersChanged chan struct{} // a note for keepPeers
	peersMu      sync.Mutex
	peers        *peers
	leaving      bool // no peers are to be kept

	stateMu             sync.Mutex
	leaveBegun, closing bool
	leave               sync.WaitGroup
	left                chan struct{} // closed when Serf has left
	leaveErr            error         // valid once left is closed
	closeOnce           sync.Once
	closeErr            error
}

// Open begins to gossip and to look for peers, which goes on in the background: it
// waits for no other node. The caller closes what it returns.
func Open(cfg Config) (*Members, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := newMembers(cfg)
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if err := m.open(); err != nil {
		m.cancel()
		return nil, err
	}
	m.draining.Go(m.drainEvents)
	m.wait.Go(m.updateViews)
	m.wait.Go(m.keepPeers)
	m.wait.Go(m.joinLoop)
	m.wait.Go(m.rejoinFailed)
	return m, nil
}

// newMembers returns what neither listens nor has a context yet.
func newMembers(cfg Config) *Members {
	m := &Members{
		cfg:          cfg,
		self:         newStartID(cfg.ID, cfg.Incarnation),
		log:          cfg.Logger,
		metrics:      newMetrics(cfg.Scope),
		events:       make(chan serf.Event, eventRoom),
		drained:      make(chan struct{}),
		changed:      make(chan struct{}, 1),
		failures:     make(failures),
		seenAlive:    make(chan string, maxSeenAlive),
		fatal:        make(chan error, 1),
		peersChanged: make(chan struct{}, 1),
		left:         make(chan struct{}),
	}
	own := cfg.tags()
	m.tags.Store(&own)
	return m
}

func (m *Members) open() error {
	bind, err := m.bindAddr()
	if err != nil {
		return err
	}
	logger := newGossipLogger(m.log, m.refuse)
	network, err := listen(m.cfg.Network, bind, logger)
	if err != nil {
		return err
	}
	bound := network.bound
	list, err := m.memberlistConfig(bound)
	if err != nil {
		return errors.Join(err, network.Shutdown())
	}
	list.Transport = network
	list.Logger = logger
	conf := m.serfConfig()
	conf.MemberlistConfig = list
	conf.Logger = logger
	if m.peers, err = loadPeers(m.cfg.Dir, m.cfg.Cluster); err != nil {
		m.log.Warn("reading the file of known peers failed, continuing without it", slog.Any("err", err))
	}
	if m.serf, err = serf.Create(conf); err != nil {
		return errors.Join(fmt.Errorf("members: %w", err), network.Shutdown())
	}
	m.updateView()
	self, _ := m.Node(m.self.id)
	advertised, err := netip.ParseAddrPort(self.GossipAddr)
	if err != nil {
		return errors.Join(fmt.Errorf("members: own address: %w", err), m.serf.Shutdown())
	}
	m.ownAddrs = ownAddresses(bound, advertised)
	return nil
}

func (m *Members) bindAddr() (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(m.cfg.BindAddr)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("members: %w", err)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	ctx, cancel := context.WithTimeout(m.ctx, lookUpTimeout)
	defer cancel()
	ips, err := resolve(ctx, m.cfg.Resolver, host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("members: gossip address: %w", err)
	}
	return netip.ParseAddrPort(net.JoinHostPort(ips[0].String(), port))
}

func (m *Members) memberlistConfig(bound netip.AddrPort) (*memberlist.Config, error) {
	t := m.cfg.Timing
	c := memberlist.DefaultLANConfig()
	c.BindAddr, c.BindPort = bound.Addr().String(), int(bound.Port())
	c.AdvertisePort = c.BindPort
	c.ProbeInterval, c.ProbeTimeout, c.SuspicionMult = t.ProbeInterval, t.ProbeTimeout, t.SuspicionMult
	c.GossipInterval, c.PushPullInterval, c.TCPTimeout = t.GossipInterval, t.PushPullInterval, t.StreamTimeout
	if m.cfg.Advertise != "" {
		host, port, err := splitHostPort(m.cfg.Advertise, bound.Port())
		if err != nil {
			return nil, fmt.Errorf("members: advertised address: %w", err)
		}
		ctx, cancel := context.WithTimeout(m.ctx, lookUpTimeout)
		defer cancel()
		ips, err := resolve(ctx, m.cfg.Resolver, host)
		if err != nil {
			return nil, fmt.Errorf("members: advertised address: %w", err)
		}
		c.AdvertiseAddr, c.AdvertisePort = ips[0].String(), int(port)
	}
	var err error
	if c.Keyring, err = keyring(m.cfg.Key, m.cfg.AcceptKey); err != nil {
		return nil, fmt.Errorf("members: cluster key: %w", err)
	}
	return c, nil
}

func (m *Members) serfConfig() *serf.Config {
	t := m.cfg.Timing
	c := serf.DefaultConfig()
	c.NodeName = m.self.name()
	c.Tags = map[string]string{tagKey: m.tags.Load().encode()}
	c.EventCh = m.events
	c.BroadcastTimeout, c.LeavePropagateDelay, c.ReconnectInterval = t.LeaveTimeout, t.LeaveLinger, t.Reconnect
	c.ReapInterval = min(c.ReapInterval, t.Forget)
	c.ReconnectTimeoutOverride = reconnectPolicy{m}
	c.EnableNameConflictResolution = false // no two lives have one name
	c.DisableCoordinates = true
	c.Merge = &mergeGuard{own: &m.tags, refused: m.refuse}
	return c
}

// Nodes returns what is known of all nodes, ordered by id; this one is among them.
func (m *Members) Nodes() []Node { return slices.Clone(m.view.Load().nodes) }

// Node returns what is known of one node.
func (m *Members) Node(id string) (Node, bool) { return m.view.Load().find(id) }

// Watch returns a channel that has something to receive whenever Nodes may have
// changed since the last receive, and at once. It is closed by cancel, which must be
// called, and by Close. A reader that is slow misses nothing but intermediate states.
func (m *Members) Watch() (events <-chan struct{}, cancel func()) { return m.watchers.add() }

// Fatal returns a channel that has one error to receive when this node should not go
// on: another one goes before it ([ErrReplaced]), or all that it was told to join
// refuse it ([ErrStranger]). It gossips on until Close, and others do not count it.
// The channel is never closed.
func (m *Members) Fatal() <-chan error { return m.fatal }

// SetWeight changes this node's weight and tells the others. It waits until the news
// has been sent, or too long; the change holds in either case, and reaches the others
// sooner or later.
func (m *Members) SetWeight(weight float64) error {
	if err := validateWeight(m.cfg.Role, weight); err != nil {
		return fmt.Errorf("members: %w", err)
	}
	return m.setTags(func(t *tags) { t.weight = weight })
}

// SetAddrs changes where this node listens, as SetWeight does the weight.
func (m *Members) SetAddrs(busAddr, clientAddr string) error {
	if err := errors.Join(validateHostPort("bus address", busAddr, 1), validateClientAddr(clientAddr)); err != nil {
		return err
	}
	return m.setTags(func(t *tags) { t.busAddr, t.clientAddr = busAddr, clientAddr })
}

// SetGeneration says which cluster this node is in now, as SetWeight says its weight.
// From then on nodes of another generation are strangers.
func (m *Members) SetGeneration(generation uint64) error {
	return m.setTags(func(t *tags) { t.generation = generation })
}

func (m *Members) setTags(change func(*tags)) error {
	m.tagsMu.Lock()
	defer m.tagsMu.Unlock()
	if m.ctx.Err() != nil {
		return ErrClosed
	}
	if m.serf.State() != serf.SerfAlive {
		return ErrLeft
	}
	changed := *m.tags.Load()
	change(&changed)
	if changed == *m.tags.Load() {
		return nil
	}
	if err := changed.checkSize(); err != nil {
		return err
	}
	m.tags.Store(&changed)
	if err := m.serf.SetTags(map[string]string{tagKey: changed.encode()}); err != nil {
		// The size has been checked, so it is time that ran out.
		m.log.Info("a change of this node has not reached all other nodes in time", slog.Any("err", err))
	}
	return nil
}

// Leave tells the others that this node goes for good, and waits until the word had
// time to spread, or the context ends; it goes on in the background then. It forgets
// the known peers, so that a later start does not come back by itself, only by
// [Config.Join]. The node must still be closed.
func (m *Members) Leave(ctx context.Context) error {
	return m.leaveGossip(ctx, false)
}

// Withdraw is Leave for a node that may be started again: it keeps the file of peers, by
// which a later start finds the cluster.
func (m *Members) Withdraw(ctx context.Context) error { return m.leaveGossip(ctx, true) }

func (m *Members) leaveGossip(ctx context.Context, keepPeers bool) error {
	if !m.beginLeave(keepPeers) {
		return ErrClosed
	}
	select {
	case <-m.left:
		return m.leaveErr
	case <-ctx.Done():
		return fmt.Errorf("members: leave: %w", ctx.Err())
	}
}

// beginLeave reports whether the node is leaving, or has left. Once Close has begun, no
// goroutine may start.
func (m *Members) beginLeave(keepPeers bool) bool {
	m.stateMu.Lock()
	defer m.stateMu.Unlock()
	if !m.leaveBegun && !m.closing {
		m.leaveBegun = true
		m.leave.Go(func() { m.broadcastLeave(keepPeers) })
	}
	return m.leaveBegun
}

func (m *Members) broadcastLeave(keepPeers bool) {
	defer close(m.left)
	var err error
	m.peersMu.Lock()
	m.leaving = true
	if !keepPeers {
		err = m.peers.remove()
	}
	m.peersMu.Unlock()
	if leaveErr := m.serf.Leave(); leaveErr != nil {
		err = errors.Join(err, fmt.Errorf("members: leave: %w", leaveErr))
	}
	m.leaveErr = err
}

// Close ends the gossip without a word to the others, which will see this node fail
// unless it has left. It waits for a Leave under way and for the goroutines; only a
// probe that memberlist is just making ends after it, within eight probe intervals.
// Its error is that of the first call.
func (m *Members) Close() error {
	m.stateMu.Lock()
	m.closing = true
	m.stateMu.Unlock()
	m.closeOnce.Do(func() {
		m.leave.Wait() // memberlist panics if it is told to leave after its end
		m.cancel()
		if err := m.serf.Shutdown(); err != nil {
			m.closeErr = fmt.Errorf("members: close: %w", err)
		}
		m.wait.Wait()
		m.watchers.close()
		close(m.drained)
		m.draining.Wait()
	})
	return m.closeErr
}
