package members

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// maxStreams is how many connections of peers are served at a time. Each may make
// memberlist hold up to 20 MB before it knows who is there.
const maxStreams = 64

// transport is memberlist's, with connections that end when it is shut down, so that
// no goroutine waits for a peer then, and with a bound on their number.
type transport struct {
	*memberlist.NetTransport
	ctx     context.Context // ends with Shutdown; dials end with it
	cancel  context.CancelFunc
	streams chan net.Conn // to memberlist
	wait    sync.WaitGroup
	once    sync.Once

	mu      sync.Mutex
	inbound int
	conns   map[*trackedConn]struct{} // nil after Shutdown
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

// listen binds TCP and UDP to one port. For port 0 the system picks TCP's, which may
// not be free in UDP, so that it is tried again.
func listen(bind netip.AddrPort, logger *log.Logger) (*transport, error) {
	attempts := 1
	if bind.Port() == 0 {
		attempts = 20
	}
	for {
		inner, err := memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{bind.Addr().String()},
			BindPort:  int(bind.Port()),
			Logger:    logger,
		})
		if err != nil {
			if attempts--; attempts == 0 {
				return nil, fmt.Errorf("members: listen on %s: %w", bind, err)
			}
			continue
		}
		t := &transport{NetTransport: inner, streams: make(chan net.Conn), conns: map[*trackedConn]struct{}{}}
		t.ctx, t.cancel = context.WithCancel(context.Background())
		t.wait.Go(t.accept)
		return t, nil
	}
}

// accept passes connections on until Shutdown.
func (t *transport) accept() {
	for {
		select {
		case conn := <-t.NetTransport.StreamCh():
			tracked, err := t.track(conn, true)
			if err != nil {
				continue
			}
			select {
			case t.streams <- tracked:
			case <-t.ctx.Done():
				_ = tracked.Close()
			}
		case <-t.ctx.Done():
			return
		}
	}
}

// StreamCh implements [memberlist.Transport].
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// DialTimeout implements [memberlist.Transport].
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout implements [memberlist.NodeAwareTransport].
func (t *transport) DialAddressTimeout(addr memberlist.Address, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(t.ctx, "tcp", addr.Addr)
	if err != nil {
		return nil, err
	}
	return t.track(conn, false)
}

// Shutdown implements [memberlist.Transport]. It closes listeners and connections and
// waits for the goroutines of this transport.
func (t *transport) Shutdown() error {
	var err error
	t.once.Do(func() {
		t.cancel()
		t.mu.Lock()
		conns := t.conns
		t.conns = nil
		t.mu.Unlock()
		for conn := range conns {
			_ = conn.Conn.Close()
		}
		t.wait.Wait()
		// A listener may be about to hand something over that memberlist, if it ever
		// began, does not take any more.
		closed := make(chan struct{})
		t.wait.Go(func() {
			for {
				select {
				case conn := <-t.NetTransport.StreamCh():
					_ = conn.Close()
				case <-t.NetTransport.PacketCh():
				case <-closed:
					return
				}
			}
		})
		err = t.NetTransport.Shutdown()
		close(closed)
		t.wait.Wait()
	})
	return err
}

var errTooManyStreams = errors.New("too many connections")

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
