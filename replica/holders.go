package replica

import (
	"github.com/ringside-kv/ringside/replica/lease"
	"slices"
	"sync"
	"time"
)

// leaseHolders are the nodes that have a lease, by the leader's last word to this node. Its
// methods may be called from any goroutine.
type leaseHolders struct {
	mu    sync.Mutex
	nodes []string
	at    time.Time
}

func (h *leaseHolders) update(nodes []string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes, h.at = nodes, now
}

// has tells whether a node has a lease for certain. A word that is older than a lease says
// nothing of now.
func (h *leaseHolders) has(node string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.at) < lease.Length && slices.Contains(h.nodes, node)
}
