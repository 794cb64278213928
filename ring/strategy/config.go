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
)

// algorithms are the strategies that are made of cells. Another algorithm is one line here.
var algorithms = map[string]cells.Algorithm{
	Rendezvous: cells.Rendezvous,
	Maglev:     cells.Maglev,
	MultiProbe: cells.MultiProbe(cells.DefaultProbes),
	Jump:       cells.Jump,
	LRH:        cells.LocalRendezvous,
	Bounded:    cells.Bounded(cells.DefaultSlack),
}

// Hashes, for [Config.Hash].
const (
	Native = "native" // the strategy's own
	Slot   = "slot"   // the Redis Cluster slot
)

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
	Name       string
	Hash       string
	Points     int         // of a server of mean weight, ketama
	KetamaRule ketama.Rule // whose rounding to follow, ketama
	VNodes     int         // points of a node of weight 1, vnode
	Mask       uint32      // that a cluster begins with, buckets
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
	}
}

// Names are the names of all strategies, the default first.
func Names() []string { return append(Compared(), slices.Sorted(maps.Keys(algorithms))...) }

// Compared are the names of the strategies that are compared unless others are named, the default
// first.
func Compared() []string { return []string{Buckets, Ketama, VNode} }

// Hashes are the names of all hashes, the default first.
func Hashes() []string { return []string{Native, Slot} }

// KetamaRules are the names of all rules of ketama, the default first.
func KetamaRules() []string {
	var names []string
	for _, r := range ketama.Rules() {
		names = append(names, string(r))
	}
	return names
}

// Validate tells whether New succeeds.
func (c Config) Validate() error {
	_, err := c.New()
	return err
}

// New makes the strategy. Its error joins every fault.
func (c Config) New() (ring.Strategy, error) {
	var hashErr error
	if !slices.Contains(Hashes(), c.Hash) {
		hashErr = fmt.Errorf("%w: %.40q: use %s", ErrHash, c.Hash, oneOf(Hashes()))
	}
	s, err := c.named()
	if err := errors.Join(err, hashErr); err != nil {
		return nil, err
	}
	return s, nil
}

func (c Config) named() (ring.Strategy, error) {
	slots := c.Hash == Slot
	switch c.Name {
	case Buckets:
		return made(buckets.New(buckets.Config{Mask: c.Mask, Slots: slots}))
	case Ketama:
		return made(ketama.New(ketama.Config{Points: c.Points, Rule: c.KetamaRule, Slots: slots}))
	case VNode:
		return made(vnode.New(vnode.Config{VNodes: c.VNodes, Slots: slots}))
	}
	if a := algorithms[c.Name]; a != nil {
		return cells.New(c.Name, a, slots), nil
	}
	return nil, fmt.Errorf("%w: %.40q: use %s", ErrName, c.Name, oneOf(Names()))
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
