package node

import (
	"cmp"
	"errors"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

func (c *Config) wants() placing.Wants {
	w := placing.Wants{Strategy: c.askedStrategy, VNodes: c.VNodes, Points: c.Points, KetamaRule: c.KetamaRule, Settings: c.Cells}
	if c.Mask != "" {
		w.Mask, _ = buckets.ParseMask(c.Mask) // Validate has seen it
	}
	return w
}

// strategy is what the settings say, with defaults for what they leave open.
func (c *Config) strategy() (strategy.Config, error) {
	s := strategy.DefaultConfig()
	s.Name, s.Hash = cmp.Or(c.Strategy, s.Name), cmp.Or(c.Hash, s.Hash)
	s = c.wants().Over(s)
	return s, s.Validate()
}

// ownPins reads [Config.Pin], for this node.
func (c *Config) ownPins() (vnode.Pins, error) {
	if c.Pin == "" {
		return vnode.Pins{}, nil
	}
	hashes, beside := strings.CutPrefix(c.Pin, "+")
	if strings.Contains(hashes, "=") {
		return vnode.Pins{}, errors.New("names a node; write the hashes alone: they are this node's")
	}
	sign := "="
	if beside {
		sign = "+="
	}
	return vnode.ParsePins("node" + sign + hashes)
}

// Strategy is the strategy in force in the cluster, as far as this node knows; empty before it knows any.
func (n *Node) Strategy() string {
	if c := n.part.Load(); c != nil && c.table.State().Founded() {
		return c.table.State().Cluster().Strategy.Name
	}
	return ""
}
