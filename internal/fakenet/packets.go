package fakenet

import (
	"net"
	"net/netip"
	"syscall"
	"time"
)

type packet struct {
	text []byte
	from netip.AddrPort
}

type packets struct {
	net.PacketConn // deadlines are not used
	net            *Net
	at             netip.AddrPort
	in             chan packet
	closed         chan struct{}
}

// ListenPacket receives packets at an IP:port.
func (h Host) ListenPacket(addr string) (net.PacketConn, error) {
	h.net.mu.Lock()
	defer h.net.mu.Unlock()
	at, err := h.at(addr)
	if err != nil {
		return nil, err
	}
	if h.net.packets[at] != nil {
		return nil, syscall.EADDRINUSE
	}
	p := &packets{net: h.net, at: at, in: make(chan packet, 1024), closed: make(chan struct{})}
	h.net.packets[at] = p
	return p, nil
}

func (p *packets) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(p.at) }

func (p *packets) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		still, moved := p.net.stands(p.at.Addr())
		in := p.in
		if still {
			in = nil
		}
		select {
		case packet := <-in:
			return copy(b, packet.text), net.UDPAddrFromAddrPort(packet.from), nil
		case <-moved:
		case <-p.closed:
			return 0, nil, net.ErrClosed
		}
	}
}

func (p *packets) WriteTo(b []byte, to net.Addr) (int, error) {
	n := p.net
	for still, moved := n.stands(p.at.Addr()); still; still, moved = n.stands(p.at.Addr()) {
		select {
		case <-moved:
		case <-p.closed:
			return 0, net.ErrClosed
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	target := n.packets[to.(*net.UDPAddr).AddrPort()]
	if target == nil || !n.reach(p.at.Addr(), target.at.Addr()) || n.rand.Float64() < n.loss {
		return len(b), nil
	}
	sent := packet{append([]byte(nil), b...), p.at}
	time.AfterFunc(time.Duration(n.rand.Int64N(int64(n.delay)+1)), func() {
		select {
		case target.in <- sent:
		default: // a full buffer loses it, as a system's does
		}
	})
	return len(b), nil
}

func (p *packets) Close() error {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	if p.net.packets[p.at] != p {
		return net.ErrClosed
	}
	delete(p.net.packets, p.at)
	close(p.closed)
	return nil
}
