package tlsgossip

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
)

const (
	handshakeTimeout = 5 * time.Second
	// maxHandshakes is how many connections may be in their handshake at a time. One more closes the oldest.
	maxHandshakes = 128
	// acceptRetry is the wait after an error of accepting, such as too many open files.
	acceptRetry = 100 * time.Millisecond
)

// What a connection begins with: a byte from the acceptor, then a kind and a port from the dialler.
const (
	ready      = 'R'
	kindStream = 'S'
	kindPacket = 'P'
	headSize   = 3
)

// Network is gossip's network. Set the exported fields before the first call; the methods may be called from any goroutine.
type Network struct {
	Under members.Network
	// Client and Server return the configuration of a side that dials or accepts. They demand and verify the certificate of
	// the peer.
	Client, Server func() *tls.Config
	Logger         *slog.Logger

	mu     sync.Mutex
	ports  map[uint16]*endpoint // that are listened on
	warned time.Time
}

var _ members.Network = (*Network)(nil)

// Listen implements [members.Network].
func (n *Network) Listen(addr string) (net.Listener, error) {
	raw, err := n.Under.Listen(addr)
	if err != nil {
		return nil, err
	}
	bound, err := netip.ParseAddrPort(raw.Addr().String())
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	e := &endpoint{
		n: n, raw: raw, port: bound.Port(), streams: make(chan net.Conn), packets: make(chan packet, maxQueue),
		conns: map[net.Conn]struct{}{}, lanes: map[string]*lane{},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	n.mu.Lock()
	if n.ports == nil {
		n.ports = map[uint16]*endpoint{}
	}
	n.ports[e.port] = e
	n.mu.Unlock()
	e.running.Go(e.accept)
	return e, nil
}

// ListenPacket implements [members.Network] for the port of a listener.
func (n *Network) ListenPacket(addr string) (net.PacketConn, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.ports[at.Port()]
	if e == nil {
		return nil, fmt.Errorf("packets at %s: nothing listens for streams there", addr)
	}
	return &packetConn{e}, nil
}

// Dial implements [members.Network].
func (n *Network) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return n.dial(ctx, addr, kindStream, 0)
}

func (n *Network) dial(ctx context.Context, addr string, kind byte, port uint16) (net.Conn, error) {
	raw, err := n.Under.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	conn := &secureConn{tls.Client(raw, n.Client()), raw}
	err = greet(conn, kind, port)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("TLS with %s: %w", addr, err)
	}
	return conn, nil
}

// greet begins a connection that was dialled. The dialler waits until its certificate is verified before it sends anything: it
// reads why it was refused then, if it is.
func greet(conn net.Conn, kind byte, port uint16) error {
	var said [1]byte
	if _, err := io.ReadFull(conn, said[:]); err != nil { // after the handshake
		return err
	}
	if said[0] != ready {
		return errProtocol
	}
	_, err := conn.Write(binary.BigEndian.AppendUint16([]byte{kind}, port))
	return err
}

// farewells are errors of connections that end without a fault of TLS.
var farewells = []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, io.ErrClosedPipe, syscall.ECONNRESET, syscall.EPIPE}

var errProtocol = errors.New("not gossip of Ringside")

// A secureConn ends without a farewell, which would have to wait for a peer that does not read.
type secureConn struct {
	*tls.Conn
	raw net.Conn
}

// Close implements net.Conn.
func (c *secureConn) Close() error { return c.raw.Close() }

// An endpoint is a port that is listened on. It is the listener of streams.
type endpoint struct {
	n       *Network
	raw     net.Listener
	port    uint16
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	streams chan net.Conn
	packets chan packet
	running sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]struct{} // accepted, and not given away; nil after Close
	shaking []net.Conn            // those of conns that shake hands, oldest first
	lanes   map[string]*lane      // by the address that packets are sent to
}

func (e *endpoint) accept() {
	for {
		conn, err := e.raw.Accept()
		if err != nil {
			if e.ctx.Err() != nil {
				return
			}
			select {
			case <-time.After(acceptRetry):
			case <-e.ctx.Done():
			}
			continue
		}
		if !e.admit(conn) {
			_ = conn.Close()
			return
		}
		e.running.Go(func() { e.serve(conn) })
	}
}

// admit notes a connection that is to shake hands, and closes the oldest one if there are too many. It returns false after Close.
func (e *endpoint) admit(conn net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conns == nil {
		return false
	}
	if len(e.shaking) == maxHandshakes {
		_ = e.shaking[0].Close()
		e.shaking = e.shaking[1:]
	}
	e.conns[conn] = struct{}{}
	e.shaking = append(e.shaking, conn)
	return true
}

func (e *endpoint) shaken(conn net.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shaking = slices.DeleteFunc(e.shaking, func(c net.Conn) bool { return c == conn })
}

func (e *endpoint) forget(conn net.Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, conn)
}

// serve shakes hands and does what the connection is for.
func (e *endpoint) serve(raw net.Conn) {
	defer e.forget(raw)
	_ = raw.SetDeadline(time.Now().Add(handshakeTimeout))
	conn := &secureConn{tls.Server(raw, e.n.Server()), raw}
	kind, port, err := welcome(conn)
	e.shaken(raw)
	if err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = raw.Close()
		e.n.refused(raw.RemoteAddr(), err)
		return
	}
	if kind == kindPacket {
		e.receive(conn, port)
		_ = raw.Close()
		return
	}
	select {
	case e.streams <- conn:
	case <-e.ctx.Done():
		_ = raw.Close()
	}
}

// welcome is greet at the other side.
func welcome(conn *secureConn) (kind byte, port uint16, err error) {
	if err := conn.Handshake(); err != nil {
		return 0, 0, fmt.Errorf("TLS: %w", err)
	}
	if _, err := conn.Write([]byte{ready}); err != nil {
		return 0, 0, err
	}
	var head [headSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, 0, err
	}
	kind, port = head[0], binary.BigEndian.Uint16(head[1:])
	if kind != kindStream && kind != kindPacket {
		return 0, 0, errProtocol
	}
	return kind, port, nil
}

// refused logs a connection that has proved nothing, once a second at most.
func (n *Network) refused(from net.Addr, err error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || slices.ContainsFunc(farewells, func(e error) bool { return errors.Is(err, e) }) {
		n.Logger.Debug("gossip: a connection ended in its handshake", "node", from, "err", err)
		return
	}
	n.mu.Lock()
	now := time.Now()
	quiet := now.Sub(n.warned) < time.Second
	if !quiet {
		n.warned = now
	}
	n.mu.Unlock()
	if !quiet {
		n.Logger.Warn("gossip: a connection was refused", "node", from, "err", err)
	}
}

// Accept implements net.Listener.
func (e *endpoint) Accept() (net.Conn, error) {
	select {
	case conn := <-e.streams:
		return conn, nil
	case <-e.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (e *endpoint) Addr() net.Addr { return e.raw.Addr() }

// Close implements net.Listener. It closes all connections but the streams, and waits for the goroutines of the port.
func (e *endpoint) Close() error {
	e.mu.Lock()
	conns := e.conns
	e.conns = nil
	e.mu.Unlock()
	if conns == nil {
		e.running.Wait()
		return nil
	}
	e.cancel()
	err := e.raw.Close()
	for conn := range conns {
		_ = conn.Close()
	}
	e.running.Wait()
	e.n.mu.Lock()
	if e.n.ports[e.port] == e {
		delete(e.n.ports, e.port)
	}
	e.n.mu.Unlock()
	return err
}
