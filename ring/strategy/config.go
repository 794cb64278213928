package strategy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// Names of the strategies, for [Config.Name].
const (
	Buckets = "buckets"
	Ketama  = ketama.Name
	VNode   = vnode.Name

	// Algorithms on cells: see package ring/cells.
	Rendezvous = "rendezvous"
	Maglev     = "maglev"
	MultiProbe = "multiprobe"
	Jump       = "jump"
	LRH        = "lrh"
	Bounded    = "bounded"
	Anchor     = "anchor"
	Memento    = "memento"
)

// seated are the strategies that are made of cells whose placement depends on the order in which nodes
// came and left.
var seated = map[string]cells.SeatAlgorithm{
	Anchor:  cells.Anchor,
	Memento: cells.Memento,
}

// algorithms are the other strategies that are made of cells. Another algorithm is one line here.
var algorithms = map[string]cells.Algorithm{
	Rendezvous: cells.Rendezvous,
	Maglev:     cells.Maglev,
	Jump:       cells.Jump,
}

// tuned are those that have settings.
var tuned = map[string]func(cells.Settings) (cells.Algorithm, error){
	MultiProbe: cells.Settings.MultiProbe,
	LRH:        cells.Settings.LocalRendezvous,
	Bounded:    cells.Settings.Bounded,
}

// IsOfCells reports whether a strategy is made of cells.
func IsOfCells(name string) bool {
	return algorithms[name] != nil || tuned[name] != nil || seated[name] != nil
}

// OfCells returns a strategy that is made of cells, with its native hash. The name must be one of
// those of which [IsOfCells] is true.
func (c Config) OfCells() (*cells.Strategy, error) {
	c.Hash = Native
	return c.ofCells()
}

func (c Config) ofCells() (*cells.Strategy, error) {
	slots := c.Hash == Slot
	if a := seated[c.Name]; a != nil {
		return cells.NewSeated(c.Name, a, slots), nil
	}
	a := algorithms[c.Name]
	if with := tuned[c.Name]; with != nil {
		var err error
		if a, err = with(c.Cells); err != nil {
			return nil, err
		}
	}
	return cells.New(c.Name, a, slots), nil
}

// HasSeats reports whether placements of a strategy carry [ring.Seats].
func HasSeats(name string) bool { return seated[name] != nil }

// Rules of ketama, for [Config.KetamaRule].
const (
	Libketama = ketama.Libketama
	Twemproxy = ketama.Twemproxy
)

// Errors of a [Config], besides those of the strategies' own packages.
var (
	// ErrName: there is no such strategy.
	ErrName = errors.New("unknown strategy")
	// ErrHash: there is no such hash.
	ErrHash = errors.New("unknown hash")
)

// Config is a strategy with its settings, of which only those of the strategy that is
// named matter. Name and Hash must be given; a setting that is zero is its default.
type Config struct {
	Name string
	Hash string
	// Founding names the strategy that the cluster was founded with: the hash native is the hash
	// of that strategy. Empty is Name.
	Founding   string
	Points     int         // of a server of mean weight, ketama
	KetamaRule ketama.Rule // whose rounding to follow, ketama
	VNodes     int         // points of a node of weight 1, vnode
	Mask       uint32      // that a cluster begins with, buckets
	Cells      cells.Settings
	// Anew has buckets made from the mask instead of from the present ones: see [buckets.Config].
	Anew bool
}

// DefaultConfig returns what holds unless something else is said.
func DefaultConfig() Config {
	return Config{
		Name:       Buckets,
		Hash:       Native,
		Points:     ketama.DefaultPoints,
		KetamaRule: Libketama,
		VNodes:     vnode.DefaultVNodes,
		Mask:       buckets.DefaultMask,
		Cells:      cells.DefaultSettings(),
	}
}

// Names are the names of all strategies, the default first.
func Names() []string {
	onCells := slices.Concat(slices.Collect(maps.Keys(algorithms)), slices.Collect(maps.Keys(tuned)), slices.Collect(maps.Keys(seated)))
	slices.Sort(onCells)
	return append(Compared(), onCells...)
}

// Compared are the names of the strategies that are compared unless others are named, the default
// first.
func Compared() []string { return []string{Buckets, Ketama, VNode} }

// KetamaRules are the names of all rules of ketama, the default first.
func KetamaRules() []string {
	var names []string
	for _, r := range ketama.Rules() {
		names = append(names, string(r))
	}
	return names
}

// Validate reports whether New succeeds.
func (c Config) Validate() error {
	_, err := c.New()
	return err
}

// New makes the strategy. Its error joins every fault.
func (c Config) New() (ring.Strategy, error) {
	s, err := c.named()
	token, tokenErr := c.TokenFunc()
	if err != nil && c.Founding == "" && c.Hash == Native {
		tokenErr = nil // it would name the same fault
	}
	if err := errors.Join(err, tokenErr); err != nil {
		return nil, err
	}
	return hashed{s, token}, nil
}

func (c Config) named() (ring.Strategy, error) {
	slots := c.Hash == Slot
	switch c.Name {
	case Buckets:
		return made(buckets.New(buckets.Config{Mask: c.Mask, Anew: c.Anew, Slots: slots}))
	case Ketama:
		return made(ketama.New(ketama.Config{Points: c.Points, Rule: c.KetamaRule, Slots: slots}))
	case VNode:
		return made(vnode.New(vnode.Config{VNodes: c.VNodes, Slots: slots}))
	}
	if IsOfCells(c.Name) {
		return made(c.ofCells())
	}
	return nil, c.nameError()
}

func (c Config) nameError() error {
	return fmt.Errorf("%w: %.40q: use %s", ErrName, c.Name, oneOf(Names()))
}

// made keeps a nil of a strategy's own type from being a strategy that is not nil.
func made[S ring.Strategy](s S, err error) (ring.Strategy, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
