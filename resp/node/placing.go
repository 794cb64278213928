package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/store"
)

// findPlacing sets the strategy and the hash by which keys become tokens: those that the cluster was founded with. A
// directory has them since it belongs to a cluster. For another one, nodes of the cluster to join are asked; if none
// answers, they are what the settings ask for. So a node needs no --strategy, or may name the one that the cluster has
// been switched to: once the table is known, [placing.Wants.Differences] compares.
//
// replaceable reports that the directory belongs to no cluster: it may have been opened with the defaults, since no node
// of the cluster answered.
func (n *Node) findPlacing() (settings strategy.Config, replaceable bool, err error) {
	cfg := &n.cfg
	b, err := loadMembership(cfg.Dir, cfg.Cluster)
	if err != nil {
		return settings, false, err
	}
	known, hash := b.Strategy, b.Hash
	if known == "" && cfg.Role == RoleStore {
		// A damaged identity is an error of the store.
		id, _, _ := store.ReadIdentity(cfg.Dir)
		known, hash = id.Strategy, id.Hash
	}
	cfg.askedStrategy, replaceable = cfg.Strategy, b.Generation == 0
	if replaceable || known == "" {
		seen, err := n.askPlacing()
		switch entered := slices.ContainsFunc(seen.Nodes, isInCluster); {
		case err != nil:
			return settings, false, err
		case seen.Strategy != "" && (entered || cfg.Strategy == ""):
			known, hash = seen.Strategy, seen.Hash
		case cfg.Strategy != "":
			known = cfg.Strategy
		}
	}
	cfg.Strategy = cmp.Or(known, cfg.Strategy, StrategyBuckets)
	cfg.Hash = cmp.Or(cfg.Hash, hash, HashNative)
	var f faults
	cfg.validateStrategy(&f)
	settings, err = cfg.strategy()
	return settings, replaceable, errors.Join(append(f, err)...)
}

func isInCluster(n members.Node) bool { return n.Generation != 0 && n.Status == members.Alive }

// askPlacing asks the nodes of the cluster to join.
func (n *Node) askPlacing() (seen members.Seen, err error) {
	cfg := n.cfg
	if secret, err := cfg.peerSecret(); err != nil || cfg.staysAlone() || secret == secretFile {
		return seen, err // no other node has that secret
	}
	cfg.Strategy, cfg.Hash = cmp.Or(cfg.Strategy, StrategyBuckets), cmp.Or(cfg.Hash, strategy.Native)
	key, err := n.peerKey()
	if err != nil {
		return seen, err
	}
	m := cfg.gossip(key, n.gossipNetwork())
	m.ID, m.BusAddr = "new", "127.0.0.1:1" // placeholders: a look announces nothing
	ctx, cancel := context.WithTimeout(context.Background(), lookTimeout)
	defer cancel()
	if seen, err = members.Look(ctx, m); err != nil {
		return seen, fmt.Errorf("%w; gossip-addr is where this node gossips", err)
	}
	return seen, nil
}

// gossip is how the node finds others; its own name and addresses are added later.
func (c *Config) gossip(key []byte, network members.Network) members.Config {
	return members.Config{
		Cluster: c.Cluster, Strategy: c.Strategy, Hash: c.Hash,
		Key: key, AcceptKey: []byte(c.ClusterKeyAccept), Weight: c.Weight, Version: c.Version, Role: members.Role(c.Role), Expect: c.BootstrapExpect,
		BindAddr: portOf(c.GossipAddr), Join: c.Join, Dir: c.Dir, Timing: c.env.Timing, Network: network, Logger: c.Logger,
	}
}
