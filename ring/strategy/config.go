package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// Names of the strategies, for [Config.Name].
const (
	Buckets = "buckets"
	Ketama  = ketama.Name
	VNode   = vnode.Name
)

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
// named matter. Begin with [DefaultConfig]: a zero is a fault, and no default.
type Config struct {
	Name       string
	Hash       string
	Points     int         // a server, ketama
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
		KetamaRule: ketama.Libketama,
		VNodes:     vnode.DefaultVNodes,
		Mask:       0x00FF,
	}
}

// Names are the names of all strategies, the default first.
func Names() []string { return []string{Buckets, Ketama, VNode} }

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
	var faults []error
	if !slices.Contains(Hashes(), c.Hash) {
		faults = append(faults, fmt.Errorf("%w: %.40q: use %s", ErrHash, c.Hash, strings.Join(Hashes(), " or ")))
	}
	s, err := c.named()
	if faults = append(faults, err); errors.Join(faults...) != nil {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

func (c Config) named() (ring.Strategy, error) {
	slots := c.Hash == Slot
	switch c.Name {
	case Buckets:
		return bucketsLater{slots}, nil
	case Ketama:
		return made(ketama.New(ketama.Config{Points: c.Points, Rule: c.KetamaRule, Slots: slots}))
	case VNode:
		return made(vnode.New(vnode.Config{VNodes: c.VNodes, Slots: slots}))
	default:
		return nil, fmt.Errorf("%w: %.40q", ErrName, c.Name)
	}
}

// made keeps a nil of a strategy's own type from being a strategy that is not nil.
func made[S ring.Strategy](s S, err error) (ring.Strategy, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

type bucketsLater struct{ slots bool }

func (bucketsLater) Name() string { return Buckets }

func (b bucketsLater) Token(key []byte) ring.Token {
	if b.slots {
		return ring.SlotToken(key)
	}
	return buckets.Token(key)
}

func (bucketsLater) Desired(ring.Input) (*ring.Placement, error) {
	return nil, errors.New("strategy buckets: placements are not here yet")
}
