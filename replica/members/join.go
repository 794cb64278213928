package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/serf/serf"
)

// lookUpTimeout is how long a name may take to be looked up.
const lookUpTimeout = 10 * time.Second

// joinLoop finds peers for as long as the node is open. While it is alone, it asks all of
// the Join list and of the file of peers, with a wait between that doubles. After
// that it goes on to look for those of the Join list that it has not met: clusters
// that formed on both sides of a broken network find each other so.
func (m *Members) joinLoop() {
	t := m.cfg.Timing
	wait := t.JoinMin
	for m.serf.State() == serf.SerfAlive {
		m.joinRound(m.alone())
		pause := wait
		if m.alone() {
			wait = min(2*wait, t.JoinMax)
		} else {
			wait, pause = t.JoinMin, t.JoinMax
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2+1)): // nodes that started together part
		case <-m.ctx.Done():
			return
		}
	}
}

// maxSeenAlive is how many nodes may be waiting to be greeted; more are let go.
const maxSeenAlive = 32

// NoteAlive says that a node is there, by other signs than gossip. If gossip takes it for failed,
// both compare what they know at once: they would do so after up to
// [Timing.Reconnect] or [Timing.PushPullInterval], though the node takes this one for alive.
// It returns at once.
func (m *Members) NoteAlive(id string) {
	if n, ok := m.Node(id); !ok || n.Status != Failed {
		return
	}
	select {
	case m.seenAlive <- id:
	default:
	}
}

// rejoinFailed asks nodes that were heard. Of what it says of them they hear, and deny it.
func (m *Members) rejoinFailed() {
	for {
		select {
		case id := <-m.seenAlive:
			n, ok := m.Node(id)
			if addr, err := netip.ParseAddrPort(n.GossipAddr); ok && err == nil && n.Status == Failed {
				_ = m.joinVia(addr) // it says itself what is wrong
			}
		case <-m.ctx.Done():
			return
		}
	}
}

// alone reports whether no other node is alive, as far as is known.
func (m *Members) alone() bool {
	for _, n := range m.view.Load().nodes {
		if n.ID != m.self.id && n.Status == Alive {
			return false
		}
	}
	return true
}

// joinRound asks all peers once: all of them, not until the first one answers, so that no
// two of a new cluster's nodes stay with each other alone. A lone node that is
// refused by all that it was told to join gives up.
func (m *Members) joinRound(alone bool) {
	var refusals []error
	others := 0
	asked := m.skippedAddrs()
	for _, peer := range m.cfg.Join {
		addrs, err := m.lookUp(peer)
		if err != nil {
			others++
			m.log.Warn("looking up the address of a peer to join failed, trying again", slog.String("peer", peer), slog.Any("err", err))
			continue
		}
		for _, addr := range addrs {
			if asked[addr] {
				continue
			}
			asked[addr] = true
			switch err := m.joinVia(addr); {
			case errors.Is(err, ErrStranger):
				refusals = append(refusals, err)
			default:
				others++
			}
		}
	}
	if !alone || m.ctx.Err() != nil || m.serf.State() != serf.SerfAlive {
		return
	}
	if len(refusals) > 0 && others == 0 {
		m.fail(fmt.Errorf("members: join: %w", errors.Join(refusals...)))
	}
	for _, addr := range m.knownPeers() {
		if !asked[addr] && m.ctx.Err() == nil {
			asked[addr] = true
			_ = m.joinVia(addr) // it says itself what is wrong
		}
	}
}

// skippedAddrs returns the addresses that need no asking: its own and those of live nodes.
func (m *Members) skippedAddrs() map[netip.AddrPort]bool {
	met := maps.Clone(m.ownAddrs)
	for _, n := range m.view.Load().nodes {
		if addr, err := netip.ParseAddrPort(n.GossipAddr); err == nil && n.Status == Alive {
			met[addr] = true
		}
	}
	return met
}

func (m *Members) knownPeers() []netip.AddrPort {
	m.peersMu.Lock()
	defer m.peersMu.Unlock()
	return slices.Collect(maps.Values(m.peers.known))
}

func (m *Members) lookUp(peer string) ([]netip.AddrPort, error) {
	host, port, err := splitHostPort(peer, DefaultPort)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(m.ctx, lookUpTimeout)
	defer cancel()
	ips, err := resolve(ctx, m.cfg.Resolver, host)
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		addrs[i] = netip.AddrPortFrom(ip, port)
	}
	return addrs, nil
}

// joinVia joins through one peer. An error that is ErrStranger is of a peer that answered.
func (m *Members) joinVia(addr netip.AddrPort) error {
	m.refusal.Store(nil)
	// Serf's own Join also gossips that this name is there again, in case it left
	// before. A name is never there again here, and that message, were it on its way
	// while this node leaves, would undo the leaving.
	_, err := m.serf.Memberlist().Join([]string{addr.String()})
	if err == nil || m.ctx.Err() != nil || m.serf.State() != serf.SerfAlive {
		return err
	}
	// Serf's chain of errors is cut. The text tells a refusal of this peer from one
	// of a peer that asked at the same time.
	if refusal := m.refusal.Load(); refusal != nil && strings.Contains(err.Error(), (*refusal).Error()) {
		return *refusal // which the gate has logged
	}
	if isKeyFault(err.Error()) {
		err = fmt.Errorf("%w: node at %s: %w", ErrStranger, addr, ErrKey)
		m.refuse(err)
		return err
	}
	m.log.Info("a peer does not answer, trying again", slog.String("peer", addr.String()), slog.Any("err", err))
	return err
}

// refuse reports a stranger. Serf may call it with its locks held.
func (m *Members) refuse(err error) {
	m.refusal.Store(&err)
	m.metrics.refused.Inc(1)
	m.log.Warn("refused a node of another cluster or with another key", slog.Any("err", err))
}
