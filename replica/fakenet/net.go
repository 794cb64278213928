package fakenet

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// patience is how long a stream outlives the way between its ends.
const patience = 15 * time.Second

// Net is a network. Its methods may be called from any goroutine.
type Net struct {
	mu      sync.Mutex
	rand    *rand.Rand
	loss    float64
	delay   time.Duration
	side    map[netip.Addr]int
	changed chan struct{} // closed, and made anew, when a host moves
	streams map[netip.AddrPort]*listener
	packets map[netip.AddrPort]*packets
	conns   map[*conn]struct{}
	port    uint16 // the last that was given out
}

// New makes a network in which what is sent takes up to delay, and a share of all
// packets, but nothing of a stream, gets lost.
func New(seed uint64, delay time.Duration, loss float64) *Net {
	return &Net{
		rand: rand.New(rand.NewPCG(seed, seed)), delay: delay, loss: loss,
		side: map[netip.Addr]int{}, changed: make(chan struct{}),
		streams: map[netip.AddrPort]*listener{}, packets: map[netip.AddrPort]*packets{},
		conns: map[*conn]struct{}{}, port: 20000,
	}
}

// Host is the network as seen from an IP address.
func (n *Net) Host(ip string) Host { return Host{n, netip.MustParseAddr(ip)} }

// Move puts hosts on another side of the network, 0 at first: sides do not reach each
// other.
func (n *Net) Move(side int, ips ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, ip := range ips {
		n.side[netip.MustParseAddr(ip)] = side
	}
	close(n.changed)
	n.changed = make(chan struct{})
	for c := range n.conns {
		if n.reach(c.in.from, c.in.to) || c.lonely {
			continue
		}
		c.lonely = true
		time.AfterFunc(patience, func() {
			n.mu.Lock()
			c.lonely = false
			gone := !n.reach(c.in.from, c.in.to)
			n.mu.Unlock()
			if gone {
				c.reset()
			}
		})
	}
}

// Crash ends every stream of a host at once, as when its process is killed.
func (n *Net) Crash(ip string) {
	addr := netip.MustParseAddr(ip)
	n.mu.Lock()
	var conns []*conn
	for c := range n.conns {
		if c.in.from == addr || c.in.to == addr {
			conns = append(conns, c)
		}
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.reset()
	}
}

// reach tells whether hosts reach each other. The caller holds mu.
func (n *Net) reach(a, b netip.Addr) bool { return n.side[a] == n.side[b] }

// way tells whether there is one, and what closes when that may have changed.
func (n *Net) way(a, b netip.Addr) (bool, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reach(a, b), n.changed
}

func (n *Net) latency() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.rand.Int64N(int64(n.delay) + 1))
}
