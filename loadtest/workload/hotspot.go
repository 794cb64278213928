package workload

import (
	"math/rand/v2"
	"sync/atomic"
)

// A Hotspot turns clients to some of their keys while they run. It has none at first. Its methods may be called
// from any goroutine.
type Hotspot struct{ now atomic.Pointer[hotKeys] }

type hotKeys struct {
	keys     []int64
	requests float64
}

// Set has a share of the requests go to some keys, all alike, from now on. keys must not be empty or change.
func (h *Hotspot) Set(keys []int64, requests float64) {
	h.now.Store(&hotKeys{keys, requests})
}

// next chooses a key. It reports false if the key is not to be a hot one. h may be nil.
func (h *Hotspot) next(rnd *rand.Rand) (key int64, ok bool) {
	if h == nil {
		return 0, false
	}
	now := h.now.Load()
	if now == nil || rnd.Float64() >= now.requests {
		return 0, false
	}
	return now.keys[rnd.IntN(len(now.keys))], true
}
