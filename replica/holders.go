package replica

import (
	"github.com/ringside-kv/ringside/replica/lease"
	"slices"
	"sync"
	"time"
)

// leaseHolders are the nodes with a lease, by the leader's last reply to this node. Its methods may
// be called from any goroutine.
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

// has reports whether a node certainly has a lease. A reply older than a lease says nothing about
// the present.
func (h *leaseHolders) has(node string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Sub(h.at) < lease.Length && slices.Contains(h.nodes, node)
}
