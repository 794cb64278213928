package placing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Wants are the settings of the strategy that this node was given; zero: whatever the
// cluster has.
type Wants struct {
	Strategy   string `json:"strategy,omitempty"`
	VNodes     int    `json:"vnodes,omitempty"`
	Points     int    `json:"points,omitempty"`
	KetamaRule string `json:"ketama_rule,omitempty"`
	Mask       uint32 `json:"mask,omitempty"`

	cells.Settings
}

// Differences says where the settings of a cluster are others, both those that it was founded with
// and those in force; empty if nowhere.
func (w Wants) Differences(of *table.Cluster) string {
	asked, now, founding := w.Over(strategy.Config{}), InForce(of), FromTable(of.FoundedWith())
	var texts []string
	if w.Strategy != "" && w.Strategy != now.Name && w.Strategy != founding.Name {
		texts = append(texts, fmt.Sprintf("--strategy %s was asked for, the cluster has %s", w.Strategy, now.Name))
	}
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

// Over sets what is wanted in a strategy.
func (w Wants) Over(s strategy.Config) strategy.Config {
	s.VNodes, s.Points, s.Mask = cmp.Or(w.VNodes, s.VNodes), cmp.Or(w.Points, s.Points), cmp.Or(w.Mask, s.Mask)
	s.KetamaRule = cmp.Or(ketama.Rule(w.KetamaRule), s.KetamaRule)
	s.Cells.Probes, s.Cells.Candidates = cmp.Or(w.Probes, s.Cells.Probes), cmp.Or(w.Candidates, s.Cells.Candidates)
	s.Cells.Slack = cmp.Or(w.Slack, s.Cells.Slack)
	return s
}

// ToTable writes a strategy as the table has it.
func ToTable(s strategy.Config) table.Settings {
	s.Cells.OmitDefaults()
	return table.Settings{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: string(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask,
		Cells: table.CellSettings(s.Cells),
	}
}

// FromTable is the other way.
func FromTable(s table.Settings) strategy.Config {
	of := cells.Settings(s.Cells)
	of.EnsureDefaults()
	return strategy.Config{
		Name: s.Name, Hash: s.Hash, Points: s.Points, KetamaRule: ketama.Rule(s.KetamaRule), VNodes: s.VNodes, Mask: s.Mask, Cells: of,
	}
}

// InForce returns the strategy in force in a cluster.
func InForce(of *table.Cluster) strategy.Config {
	s := FromTable(of.Strategy)
	s.Founding, s.Anew = of.FoundedWith().Name, of.Unfinished
	return s
}

// Agreed is the strategy that the table names. Before the table is known it is the one of
// the node's own settings, which names the same hash.
type Agreed struct {
	Own   strategy.Config
	State func() *table.State
}

func (a Agreed) config() strategy.Config {
	st := a.State()
	if !st.Founded() {
		return a.Own
	}
	of := st.Cluster()
	return InForce(&of)
}

// Name implements ring.Strategy.
func (a Agreed) Name() string { return a.config().Name }

// Token implements ring.Strategy.
func (a Agreed) Token(key []byte) ring.Token {
	token, err := a.Own.TokenFunc()
	if err != nil {
		panic("placing: its own hash is unknown: " + err.Error()) // Validate has seen it
	}
	return token(key)
}

// Desired implements ring.Strategy.
func (a Agreed) Desired(in ring.Input) (*ring.Placement, error) {
	return Desired(a.config(), in)
}

// Desired asks a strategy. Pins belong to strategy vnode and have no effect under another one.
func Desired(c strategy.Config, in ring.Input) (*ring.Placement, error) {
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
