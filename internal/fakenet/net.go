package fakenet

import (
	"math/rand/v2"
	"net/netip"
	"slices"
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
	mute    map[way]bool            // ways on which nothing arrives
	frozen  map[netip.Addr]bool     // hosts whose processes stand still
	away    map[netip.Addr]bool     // hosts that are unplugged
	shut    map[netip.AddrPort]bool // addresses that accept no new streams
	changed chan struct{}           // closed and replaced when one of these changes
	streams map[netip.AddrPort]*listener
	packets map[netip.AddrPort]*packets
	conns   map[*conn]struct{}
	port    uint16 // the last that was given out
}

// A way is one direction between two hosts.
type way struct{ from, to netip.Addr }

// New makes a network in which what is sent takes up to delay, and a share of all
// packets, but nothing of a stream, gets lost.
func New(seed uint64, delay time.Duration, loss float64) *Net {
	return &Net{
		rand: rand.New(rand.NewPCG(seed, seed)), delay: delay, loss: loss,
		side: map[netip.Addr]int{}, mute: map[way]bool{}, frozen: map[netip.Addr]bool{}, away: map[netip.Addr]bool{}, shut: map[netip.AddrPort]bool{}, changed: make(chan struct{}),
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
	n.change()
}

// Unplug keeps everything from and to a host from arriving, on whatever side it is and
// comes to be meanwhile, or ends that.
func (n *Net) Unplug(ip string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away[netip.MustParseAddr(ip)] = on
	n.change()
}

// Mute keeps what one host sends from reaching another, or lets it arrive again. The
// other direction stays as it is.
func (n *Net) Mute(from, to string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute[way{netip.MustParseAddr(from), netip.MustParseAddr(to)}] = on
	n.change()
}

// Freeze stops a host's process as SIGSTOP does, or lets it go on. What it would send or
// receive waits; to others its system still answers, so that no stream breaks.
func (n *Net) Freeze(ip string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen[netip.MustParseAddr(ip)] = on
	n.change()
}

// Shut keeps new streams to an IP:port from being accepted, or lets them be accepted again. Streams
// that exist continue, and a dial waits: as behind a firewall, or a listener that has got stuck.
func (n *Net) Shut(addr string, on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut[netip.MustParseAddrPort(addr)] = on
	n.change()
}

// Break ends at once the streams to an IP:port that some hosts have dialled.
func (n *Net) Break(addr string, diallers ...string) {
	n.mu.Lock()
	var conns []*conn
	for c := range n.conns {
		if c.near.String() == addr && slices.Contains(diallers, c.in.from.String()) {
			conns = append(conns, c)
		}
	}
	n.mu.Unlock()
	for _, c := range conns {
		c.reset()
	}
}

// Heal ends every cut, on whatever side hosts are.
func (n *Net) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.side)
	clear(n.mute)
	n.change()
}

// change wakes all waiters, and looks at the streams that are cut now. A stream needs
// both ways: acknowledgements take the other one. The caller holds mu.
func (n *Net) change() {
	close(n.changed)
	n.changed = make(chan struct{})
	for c := range n.conns {
		if n.joined(c.in.from, c.in.to) || c.lonely {
			continue
		}
		c.lonely = true
		time.AfterFunc(patience, func() {
			n.mu.Lock()
			c.lonely = false
			gone := !n.joined(c.in.from, c.in.to)
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

// reach tells whether what one host sends arrives at another. The caller holds mu.
func (n *Net) reach(from, to netip.Addr) bool {
	return n.side[from] == n.side[to] && !n.mute[way{from, to}] && !n.away[from] && !n.away[to]
}

// joined tells whether hosts reach each other. The caller holds mu.
func (n *Net) joined(a, b netip.Addr) bool { return n.reach(a, b) && n.reach(b, a) }

// way tells whether the reader of a stream gets what is in it, and what closes when that
// may have changed.
func (n *Net) way(from, to netip.Addr) (bool, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reach(from, to) && !n.frozen[to], n.changed
}

// stands tells whether a host stands still, and what closes when that may have changed.
func (n *Net) stands(ip netip.Addr) (bool, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.frozen[ip], n.changed
}

func (n *Net) latency() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.rand.Int64N(int64(n.delay) + 1))
}
