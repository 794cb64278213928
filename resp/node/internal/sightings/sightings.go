package sightings

import (
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/members"
)

// Sightings note since when nodes are as gossip shows them, which keeps no times itself.
// Methods may be called from any goroutine.
type Sightings struct {
	mu   sync.Mutex
	seen map[string]sighting // nil before the first look
}

type sighting struct {
	status members.Status
	since  time.Time // zero: it was so at the first look
}

// Look takes in what gossip shows now.
func (s *Sightings) Look(nodes []members.Node, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.seen == nil
	seen := make(map[string]sighting, len(nodes))
	for _, n := range nodes {
		this, known := s.seen[n.ID]
		switch {
		case first:
			this = sighting{status: n.Status}
		case !known || this.status != n.Status:
			this = sighting{n.Status, now}
		}
		seen[n.ID] = this
	}
	s.seen = seen
}

// Since returns when a node came into its present state; nil if it was so at the first look.
func (s *Sightings) Since(node string) *time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.seen[node].since; !at.IsZero() {
		return &at
	}
	return nil
}

// A Missing notes since when nodes that a cluster names are not in gossip. It is not for several
// goroutines at once.
type Missing map[string]time.Time

// For returns for how long a node has not been in gossip, and notes a node that was there before.
func (m Missing) For(node string, now time.Time) time.Duration {
	since, known := m[node]
	if !known {
		since = now
		m[node] = now
	}
	return now.Sub(since)
}
