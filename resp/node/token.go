package node

import (
	"fmt"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// tokenFunc returns the token function that a strategy and a hash name together:
// the strategy's own, or the Redis Cluster slot under any strategy.
func tokenFunc(strategy, hash string) (ring.TokenFunc, error) {
	var native ring.TokenFunc
	switch strategy {
	case StrategyBuckets:
		native = buckets.Token
	case StrategyKetama:
		native = ketama.Token
	case StrategyVnode:
		native = vnode.Token
	default:
		return nil, fmt.Errorf("strategy %q: %s", strategy, useOneOf(strategies))
	}
	switch hash {
	case HashNative:
		return native, nil
	case HashSlot:
		return ring.SlotToken, nil
	default:
		return nil, fmt.Errorf("hash %q: %s", hash, useOneOf(hashes))
	}
}
