package bus

import (
	"context"
	"net"
	"time"
)

// RaftLayer is the bus' connections for Raft, in the form that hashicorp/raft wants
// for its StreamLayer, but for the type of the address. Its methods may be called
// from any goroutine.
type RaftLayer struct {
	bus   *Bus
	conns chan net.Conn
	ctx   context.Context // ends with Close
	end   context.CancelFunc
}

// A raftConn is one for Raft. One that was dialed ends with the layer.
type raftConn struct {
	net.Conn
	peer Peer
	free func() bool // nil if it was accepted
}

// Start tells which start of which node is at the other end.
func (c *raftConn) Start() (node string, incarnation uint64) { return c.peer.ID, c.peer.Incarnation }

// Close implements net.Conn.
func (c *raftConn) Close() error {
	if c.free != nil {
		c.free()
	}
	return c.Conn.Close()
}

// RaftLayer makes the bus accept connections for Raft, until the layer is closed. A
// later call closes the layer before.
func (b *Bus) RaftLayer() *RaftLayer {
	l := &RaftLayer{bus: b, conns: make(chan net.Conn)}
	l.ctx, l.end = context.WithCancel(b.ctx)
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

func (l *RaftLayer) offer(peer Peer, conn net.Conn) {
	select {
	case l.conns <- &raftConn{Conn: conn, peer: peer}:
	case <-l.ctx.Done():
		_ = conn.Close()
	}
}

// Accept waits for a connection that has shaken hands. After Close it returns
// net.ErrClosed.
func (l *RaftLayer) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial, and the connections that were dialed: what is asked over
// them may never be answered. The bus itself and connections that were accepted stay
// open; what comes later for Raft is closed.
func (l *RaftLayer) Close() error {
	l.end()
	return nil
}

// Addr is the address that the bus listens on, which need not be the one that
// others are told.
func (l *RaftLayer) Addr() net.Addr { return l.bus.Addr() }

// Dial connects to the bus at an address, whichever node it is; Raft checks ids
// itself.
func (l *RaftLayer) Dial(address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := l.ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	conn, peer, err := l.bus.Dial(ctx, address, "", Raft)
	if err != nil {
		return nil, err
	}
	return &raftConn{conn, peer, context.AfterFunc(l.ctx, func() { _ = conn.Close() })}, nil
}
