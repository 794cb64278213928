package replica

import (
	"errors"
	"maps"
	"time"
)

// Why a lease is not granted.
var (
	// ErrNotLeader says that this node does not lead, or not any more.
	ErrNotLeader = errors.New("it does not lead the group that decides")
	// ErrReplaced says that the asker is about to be replaced.
	ErrReplaced = errors.New("its failover is under way")
	// ErrStart says that this start of the asker is not the registered one.
	ErrStart = errors.New("this start of the node is not registered")
)

// A tenant is one start of a node.
type tenant struct {
	node        string
	incarnation uint64
}

// A granter is what the leader knows of leases. It is pure: times are those of the
// leader's clock, which goes on while the machine is suspended.
type granter struct {
	skip  leaseRules
	term  uint64        // of the office; 0 is none
	since time.Duration // when it began, or was last interrupted
	last  map[tenant]time.Duration
	met   map[tenant]time.Duration // since when a start that serves rows is known to
	heard map[string]time.Duration // of each node, the last grant to any of its starts
	going map[string]bool          // nodes whose failover is under way
	awake time.Duration            // the last moment at which the leader was seen at work
}

// lead begins an office. Nothing is known of what earlier leaders have granted, so all of
// it may have been granted just now.
func (g *granter) lead(term uint64, now time.Duration) {
	if g.term == term {
		return
	}
	g.term, g.since, g.awake = term, now, now
	g.last = make(map[tenant]time.Duration)
	g.met = make(map[tenant]time.Duration)
	g.heard = make(map[string]time.Duration)
	g.going = make(map[string]bool)
}

// meet notes which starts serve rows. One that has only begun to may not have asked for a lease
// yet, which it gets as long as a lease would last.
func (g *granter) meet(serving map[tenant]bool, now time.Duration) {
	for t := range serving {
		if _, known := g.met[t]; !known {
			g.met[t] = now
		}
	}
	maps.DeleteFunc(g.met, func(t tenant, _ time.Duration) bool { return !serving[t] })
}

// resign ends the office.
func (g *granter) resign() { g.term = 0 }

// wake is called often. A leader that was stopped for a while, and still leads, has not
// heard of those who asked meanwhile: that they were silent says nothing.
func (g *granter) wake(now time.Duration) {
	if now-g.awake > leaseRenew {
		g.since = now
	}
	g.awake = now
}

// grant notes a lease, if one may be granted in a term that a majority has confirmed since
// it was asked for.
func (g *granter) grant(t tenant, term uint64, now time.Duration) error {
	switch {
	case term == 0 || g.term != term:
		return ErrNotLeader
	case g.going[t.node] && !g.skip.whileReplaced:
		return ErrReplaced
	}
	for old, at := range g.last {
		if g.ended(at, now) {
			delete(g.last, old)
		}
	}
	g.last[t], g.heard[t.node] = now, now
	return nil
}

// ended tells whether a lease that was granted at a time is certainly over.
func (g *granter) ended(at, now time.Duration) bool {
	margin := leaseMargin
	if g.skip.noMargin {
		margin = 0
	}
	return now >= at+leaseLength+margin
}

// over tells whether every lease that a start of a node can have is over.
func (g *granter) over(t tenant, now time.Duration) bool {
	if g.term == 0 {
		return false
	}
	at, known := g.last[t]
	switch {
	case g.skip.atOnce:
		return !known || now-at > leaseRenew+leaseRenew/2
	case !g.skip.newLeader:
		at = max(at, g.since, g.met[t])
	case !known:
		return true
	}
	return g.ended(at, now)
}

// replace begins the failover of a node: from now on it gets no grant. It returns false
// if one is under way already.
func (g *granter) replace(node string) bool {
	if g.term == 0 || g.going[node] {
		return false
	}
	g.going[node] = true
	return true
}

// replaced ends a failover whose outcome is known, and applied here.
func (g *granter) replaced(node string, term uint64) {
	if g.term == term {
		delete(g.going, node)
	}
}

// silent is for how long a node has not been granted a lease, as far as this office knows.
func (g *granter) silent(node string, now time.Duration) time.Duration {
	return now - max(g.heard[node], g.since)
}
