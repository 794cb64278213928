package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/uber-go/tally/v4"
)

// Bus is a node's end of all connections between nodes. Its methods may be called
// from any goroutine.
type Bus struct {
	cfg      Config
	listener net.Listener
	ctx      context.Context // done once the bus closes
	cancel   context.CancelFunc
	metrics  metrics

	mu       sync.Mutex
	handlers map[Purpose]func(Peer, net.Conn)
	conns    map[net.Conn]struct{}
	raft     *RaftLayer
	started  bool
	closed   bool

	pending  pending
	unranged olderPeers // refuse a hello that names versions
	plain    olderPeers // speak no TLS, which is optional
	warned   limiter
	running  sync.WaitGroup
}

type metrics struct {
	accepted, dialled, garbage, evicted tally.Counter
	plain                               tally.Counter
	refused                             tally.Scope
	open                                tally.Gauge
}

// Listen opens the port. Nothing is accepted before Start; Close must be called.
// The error lists every fault of the Config.
func Listen(cfg Config) (*Bus, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l, err := cfg.Network.Listen(cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	b := &Bus{
		cfg:      cfg,
		listener: l,
		handlers: make(map[Purpose]func(Peer, net.Conn)),
		conns:    make(map[net.Conn]struct{}),
		metrics: metrics{
			accepted: cfg.Scope.Counter("accepted_total"),
			dialled:  cfg.Scope.Counter("dialled_total"),
			garbage:  cfg.Scope.Counter("garbage_total"),
			evicted:  cfg.Scope.Counter("evicted_total"),
			plain:    cfg.Scope.Counter("plain_total"),
			refused:  cfg.Scope,
			open:     cfg.Scope.Gauge("connections"),
		},
	}
	b.pending.init(cfg.MaxHandshakes)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

// Addr is the address that the bus listens on.
func (b *Bus) Addr() net.Addr { return b.listener.Addr() }

// Handle makes the bus accept connections for a purpose, or, with nil, refuse them
// again. Each is given to the handler on a goroutine of its own. The connection is
// then the handler's, which closes it, and may keep it after it has returned.
// Close closes it, too, and waits for the handler. Register before Start, or peers
// that are early are refused.
func (b *Bus) Handle(purpose Purpose, handler func(Peer, net.Conn)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if handler == nil {
		delete(b.handlers, purpose)
		return
	}
	b.handlers[purpose] = handler
}

func (b *Bus) handler(purpose Purpose) func(Peer, net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.handlers[purpose]
}

// Start begins to accept connections. It may be called once.
func (b *Bus) Start() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case b.started:
		return errors.New("bus: started twice")
	}
	b.started = true
	b.running.Add(1)
	go b.accept()
	return nil
}

// adopt takes a connection under the bus' care, until it is closed.
func (b *Bus) adopt(conn net.Conn) (dialledConn, error) {
	c := b.own(conn)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = conn.Close()
		return nil, ErrClosed
	}
	b.conns[c] = struct{}{}
	b.metrics.open.Update(float64(len(b.conns)))
	return c, nil
}

// countPlain counts a connection without TLS if this node has certificates.
func (b *Bus) countPlain(peer Peer) {
	if b.cfg.TLS != nil && !peer.Secure {
		b.metrics.plain.Inc(1)
	}
}

func (b *Bus) forget(c net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, c)
	b.metrics.open.Update(float64(len(b.conns)))
}

// Close closes the port and every connection, dialled ones too, and waits for all
// handlers to return. Calls after the first do nothing.
func (b *Bus) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		b.running.Wait()
		return nil
	}
	b.closed = true
	b.cancel()
	err := b.listener.Close()
	conns := make([]net.Conn, 0, len(b.conns))
	for c := range b.conns {
		conns = append(conns, c)
	}
	layer := b.raft
	b.mu.Unlock()
	if layer != nil {
		_ = layer.Close()
	}
	for _, c := range conns {
		_ = c.Close()
	}
	b.running.Wait()
	if err != nil {
		return fmt.Errorf("bus: close: %w", err)
	}
	return nil
}
