package node

import (
	"context"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
)

// A wire is all that a node has of the network, so that it can be cut. Its methods may be
// called from any goroutine.
//
// Whoever reads and writes TCP does so without it being in between: it knows connections
// only weakly, and forgets them with their owners.
type wire struct {
	mu      sync.Mutex
	severed bool
	tcp     map[weak.Pointer[net.TCPConn]]struct{}
	others  map[io.Closer]struct{} // listeners, packets, and tests' streams
}

// cut ends everything at once: what was not sent yet is not sent, and nothing begins anew.
func (w *wire) cut() {
	w.mu.Lock()
	w.severed = true
	for p := range w.tcp {
		if conn := p.Value(); conn != nil {
			_ = conn.SetLinger(0)
			_ = conn.Close()
		}
	}
	others := slices.Collect(maps.Keys(w.others))
	w.mu.Unlock()
	for _, c := range others {
		_ = c.Close()
	}
}

// listen listens for streams by means of what lies under the wire.
func (w *wire) listen(under func(addr string) (net.Listener, error), addr string) (net.Listener, error) {
	l, err := under(addr)
	if err != nil {
		return nil, err
	}
	wired := &wiredListener{l, w}
	return wired, w.keep(wired)
}

// dial connects by means of what lies under the wire.
func (w *wire) dial(ctx context.Context, under func(context.Context, string) (net.Conn, error), addr string) (net.Conn, error) {
	w.mu.Lock()
	severed := w.severed
	w.mu.Unlock()
	if severed {
		return nil, net.ErrClosed
	}
	conn, err := under(ctx, addr)
	if err != nil {
		return nil, err
	}
	return w.own(conn)
}

// own has a connection end when the wire is cut.
func (w *wire) own(conn net.Conn) (net.Conn, error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		wired := &wiredConn{conn, w}
		return wired, w.keep(wired)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.severed {
		_ = tcp.Close()
		return nil, net.ErrClosed
	}
	p := weak.Make(tcp)
	if w.tcp == nil {
		w.tcp = make(map[weak.Pointer[net.TCPConn]]struct{})
	}
	w.tcp[p] = struct{}{}
	runtime.AddCleanup(tcp, w.forgetTCP, p)
	return tcp, nil
}

func (w *wire) forgetTCP(p weak.Pointer[net.TCPConn]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.tcp, p)
}

// keep has something closed when the wire is cut.
func (w *wire) keep(c io.Closer) error {
	w.mu.Lock()
	if !w.severed {
		if w.others == nil {
			w.others = make(map[io.Closer]struct{})
		}
		w.others[c] = struct{}{}
		w.mu.Unlock()
		return nil
	}
	w.mu.Unlock()
	_ = c.Close()
	return net.ErrClosed
}

func (w *wire) forget(c io.Closer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.others, c)
}

type wiredListener struct {
	net.Listener
	wire *wire
}

func (l *wiredListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wire.own(conn)
}

func (l *wiredListener) Close() error {
	l.wire.forget(l)
	return l.Listener.Close()
}

// A wiredConn is a stream that is not TCP, as tests have them.
type wiredConn struct {
	net.Conn
	wire *wire
}

func (c *wiredConn) Close() error {
	c.wire.forget(c)
	return c.Conn.Close()
}

type wiredPackets struct {
	net.PacketConn
	wire *wire
}

func (p *wiredPackets) Close() error {
	p.wire.forget(p)
	return p.PacketConn.Close()
}

// wiredBus is the network of the bus.
type wiredBus struct {
	wire  *wire
	under bus.Network
}

func (b wiredBus) Listen(addr string) (net.Listener, error) {
	return b.wire.listen(b.under.Listen, addr)
}

func (b wiredBus) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return b.wire.dial(ctx, b.under.Dial, addr)
}

// wiredMembers is the network of gossip.
type wiredMembers struct {
	wire  *wire
	under members.Network
}

func (m wiredMembers) Listen(addr string) (net.Listener, error) {
	return m.wire.listen(m.under.Listen, addr)
}

func (m wiredMembers) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return m.wire.dial(ctx, m.under.Dial, addr)
}

func (m wiredMembers) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := m.under.ListenPacket(addr)
	if err != nil {
		return nil, err
	}
	wired := &wiredPackets{conn, m.wire}
	return wired, m.wire.keep(wired)
}
