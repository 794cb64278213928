package members

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fakeNet is a network in memory: packets take a while, some get lost, and hosts may be
// cut off from each other. It runs in virtual time.
type fakeNet struct {
	mu      sync.Mutex
	rand    *rand.Rand
	loss    float64       // share of packets that get lost
	delay   time.Duration // of a packet, at most
	side    map[netip.Addr]int
	streams map[netip.AddrPort]*fakeListener
	packets map[netip.AddrPort]*fakePackets
}

func newFakeNet(t *testing.T, seed uint64) *fakeNet {
	t.Logf("seed %d", seed)
	t.Cleanup(func() { time.Sleep(time.Minute) }) // virtual: memberlist's last probes end
	return &fakeNet{
		rand: rand.New(rand.NewPCG(seed, seed)), side: map[netip.Addr]int{},
		streams: map[netip.AddrPort]*fakeListener{}, packets: map[netip.AddrPort]*fakePackets{},
	}
}

// host is a network as one address sees it.
type host struct {
	*fakeNet
	ip netip.Addr
}

func (n *fakeNet) host(ip string) host { return host{n, netip.MustParseAddr(ip)} }

// move puts a host on another side: sides do not reach each other.
func (n *fakeNet) move(ip string, side int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.side[netip.MustParseAddr(ip)] = side
}

func (n *fakeNet) reach(a, b netip.Addr) bool { return n.side[a] == n.side[b] }

func (h host) Listen(addr string) (net.Listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := netip.MustParseAddrPort(addr)
	if h.streams[at] != nil {
		return nil, syscall.EADDRINUSE
	}
	l := &fakeListener{net: h.fakeNet, at: at, conns: make(chan net.Conn), closed: make(chan struct{})}
	h.streams[at] = l
	return l, nil
}

func (h host) ListenPacket(addr string) (net.PacketConn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := netip.MustParseAddrPort(addr)
	p := &fakePackets{net: h.fakeNet, at: at, in: make(chan fakePacket, 1024), closed: make(chan struct{})}
	h.packets[at] = p
	return p, nil
}

func (h host) Dial(ctx context.Context, addr string) (net.Conn, error) {
	to := netip.MustParseAddrPort(addr)
	h.mu.Lock()
	l, ok := h.streams[to], h.reach(h.ip, to.Addr())
	h.mu.Unlock()
	if !ok {
		<-ctx.Done() // nobody says no
		return nil, ctx.Err()
	}
	if l == nil {
		return nil, syscall.ECONNREFUSED
	}
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type fakeListener struct {
	net    *fakeNet
	at     netip.AddrPort
	conns  chan net.Conn
	closed chan struct{}
}

func (l *fakeListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }

func (l *fakeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *fakeListener) Close() error {
	l.net.mu.Lock()
	defer l.net.mu.Unlock()
	delete(l.net.streams, l.at)
	close(l.closed)
	return nil
}

type fakePacket struct {
	text []byte
	from netip.AddrPort
}

type fakePackets struct {
	net.PacketConn // deadlines are not used
	net            *fakeNet
	at             netip.AddrPort
	in             chan fakePacket
	closed         chan struct{}
}

func (p *fakePackets) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case packet := <-p.in:
		return copy(b, packet.text), net.UDPAddrFromAddrPort(packet.from), nil
	case <-p.closed:
		return 0, nil, net.ErrClosed
	}
}

func (p *fakePackets) WriteTo(b []byte, to net.Addr) (int, error) {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	target := n.packets[to.(*net.UDPAddr).AddrPort()]
	if target == nil || !n.reach(p.at.Addr(), target.at.Addr()) || n.rand.Float64() < n.loss {
		return len(b), nil
	}
	packet := fakePacket{append([]byte(nil), b...), p.at}
	time.AfterFunc(time.Duration(n.rand.Int64N(int64(n.delay)+1)), func() {
		select {
		case target.in <- packet:
		default:
		}
	})
	return len(b), nil
}

func (p *fakePackets) Close() error {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	if p.net.packets[p.at] == p {
		delete(p.net.packets, p.at)
	}
	close(p.closed)
	return nil
}
