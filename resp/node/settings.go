package node

import (
	"errors"
	"fmt"
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

// differences says where the settings of a cluster are others; empty if nowhere.
func (w wants) differences(s table.Settings) string {
	var texts []string
	add := func(name string, own, its any) {
		texts = append(texts, fmt.Sprintf("--%s %v was asked for, the cluster has %v", name, own, its))
	}
	if w.VNodes != 0 && w.VNodes != s.VNodes {
		add("vnodes", w.VNodes, s.VNodes)
	}
	if w.Points != 0 && w.Points != s.Points {
		add("points", w.Points, s.Points)
	}
	if w.KetamaRule != "" && w.KetamaRule != s.KetamaRule {
		add("ketama-rule", w.KetamaRule, s.KetamaRule)
	}
	if w.Mask != 0 && w.Mask != s.Mask {
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

// agreedStrategy plans by the settings that the cluster was founded with, which a node
// that joins does not know before it is in. Tokens depend on none of them.
type agreedStrategy struct {
	ring.Strategy // of the node's own settings
	agreed        func() *table.State
}

// Desired implements ring.Strategy.
func (a agreedStrategy) Desired(in ring.Input) (*ring.Placement, error) {
	st := a.agreed()
	if !st.Founded() {
		return a.Strategy.Desired(in)
	}
	s := st.Cluster().Strategy
	placing, err := strategy.Config{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: ketama.Rule(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask,
	}.New()
	if err != nil {
		return nil, err
	}
	return placing.Desired(in)
}
