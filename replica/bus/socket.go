package bus

import (
	"context"
	"net"
	"sync"
	"time"
)

// vanished is after how long a peer that acknowledges nothing is given up. Probes
// find it while nothing is sent; while something is, there are none, and on Linux
// limitUnacknowledged does.
const vanished = 15 * time.Second

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: vanished * 2 / 5, Interval: vanished / 5, Count: 3}

// A Network is where a bus listens and dials. The default is the system's TCP; tests
// have others. Its methods may be called by several goroutines at once.
type Network interface {
	// Listen accepts connections at a host:port; port 0 is a free one.
	Listen(addr string) (net.Listener, error)
	// Dial connects to a host:port. It must return when the context ends.
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// System is the system's TCP, with probes that find peers that have vanished.
type System struct{}

// Listen implements [Network].
func (System) Listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	return lc.Listen(context.Background(), "tcp", addr)
}

// Dial implements [Network].
func (System) Dial(ctx context.Context, addr string) (net.Conn, error) {
	dialer := net.Dialer{KeepAliveConfig: keepAlive}
	return dialer.DialContext(ctx, "tcp", addr)
}

// own returns a connection that the bus closes when it closes. TCP stays a *net.TCPConn
// in all else, so that vectored and direct writes work.
func (b *Bus) own(conn net.Conn) dialledConn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		limitUnacknowledged(tcp)
		return &tcpConn{TCPConn: tcp, bus: b}
	}
	return &otherConn{Conn: conn, bus: b}
}

// dialled is what is known of the other end of a connection that [Bus.Dial] has made.
type dialled struct {
	incarnation uint64
	version     uint16
}

// PeerIncarnation is that of the node at the other end, 0 for a connection that was accepted.
func (d *dialled) PeerIncarnation() uint64 { return d.incarnation }

// PeerVersion is the version of the protocol that both ends use, 0 for a connection that was accepted.
func (d *dialled) PeerVersion() uint16 { return d.version }

func (d *dialled) reached(peer Peer) { d.incarnation, d.version = peer.Incarnation, peer.Version }

// A dialledConn is one that own returns.
type dialledConn interface {
	net.Conn
	PeerIncarnation() uint64
	PeerVersion() uint16
	reached(peer Peer)
}

type tcpConn struct {
	*net.TCPConn
	dialled
	bus   *Bus
	close sync.Once
	err   error
}

func (c *tcpConn) Close() error {
	c.close.Do(func() {
		c.bus.forget(c)
		c.err = c.TCPConn.Close()
	})
	return c.err
}

type otherConn struct {
	net.Conn
	dialled
	bus   *Bus
	close sync.Once
	err   error
}

func (c *otherConn) Close() error {
	c.close.Do(func() {
		c.bus.forget(c)
		c.err = c.Conn.Close()
	})
	return c.err
}

// interrupt makes reads and writes of a connection fail once ctx is done. The
// function that it returns ends the watch and reports whether ctx was in time.
func interrupt(ctx context.Context, conn net.Conn) (stop func() (interrupted bool)) {
	undo := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() bool { return !undo() }
}
