package fakenet

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Host is the network as one address sees it.
type Host struct {
	net *Net
	ip  netip.Addr
}

// at resolves an address to listen on; port 0 is a free one. The caller holds mu.
func (h Host) at(addr string) (netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return at, err
	}
	if at.Port() == 0 {
		h.net.port++
		at = netip.AddrPortFrom(at.Addr(), h.net.port)
	}
	return at, nil
}

// Listen accepts streams at an IP:port.
func (h Host) Listen(addr string) (net.Listener, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	at, err := h.at(addr)
	if err != nil {
		return nil, err
	}
	if h.net.streams[at] != nil {
		return nil, syscall.EADDRINUSE
	}
	l := &listener{net: h.net, at: at, conns: make(chan net.Conn), closed: make(chan struct{})}
	h.net.streams[at] = l
	return l, nil
}

// Dial opens a stream to an IP:port. To a host on another side, or an address that is shut, it waits
// for ctx to end.
func (h Host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	t := time.NewTimer(h.net.latency())
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for still, moved := h.net.stands(h.ip); still; still, moved = h.net.stands(h.ip) {
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	h.net.mu.Lock()
	l, ok := h.net.streams[to], h.net.joined(h.ip, to.Addr()) && !h.net.shut[to]
	h.net.mu.Unlock()
	if !ok {
		<-ctx.Done() // no refusal comes
		return nil, ctx.Err()
	}
	if l == nil {
		return nil, syscall.ECONNREFUSED
	}
	near, far := h.net.connect(h.ip, to)
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		err = syscall.ECONNREFUSED
	case <-ctx.Done():
		err = ctx.Err()
	}
	_, _ = near.Close(), far.Close()
	return nil, err
}

type listener struct {
	net    *Net
	at     netip.AddrPort
	conns  chan net.Conn
	closed chan struct{}
}

func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	if l.net.streams[l.at] != l {
		return net.ErrClosed
	}
	delete(l.net.streams, l.at)
	close(l.closed)
	return nil
}
