package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// wants are the settings of the strategy that this node was given; zero: whatever the
// cluster has.
type wants struct {
	VNodes     int    `json:"vnodes,omitempty"`
	Points     int    `json:"points,omitempty"`
	KetamaRule string `json:"ketama_rule,omitempty"`
	Mask       uint32 `json:"mask,omitempty"`
}

func (c *Config) wants() wants {
	w := wants{VNodes: c.VNodes, Points: c.Points, KetamaRule: c.KetamaRule}
	if c.Mask != "" {
		w.Mask, _ = buckets.ParseMask(c.Mask) // Validate has seen it
	}
	return w
}

// differences says where the settings of a cluster are others, both those that it was founded with
// and those in force; empty if nowhere.
func (w wants) differences(of *table.Cluster) string {
	s, founding := of.Strategy, of.FoundedWith()
	var texts []string
	add := func(name string, own, its any) {
		texts = append(texts, fmt.Sprintf("--%s %v was asked for, the cluster has %v", name, own, its))
	}
	if w.VNodes != 0 && w.VNodes != s.VNodes && w.VNodes != founding.VNodes {
		add("vnodes", w.VNodes, s.VNodes)
	}
	if w.Points != 0 && w.Points != s.Points && w.Points != founding.Points {
		add("points", w.Points, s.Points)
	}
	if w.KetamaRule != "" && w.KetamaRule != s.KetamaRule && w.KetamaRule != founding.KetamaRule {
		add("ketama-rule", w.KetamaRule, s.KetamaRule)
	}
	if w.Mask != 0 && w.Mask != s.Mask && w.Mask != founding.Mask {
		add("mask", fmt.Sprintf("%04X", w.Mask), fmt.Sprintf("%04X", s.Mask))
	}
	if texts == nil {
		return ""
	}
	return strings.Join(texts, "; ") + ": give the cluster's, or none"
}

// strategy is what the settings say, with defaults for what they leave open.
func (c *Config) strategy() (strategy.Config, error) {
	s := strategy.DefaultConfig()
	s.Name, s.Hash = c.Strategy, c.Hash
	w := c.wants()
	ensureNot(&s.VNodes, w.VNodes)
	ensureNot(&s.Points, w.Points)
	ensureNot(&s.KetamaRule, ketama.Rule(w.KetamaRule))
	ensureNot(&s.Mask, w.Mask)
	return s, s.Validate()
}

// ensureNot sets a field to a value that is not zero.
func ensureNot[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
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

func tableSettings(s strategy.Config) table.Settings {
	return table.Settings{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: string(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask,
	}
}

// strategyOf returns the strategy in force in a cluster.
func strategyOf(of *table.Cluster) strategy.Config {
	s := of.Strategy
	return strategy.Config{
		Name: s.Name, Hash: s.Hash, Founding: of.FoundedWith().Name, Points: s.Points, KetamaRule: ketama.Rule(s.KetamaRule),
		VNodes: s.VNodes, Mask: s.Mask, Anew: of.Unfinished,
	}
}

// agreedStrategy is the strategy that the table names. Before the table is known it is the one of
// the node's own settings, which names the same hash.
type agreedStrategy struct {
	own    strategy.Config
	agreed func() *table.State
}

func (a agreedStrategy) config() strategy.Config {
	st := a.agreed()
	if !st.Founded() {
		return a.own
	}
	of := st.Cluster()
	return strategyOf(&of)
}

// Name implements ring.Strategy.
func (a agreedStrategy) Name() string { return a.config().Name }

// Token implements ring.Strategy.
func (a agreedStrategy) Token(key []byte) ring.Token {
	token, err := a.own.TokenFunc()
	if err != nil {
		panic("node: its own hash is unknown: " + err.Error()) // Validate has seen it
	}
	return token(key)
}

// Desired implements ring.Strategy.
func (a agreedStrategy) Desired(in ring.Input) (*ring.Placement, error) {
	return desiredBy(a.config(), in)
}

// desiredBy asks a strategy. Pins belong to strategy vnode and have no effect under another one.
func desiredBy(c strategy.Config, in ring.Input) (*ring.Placement, error) {
	placing, err := c.New()
	if err != nil {
		return nil, err
	}
	if c.Name != strategy.VNode {
		in.Members = slices.Clone(in.Members)
		for i := range in.Members {
			in.Members[i].Pins, in.Members[i].OnlyPins = nil, false
		}
	}
	return placing.Desired(in)
}
