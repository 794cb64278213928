package bus

import (
	"context"
	"net"
	"sync"
	"time"
)

// RaftLayer is the bus' connections for Raft, in the form that hashicorp/raft wants
// for its StreamLayer, but for the type of the address. Its methods may be called
// from any goroutine.
type RaftLayer struct {
	bus    *Bus
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// RaftLayer makes the bus accept connections for Raft, until the layer is closed. A
// later call closes the layer before.
func (b *Bus) RaftLayer() *RaftLayer {
	l := &RaftLayer{bus: b, conns: make(chan net.Conn), closed: make(chan struct{})}
	b.mu.Lock()
	before := b.raft
	b.raft = l
	b.handlers[Raft] = l.offer
	closed := b.closed
	b.mu.Unlock()
	if before != nil {
		_ = before.Close()
	}
	if closed {
		_ = l.Close()
	}
	return l
}

func (l *RaftLayer) offer(_ Peer, conn net.Conn) {
	select {
	case l.conns <- conn:
	case <-l.closed:
		_ = conn.Close()
	}
}

// Accept waits for a connection that has shaken hands. After Close it returns
// net.ErrClosed.
func (l *RaftLayer) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. The bus itself and connections that were handed out stay open;
// what comes later for Raft is closed.
func (l *RaftLayer) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is the address that the bus listens on, which need not be the one that
// others are told.
func (l *RaftLayer) Addr() net.Addr { return l.bus.Addr() }

// Dial connects to the bus at an address, whichever node it is; Raft checks ids
// itself.
func (l *RaftLayer) Dial(address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := l.bus.ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	conn, _, err := l.bus.Dial(ctx, address, "", Raft)
	return conn, err
}
