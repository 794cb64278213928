package node

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
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

	cells.Settings
}

func (c *Config) wants() wants {
	w := wants{VNodes: c.VNodes, Points: c.Points, KetamaRule: c.KetamaRule, Settings: c.Cells}
	if c.Mask != "" {
		w.Mask, _ = buckets.ParseMask(c.Mask) // Validate has seen it
	}
	return w
}

// differences says where the settings of a cluster are others, both those that it was founded with
// and those in force; empty if nowhere.
func (w wants) differences(of *table.Cluster) string {
	asked, now, founding := w.over(strategy.Config{}), strategyOf(of), settingsOf(of.FoundedWith())
	var texts []string
	for _, name := range strategy.Names() {
		for _, setting := range strategy.Settings(name) {
			own, its := asked.Setting(setting), now.Setting(setting)
			if asked.Has(setting) && own != its && own != founding.Setting(setting) {
				texts = append(texts, fmt.Sprintf("--%s %s was asked for, the cluster has %s", setting, own, its))
			}
		}
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
	s = c.wants().over(s)
	return s, s.Validate()
}

// over sets what is wanted in a strategy.
func (w wants) over(s strategy.Config) strategy.Config {
	s.VNodes, s.Points, s.Mask = cmp.Or(w.VNodes, s.VNodes), cmp.Or(w.Points, s.Points), cmp.Or(w.Mask, s.Mask)
	s.KetamaRule = cmp.Or(ketama.Rule(w.KetamaRule), s.KetamaRule)
	s.Cells.Probes, s.Cells.Candidates = cmp.Or(w.Probes, s.Cells.Probes), cmp.Or(w.Candidates, s.Cells.Candidates)
	s.Cells.Slack = cmp.Or(w.Slack, s.Cells.Slack)
	return s
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
	s.Cells.OmitDefaults()
	return table.Settings{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: string(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask,
		Cells: table.CellSettings(s.Cells),
	}
}

// settingsOf is the other way.
func settingsOf(s table.Settings) strategy.Config {
	of := cells.Settings(s.Cells)
	of.EnsureDefaults()
	return strategy.Config{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: ketama.Rule(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask, Cells: of,
	}
}

// strategyOf returns the strategy in force in a cluster.
func strategyOf(of *table.Cluster) strategy.Config {
	s := settingsOf(of.Strategy)
	s.Founding, s.Anew = of.FoundedWith().Name, of.Unfinished
	return s
}

// Strategy is the strategy in force in the cluster, as far as this node knows; empty before it knows any.
func (n *Node) Strategy() string {
	if c := n.part.Load(); c != nil && c.table.State().Founded() {
		return c.table.State().Cluster().Strategy.Name
	}
	return ""
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
