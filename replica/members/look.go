package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/hashicorp/serf/serf"
)

// lookName is what Serf calls a node that only looks: no start has such a name, so nodes of all
// versions refuse to take it in, and it never is in the gossip.
const lookName = "?" + lifeSeparator

// errLooks is the answer to a node that only looks, and its own to what it has seen.
var errLooks = errors.New("it only looks which nodes there are")

// Seen is what the first node that answers a [Look] knows of its cluster.
type Seen struct {
	// Nodes are those of [Config.Cluster]; a node of several starts is there several times.
	Nodes []Node
	// Strategy and Hash are those of the nodes, if a node of the cluster has answered.
	Strategy, Hash string
}

// Look asks which nodes the cluster has, and by which strategy and hash it was founded. Those of the
// configuration may differ. It asks nodes of [Config.Join] and of the file of peers, takes the first
// answer, and returns nothing if the context ends before. It takes no part in the gossip, binds a
// free port of BindAddr's host, and leaves nothing behind. It must not be called while the node gossips.
func Look(ctx context.Context, cfg Config) (seen Seen, err error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return seen, err
	}
	cfg.Logger = slog.New(slog.DiscardHandler) // the node says the same when it joins
	m := newMembers(cfg)
	m.ctx, m.cancel = context.WithCancel(ctx)
	defer m.cancel()
	m.peers, _ = loadPeers(cfg.Dir, cfg.Cluster)
	asked := map[netip.AddrPort]bool{}
	for _, peer := range cfg.Join {
		addrs, _ := m.lookUp(peer)
		for _, addr := range addrs {
			asked[addr] = true
		}
	}
	for _, addr := range m.knownPeers() {
		asked[addr] = true
	}
	if len(asked) == 0 || ctx.Err() != nil {
		return seen, nil
	}
	l := &look{cluster: cfg.Cluster, seen: make(chan Seen, 1)}
	conf, err := m.lookConfig(l)
	if err != nil {
		return seen, err
	}
	s, err := serf.Create(conf)
	if err != nil {
		return seen, errors.Join(fmt.Errorf("members: %w", err), conf.MemberlistConfig.Transport.Shutdown())
	}
	var joins sync.WaitGroup
	for addr := range asked {
		joins.Go(func() { _, _ = s.Memberlist().Join([]string{addr.String()}) })
	}
	all := make(chan struct{})
	go func() {
		joins.Wait()
		close(all)
	}()
	select {
	case seen = <-l.seen:
	case <-all:
	case <-ctx.Done():
	}
	err = s.Shutdown() // ends the joins, too
	<-all
	select {
	case seen = <-l.seen: // with the last join
	default:
	}
	return seen, err
}

// lookConfig makes a configuration that listens already.
func (m *Members) lookConfig(l *look) (*serf.Config, error) {
	host, _, err := net.SplitHostPort(m.cfg.BindAddr)
	if err != nil {
		return nil, err
	}
	m.cfg.BindAddr = net.JoinHostPort(host, "0") // no node is told to join it there
	if host, _, err := splitHostPort(m.cfg.Advertise, 1); err == nil {
		m.cfg.Advertise = host
	}
	bind, err := m.bindAddr()
	if err != nil {
		return nil, err
	}
	logger := newGossipLogger(m.log, m.refuse)
	network, err := listen(m.cfg.Network, bind, logger)
	if err != nil {
		return nil, err
	}
	list, err := m.memberlistConfig(network.bound)
	if err != nil {
		return nil, errors.Join(err, network.Shutdown())
	}
	list.Transport, list.Logger = network, logger
	conf := m.serfConfig()
	conf.NodeName = lookName + m.self.name()
	conf.EventCh, conf.ReconnectTimeoutOverride = nil, nil
	conf.Merge, conf.MemberlistConfig, conf.Logger = l, list, logger
	return conf, nil
}

// A look receives the list of members from the first node that answers.
type look struct {
	cluster string
	seen    chan Seen // has room for one
}

var _ serf.MergeDelegate = (*look)(nil)

// NotifyMerge implements [serf.MergeDelegate]. It refuses the members, so that they are not gossiped with.
func (l *look) NotifyMerge(peers []*serf.Member) error {
	if len(peers) == 1 && isLook(peers[0]) {
		return nil // itself
	}
	var seen Seen
	for _, peer := range peers {
		member := *peer
		if member.Status == serf.StatusNone { // Serf tells only of those that left what they are
			member.Status = serf.StatusAlive
		}
		t, _ := decodeTags(member.Tags[tagKey])
		if _, n, ok := memberNode(member); ok && t.cluster == l.cluster {
			seen.Nodes = append(seen.Nodes, n)
			seen.Strategy, seen.Hash = t.strategy, t.hash
		}
	}
	select {
	case l.seen <- seen:
	default:
	}
	return errLooks
}

// isLook reports whether a member only looks.
func isLook(peer *serf.Member) bool { return strings.HasPrefix(peer.Name, lookName) }
