package environment

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"weak"

	"github.com/ringside-kv/ringside/internal/rounds"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
)

// A ConnSet holds all connections and listeners of a node, so that they can be closed at once. Its
// methods may be called from any goroutine.
//
// Connections of clients leave the set for Rounds, which is severed with it. Other TCP connections are used
// directly, without a wrapper. The set refers to them weakly and forgets them with their owners.
type ConnSet struct {
	Rounds rounds.Lazy

	mu     sync.Mutex
	closed bool
	tcp    map[weak.Pointer[net.TCPConn]]struct{}
	others map[io.Closer]struct{} // listeners, packets, and tests' streams
}

// CloseAll closes everything at once. Unsent data is dropped, and new connections fail.
func (s *ConnSet) CloseAll() {
	s.mu.Lock()
	s.closed = true
	for p := range s.tcp {
		if conn := p.Value(); conn != nil {
			_ = conn.SetLinger(0)
			_ = conn.Close()
		}
	}
	others := slices.Collect(maps.Keys(s.others))
	s.mu.Unlock()
	for _, c := range others {
		_ = c.Close()
	}
	// What has been accepted before is closed, or a duplicate of Rounds took its place, or none can any more.
	s.Rounds.Sever()
}

// Listen listens for streams by means of what lies under the wire.
func (s *ConnSet) Listen(under func(addr string) (net.Listener, error), addr string) (net.Listener, error) {
	l, err := under(addr)
	if err != nil {
		return nil, err
	}
	wired := &trackedListener{l, s}
	return wired, s.addCloser(wired)
}

// Track has a listener that is open already closed with the set.
func (s *ConnSet) Track(l net.Listener) (net.Listener, error) {
	return s.Listen(func(string) (net.Listener, error) { return l, nil }, "")
}

// dial connects by means of what lies under the wire.
func (s *ConnSet) dial(ctx context.Context, under func(context.Context, string) (net.Conn, error), addr string) (net.Conn, error) {
	s.mu.Lock()
	severed := s.closed
	s.mu.Unlock()
	if severed {
		return nil, net.ErrClosed
	}
	conn, err := under(ctx, addr)
	if err != nil {
		return nil, err
	}
	return s.add(conn)
}

// add has a connection end when the wire is cut.
func (s *ConnSet) add(conn net.Conn) (net.Conn, error) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		wired := &trackedConn{conn, s}
		return wired, s.addCloser(wired)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = tcp.Close()
		return nil, net.ErrClosed
	}
	p := weak.Make(tcp)
	if s.tcp == nil {
		s.tcp = make(map[weak.Pointer[net.TCPConn]]struct{})
	}
	s.tcp[p] = struct{}{}
	runtime.AddCleanup(tcp, s.removeTCP, p)
	return tcp, nil
}

func (s *ConnSet) removeTCP(p weak.Pointer[net.TCPConn]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tcp, p)
}

// keep has something closed when the wire is cut.
func (s *ConnSet) addCloser(c io.Closer) error {
	s.mu.Lock()
	if !s.closed {
		if s.others == nil {
			s.others = make(map[io.Closer]struct{})
		}
		s.others[c] = struct{}{}
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	_ = c.Close()
	return net.ErrClosed
}

func (s *ConnSet) remove(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.others, c)
}

type trackedListener struct {
	net.Listener
	wire *ConnSet
}

func (l *trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.wire.add(conn)
}

func (l *trackedListener) Close() error {
	l.wire.remove(l)
	return l.Listener.Close()
}

// A trackedConn is a stream that is not TCP: of a Unix socket, or of a test.
type trackedConn struct {
	net.Conn
	wire *ConnSet
}

// Socket implements [rounds.Wrapper].
func (c *trackedConn) Socket() net.Conn { return c.Conn }

// SyscallConn implements syscall.Conn for Unix sockets.
func (c *trackedConn) SyscallConn() (syscall.RawConn, error) {
	if bare, ok := c.Conn.(syscall.Conn); ok {
		return bare.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

func (c *trackedConn) Close() error {
	c.wire.remove(c)
	return c.Conn.Close()
}

type trackedPackets struct {
	net.PacketConn
	wire *ConnSet
}

func (p *trackedPackets) Close() error {
	p.wire.remove(p)
	return p.PacketConn.Close()
}

// trackedBus is the network of the bus.
type trackedBus struct {
	wire  *ConnSet
	under bus.Network
}

func (b trackedBus) Listen(addr string) (net.Listener, error) {
	return b.wire.Listen(b.under.Listen, addr)
}

func (b trackedBus) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return b.wire.dial(ctx, b.under.Dial, addr)
}

// trackedMembers is the network of gossip.
type trackedMembers struct {
	wire  *ConnSet
	under members.Network
}

func (m trackedMembers) Listen(addr string) (net.Listener, error) {
	return m.wire.Listen(m.under.Listen, addr)
}

func (m trackedMembers) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return m.wire.dial(ctx, m.under.Dial, addr)
}

func (m trackedMembers) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := m.under.ListenPacket(addr)
	if err != nil {
		return nil, err
	}
	wired := &trackedPackets{conn, m.wire}
	return wired, m.wire.addCloser(wired)
}
