package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// mostHotKeys bounds how many keys are looked at for a hotspot.
const mostHotKeys = 10_000_000

// HotKeys returns the first node and keys that it serves, neighbours on the circle: a share of keys 0 to
// keys-1 with the names that name appends.
func (f *Cluster) HotKeys(ctx context.Context, keys int64, name func([]byte, int64) []byte, share float64) (node string, hot []int64, err error) {
	all := f.those(up)
	if len(all) == 0 {
		return "", nil, errNobody
	}
	p, err := f.placement(ctx, all[0].at.client)
	if err != nil {
		return "", nil, err
	}
	token, err := f.strategy().TokenFunc()
	if err != nil {
		return "", nil, err
	}
	node = all[0].id
	hot, err = hotKeys(p, token, node, min(keys, mostHotKeys), name, share)
	return node, hot, err
}

func hotKeys(p *ring.Placement, token ring.TokenFunc, node string, keys int64, name func([]byte, int64) []byte, share float64) ([]int64, error) {
	type place struct {
		key   int64
		token ring.Token
	}
	var own []place
	var b []byte
	for key := range keys {
		b = name(b[:0], key)
		if t := token(b); p.Lookup(t).Primary == node {
			own = append(own, place{key, t})
		}
	}
	n := int(math.Ceil(share * float64(keys)))
	if n > len(own) {
		return nil, fmt.Errorf("cluster: %s serves %d of %d keys, fewer than %.4g %%", node, len(own), keys, 100*share)
	}
	slices.SortFunc(own, func(a, b place) int { return cmp.Compare(a.token, b.token) })
	hot := make([]int64, n)
	for i := range hot {
		hot[i] = own[i].key
	}
	return hot, nil
}
