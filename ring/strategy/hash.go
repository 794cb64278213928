package strategy

import (
	"cmp"
	"fmt"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// Hashes, for [Config.Hash].
const (
	Native  = "native"  // of the strategy that the cluster was founded with
	FNV1a   = "fnv1a"   // the low half of FNV-1a of 64 bits, as fnv1a_64 of twemproxy
	MD5     = "md5"     // the first four bytes of MD5, as libketama
	Murmur3 = "murmur3" // murmur3 of vnode
	Slot    = "slot"    // the Redis Cluster slot
)

var tokens = map[string]ring.TokenFunc{
	FNV1a:   func(key []byte) ring.Token { return ring.Token(buckets.HashOf(buckets.Token(key))) },
	MD5:     ketama.Token,
	Murmur3: vnode.Token,
	Slot:    ring.SlotToken,
}

// Hashes are the names of all hashes, the default first.
func Hashes() []string { return []string{Native, FNV1a, MD5, Murmur3, Slot} }

// TokenFunc returns how keys become tokens. It depends on Hash and, if that is native, on Founding.
func (c Config) TokenFunc() (ring.TokenFunc, error) {
	if t := tokens[c.Hash]; t != nil {
		return t, nil
	}
	if c.Hash != Native {
		return nil, fmt.Errorf("%w: %.40q: use %s", ErrHash, c.Hash, oneOf(Hashes()))
	}
	founding := Config{Name: cmp.Or(c.Founding, c.Name)}
	switch {
	case founding.Name == Buckets:
		return buckets.Token, nil
	case founding.Name == Ketama:
		return ketama.Token, nil
	case founding.Name == VNode:
		return vnode.Token, nil
	case IsOfCells(founding.Name):
		return cells.Token, nil
	}
	return nil, founding.nameError()
}

// hashed is a strategy with the hash that was chosen for it.
type hashed struct {
	ring.Strategy
	token ring.TokenFunc
}

// Desired implements [ring.Strategy]: the strategy's placement with the overrides applied.
func (h hashed) Desired(in ring.Input) (*ring.Placement, error) {
	all := in.Overrides
	if err := ring.CheckOverrides(all); err != nil {
		return nil, err
	}
	if len(all) == 0 || h.Name() == Buckets {
		return h.Strategy.Desired(in)
	}
	in.Overrides = nil
	desired, err := h.Strategy.Desired(in)
	if err != nil {
		return nil, err
	}
	return ring.Overridden(desired, in.Present, all, in.Members)
}

// Token implements [ring.Strategy].
func (h hashed) Token(key []byte) ring.Token { return h.token(key) }
