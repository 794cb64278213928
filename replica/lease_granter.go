package replica

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// Why a lease is not granted.
var (
	// ErrNotLeader says that this node does not lead, or not any more.
	ErrNotLeader = errors.New("it does not lead the group that decides")
	// ErrReplaced says that the asker is about to be replaced.
	ErrReplaced = errors.New("its failover is under way")
	// ErrStart says that this start of the asker is not the registered one.
	ErrStart = errors.New("this start of the node is not registered")
	// ErrStuck says that the asker does not apply the table: no grant takes effect there.
	ErrStuck = errors.New("the node does not apply the table")
	// ErrRefusesWrites says that the asker's store refuses writes that a backup could take.
	ErrRefusesWrites = errors.New("the node's store refuses writes and a backup could take them")
)

// A nodeStart is one start of a node.
type nodeStart struct {
	node        string
	incarnation uint64
}

// A granter is what the leader knows of leases. It is pure: times are those of the
// leader's clock, which goes on while the machine is suspended.
type granter struct {
	disabled     leaseRules
	term         uint64        // of the office; 0 is none
	since        time.Duration // when it began, or was last interrupted
	lastGrant    map[nodeStart]time.Duration
	servingSince map[nodeStart]time.Duration // since when a start that serves rows is known to
	lastHeard    map[string]time.Duration    // of each node, the last grant to any of its starts
	replacing    map[string]bool             // nodes whose failover is under way
	lastAwake    time.Duration               // the last moment at which the leader was seen at work
	// pending are the grants of each start that it has not shown to hold, the oldest first.
	pending map[nodeStart][]pendingGrant
	// refusingSince is since when each node's store has refused writes, as the node says.
	refusingSince map[string]time.Duration
}

// A pendingGrant takes effect once its holder has applied the table up to index.
type pendingGrant struct {
	index uint64
	at    time.Duration // of the grant
}

// maxPendingOfStart bounds the pending grants that are kept of one start. Those that are left out are
// newer than those that are kept, so a stuck start is still noticed by the oldest.
const maxPendingOfStart = 8

// stuckAfter is for how long a start may fail to apply what it was granted. Then it is
// granted nothing more, and is replaced once its last grant is over: about 3.5 s after the
// entry that it does not apply, 5 s if that ended the leadership of the node as well. A
// start that lags by more than this has no use of its grants: they end before they count.
const stuckAfter = leaseLength / 2

// A nodeCondition is what a request for a lease says about the node that asks.
type nodeCondition struct {
	applied  uint64        // table index that the node has applied; 0: the node does not say
	refusing time.Duration // for how long its store has refused writes; 0: it takes them
}

// beginTerm begins an office. Nothing is known of what earlier leaders have granted, so all of
// it may have been granted just now.
func (g *granter) beginTerm(term uint64, now time.Duration) {
	if g.term == term {
		return
	}
	g.term, g.since, g.lastAwake = term, now, now
	g.lastGrant = make(map[nodeStart]time.Duration)
	g.servingSince = make(map[nodeStart]time.Duration)
	g.lastHeard = make(map[string]time.Duration)
	g.replacing = make(map[string]bool)
	g.pending = make(map[nodeStart][]pendingGrant)
	g.refusingSince = make(map[string]time.Duration)
}

// noteServing notes which starts serve rows. One that has only begun to may not have asked for a lease
// yet, which it gets as long as a lease would last.
func (g *granter) noteServing(serving map[nodeStart]bool, now time.Duration) {
	for t := range serving {
		if _, known := g.servingSince[t]; !known {
			g.servingSince[t] = now
		}
	}
	maps.DeleteFunc(g.servingSince, func(t nodeStart, _ time.Duration) bool { return !serving[t] })
}

// endTerm ends the office.
func (g *granter) endTerm() { g.term = 0 }

// noteAwake is called often. The leader grants nothing while it is stopped, so the silence of
// others in that time says nothing: all that happened before counts as that much later.
// Time in which the leader was at work is kept, so that stalls that come again and again
// delay a failover by their length and do not prevent it.
//
// Moments only become later, never later than now: no lease counts as over too early.
func (g *granter) noteAwake(now time.Duration) {
	if stopped := now - g.lastAwake; stopped > leaseRenew {
		later := func(at time.Duration) time.Duration { return min(at+stopped, now) }
		g.since = later(g.since)
		for t, at := range g.lastGrant {
			g.lastGrant[t] = later(at)
		}
		for t, at := range g.servingSince {
			g.servingSince[t] = later(at)
		}
		for node, at := range g.lastHeard {
			g.lastHeard[node] = later(at)
		}
		for _, owed := range g.pending {
			for i := range owed {
				owed[i].at = later(owed[i].at)
			}
		}
	}
	g.lastAwake = now
}

// grant notes a lease that takes effect once its holder has applied the table up to index,
// if one may be granted in a term that a majority has confirmed since it was asked for.
func (g *granter) grant(t nodeStart, term uint64, now time.Duration, is nodeCondition, index uint64) error {
	switch {
	case term == 0 || g.term != term:
		return ErrNotLeader
	case g.replacing[t.node] && !g.disabled.whileReplaced:
		return ErrReplaced
	case g.isStuck(t, now, is.applied) && !g.disabled.unapplied:
		return ErrStuck
	}
	for old, at := range g.lastGrant {
		if g.isOver(at, now) {
			delete(g.lastGrant, old)
		}
	}
	// What a start owes stays also when its grants are over: else it would be granted
	// another before it is replaced. An earlier start of the node asks for nothing any more.
	maps.DeleteFunc(g.pending, func(old nodeStart, _ []pendingGrant) bool { return old.node == t.node && old != t })
	g.lastGrant[t], g.lastHeard[t.node] = now, now
	if owed := g.pending[t]; is.applied != 0 && is.applied < index && len(owed) < maxPendingOfStart {
		g.pending[t] = append(owed, pendingGrant{index, now})
	}
	return nil
}

// isStuck takes in how far a start has applied the table, and tells whether it has not come
// to hold a grant for too long.
func (g *granter) isStuck(t nodeStart, now time.Duration, applied uint64) bool {
	owed := g.pending[t]
	for len(owed) > 0 && owed[0].index <= applied {
		owed = owed[1:]
	}
	if len(owed) == 0 || applied == 0 {
		delete(g.pending, t)
		return false
	}
	g.pending[t] = owed
	return now-owed[0].at >= stuckAfter
}

// noteRefusing takes in for how long a node's store has refused writes.
func (g *granter) noteRefusing(node string, now, refusing time.Duration) {
	switch _, known := g.refusingSince[node]; {
	case g.term == 0:
	case refusing == 0:
		delete(g.refusingSince, node)
	case !known:
		g.refusingSince[node] = now - refusing
	}
}

// takesWrites tells whether a node has had a lease of late and its store takes writes.
func (g *granter) takesWrites(node string, now time.Duration) bool {
	at, heard := g.lastHeard[node]
	_, refusing := g.refusingSince[node]
	return heard && !refusing && !g.isOver(at, now)
}

// isOver tells whether a lease that was granted at a time is certainly over.
func (g *granter) isOver(at, now time.Duration) bool {
	margin := leaseMargin
	if g.disabled.noMargin {
		margin = 0
	}
	return now >= at+leaseLength+margin
}

// leaseOver tells whether every lease that a start of a node can have is over.
func (g *granter) leaseOver(t nodeStart, now time.Duration) bool {
	if g.term == 0 {
		return false
	}
	at, known := g.lastGrant[t]
	switch {
	case g.disabled.atOnce:
		return !known || now-at > leaseRenew+leaseRenew/2
	case !g.disabled.newLeader:
		at = max(at, g.since, g.servingSince[t])
	case !known:
		return true
	}
	return g.isOver(at, now)
}

// beginReplacement begins the failover of a node: from now on it gets no grant. It returns false
// if one is under way already.
func (g *granter) beginReplacement(node string) bool {
	if g.term == 0 || g.replacing[node] {
		return false
	}
	g.replacing[node] = true
	return true
}

// endReplacement ends a failover whose outcome is known, and applied here.
func (g *granter) endReplacement(node string, term uint64) {
	if g.term == term {
		delete(g.replacing, node)
	}
}

// silence is for how long a node has not been granted a lease, as far as this office knows.
func (g *granter) silence(node string, now time.Duration) time.Duration {
	return now - max(g.lastHeard[node], g.since)
}

// holders are the nodes that may have a lease now.
func (g *granter) holders(now time.Duration) []string {
	var nodes []string
	for node, at := range g.lastHeard {
		if !g.isOver(at, now) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// hasSuccessor tells whether a backup takes writes in a row of which a start is the primary.
func (g *granter) hasSuccessor(st *table.State, t nodeStart, now time.Duration) bool {
	for row := range st.Rows() {
		if row.Primary != t.node || row.Incarnation != t.incarnation {
			continue
		}
		if slices.ContainsFunc(row.Backups, func(b string) bool { return g.takesWrites(b, now) }) {
			return true
		}
	}
	return false
}

// superviseInterval is how often the leader looks for leases that are over.
const superviseInterval = 100 * time.Millisecond
