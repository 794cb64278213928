package members

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/go-sockaddr"
	"github.com/hashicorp/memberlist"
)

const (
	// maxStreams is how many connections of peers are served at a time. Each may make
	// memberlist hold up to 20 MB before it knows the peer.
	maxStreams = 64
	// maxPacket is the largest there is.
	maxPacket = 1 << 16
	// acceptRetry is the wait after an error of accepting, such as too many open
	// files.
	acceptRetry = 100 * time.Millisecond
)

// transport carries memberlist's packets and streams over a [Network]. Unlike
// memberlist's own it ends all connections when it is shut down, so that no goroutine
// waits for a peer then, and bounds how many there are.
type transport struct {
	network Network
	logger  *log.Logger
	bound   netip.AddrPort
	stream  net.Listener
	packet  net.PacketConn

	ctx     context.Context // ends with Shutdown; dials end with it
	cancel  context.CancelFunc
	streams chan net.Conn           // to memberlist
	packets chan *memberlist.Packet // to memberlist
	wait    sync.WaitGroup

	mu      sync.Mutex
	inbound int
	conns   map[*trackedConn]struct{} // nil after Shutdown
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

// listen binds streams and packets to one port. For port 0 the network picks one for
// streams, which may be taken for packets, so that it is tried again.
func listen(network Network, bind netip.AddrPort, logger *log.Logger) (*transport, error) {
	attempts := 1
	if bind.Port() == 0 {
		attempts = 20
	}
	for {
		t, err := listenOnce(network, bind, logger)
		if err == nil {
			t.wait.Go(t.accept)
			t.wait.Go(t.read)
			return t, nil
		}
		if attempts--; attempts == 0 {
			return nil, fmt.Errorf("members: listen on %s: %w", bind, err)
		}
	}
}

func listenOnce(network Network, bind netip.AddrPort, logger *log.Logger) (*transport, error) {
	stream, err := network.Listen(bind.String())
	if err != nil {
		return nil, err
	}
	bound, err := netip.ParseAddrPort(stream.Addr().String())
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	// The listener's own address may be another way to write the same.
	bound = netip.AddrPortFrom(bind.Addr(), bound.Port())
	packet, err := network.ListenPacket(bound.String())
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	t := &transport{
		network: network, logger: logger, bound: bound, stream: stream, packet: packet,
		streams: make(chan net.Conn), packets: make(chan *memberlist.Packet), conns: map[*trackedConn]struct{}{},
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

func (t *transport) accept() {
	for {
		conn, err := t.stream.Accept()
		if err != nil {
			if !t.pause("accept", err) {
				return
			}
			continue
		}
		tracked, err := t.track(conn, true)
		if err != nil {
			continue
		}
		select {
		case t.streams <- tracked:
		case <-t.ctx.Done():
			_ = tracked.Close()
			return
		}
	}
}

func (t *transport) read() {
	buf := make([]byte, maxPacket)
	for {
		n, from, err := t.packet.ReadFrom(buf)
		if err != nil {
			if !t.pause("read a packet", err) {
				return
			}
			continue
		}
		if n == 0 {
			continue
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: time.Now()}
		select {
		case t.packets <- p:
		case <-t.ctx.Done():
			return
		}
	}
}

// pause keeps a lasting error from turning a loop into a busy one. It returns false
// after Shutdown.
func (t *transport) pause(what string, err error) bool {
	if t.ctx.Err() != nil {
		return false
	}
	t.logger.Printf("[ERR] transport: cannot %s: %v", what, err)
	select {
	case <-time.After(acceptRetry):
		return true
	case <-t.ctx.Done():
		return false
	}
}

// FinalAdvertiseAddr implements [memberlist.Transport].
func (t *transport) FinalAdvertiseAddr(ip string, port int) (net.IP, int, error) {
	if ip == "" {
		ip, port = t.bound.Addr().String(), int(t.bound.Port())
		if t.bound.Addr().IsUnspecified() {
			var err error
			if ip, err = sockaddr.GetPrivateIP(); err != nil {
				return nil, 0, fmt.Errorf("look for a private address: %w", err)
			}
			if ip == "" {
				return nil, 0, errors.New("this machine has no private address: set the address to advertise")
			}
		}
	}
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return nil, 0, err
	}
	return addr.Unmap().AsSlice(), port, nil
}

// PacketCh implements [memberlist.Transport].
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh implements [memberlist.Transport].
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// WriteTo implements [memberlist.Transport].
func (t *transport) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, err
	}
	_, err = t.packet.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return time.Now(), err
}

// WriteToAddress implements [memberlist.NodeAwareTransport].
func (t *transport) WriteToAddress(b []byte, addr memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, addr.Addr)
}

// DialTimeout implements [memberlist.Transport].
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	conn, err := t.network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return t.track(conn, false)
}

// DialAddressTimeout implements [memberlist.NodeAwareTransport].
func (t *transport) DialAddressTimeout(addr memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout(addr.Addr, timeout)
}

// Shutdown implements [memberlist.Transport]. It closes the listeners and all
// connections, and waits for the goroutines of this transport. It may be called twice.
func (t *transport) Shutdown() error {
	t.mu.Lock()
	conns := t.conns
	t.conns = nil
	t.mu.Unlock()
	if conns == nil {
		return nil
	}
	t.cancel()
	err := errors.Join(t.stream.Close(), t.packet.Close())
	for conn := range conns {
		_ = conn.Conn.Close()
	}
	t.wait.Wait()
	return err
}

var errTooManyStreams = errors.New("more than " + strconv.Itoa(maxStreams) + " connections")

// track closes the connection where it returns an error.
func (t *transport) track(conn net.Conn, inbound bool) (*trackedConn, error) {
	tracked := &trackedConn{Conn: conn, of: t, inbound: inbound}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.conns == nil:
		_ = conn.Close()
		return nil, net.ErrClosed
	case inbound && t.inbound >= maxStreams:
		_ = conn.Close()
		return nil, errTooManyStreams
	}
	if inbound {
		t.inbound++
	}
	t.conns[tracked] = struct{}{}
	return tracked, nil
}

// trackedConn is a connection that its transport knows of.
type trackedConn struct {
	net.Conn
	of      *transport
	inbound bool
	once    sync.Once
}

// Close implements [net.Conn].
func (c *trackedConn) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		delete(c.of.conns, c)
		if c.inbound {
			c.of.inbound--
		}
	})
	return c.Conn.Close()
}
