package lease

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
type NodeStart struct {
	Node        string
	Incarnation uint64
}

// A granter is what the leader knows of leases. It is pure: times are those of the
// leader's clock, which goes on while the machine is suspended.
type Granter struct {
	Disabled     Rules
	Term         uint64        // of the office; 0 is none
	since        time.Duration // when it began, or was last interrupted
	lastGrant    map[NodeStart]time.Duration
	servingSince map[NodeStart]time.Duration // since when a start that serves rows is known to
	lastHeard    map[string]time.Duration    // of each node, the last grant to any of its starts
	Replacing    map[string]bool             // nodes whose failover is under way
	lastAwake    time.Duration               // the last moment at which the leader was seen at work
	// pending are the grants of each start that it has not shown to hold, the oldest first.
	pending map[NodeStart][]pendingGrant
	// refusingSince is since when each node's store has refused writes, as the node says.
	RefusingSince map[string]time.Duration
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
const stuckAfter = Length / 2

// A nodeCondition is what a request for a lease says about the node that asks.
type NodeCondition struct {
	Applied  uint64        // table index that the node has applied; 0: the node does not say
	Refusing time.Duration // for how long its store has refused writes; 0: it takes them
}

// beginTerm begins an office. Nothing is known of what earlier leaders have granted, so all of
// it may have been granted just now.
func (g *Granter) BeginTerm(term uint64, now time.Duration) {
	if g.Term == term {
		return
	}
	g.Term, g.since, g.lastAwake = term, now, now
	g.lastGrant = make(map[NodeStart]time.Duration)
	g.servingSince = make(map[NodeStart]time.Duration)
	g.lastHeard = make(map[string]time.Duration)
	g.Replacing = make(map[string]bool)
	g.pending = make(map[NodeStart][]pendingGrant)
	g.RefusingSince = make(map[string]time.Duration)
}

// noteServing notes which starts serve rows. One that has only begun to may not have asked for a lease
// yet, which it gets as long as a lease would last.
func (g *Granter) NoteServing(serving map[NodeStart]bool, now time.Duration) {
	for t := range serving {
		if _, known := g.servingSince[t]; !known {
			g.servingSince[t] = now
		}
	}
	maps.DeleteFunc(g.servingSince, func(t NodeStart, _ time.Duration) bool { return !serving[t] })
}

// endTerm ends the office.
func (g *Granter) EndTerm() { g.Term = 0 }

// noteAwake is called often. The leader grants nothing while it is stopped, so the silence of
// others in that time says nothing: all that happened before counts as that much later.
// Time in which the leader was at work is kept, so that stalls that come again and again
// delay a failover by their length and do not prevent it.
//
// Moments only become later, never later than now: no lease counts as over too early.
func (g *Granter) NoteAwake(now time.Duration) {
	if stopped := now - g.lastAwake; stopped > RenewEvery {
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
func (g *Granter) Grant(t NodeStart, term uint64, now time.Duration, is NodeCondition, index uint64) error {
	switch {
	case term == 0 || g.Term != term:
		return ErrNotLeader
	case g.Replacing[t.Node] && !g.Disabled.WhileReplaced:
		return ErrReplaced
	case g.isStuck(t, now, is.Applied) && !g.Disabled.unapplied:
		return ErrStuck
	}
	for old, at := range g.lastGrant {
		if g.isOver(at, now) {
			delete(g.lastGrant, old)
		}
	}
	// What a start owes stays also when its grants are over: else it would be granted
	// another before it is replaced. An earlier start of the node asks for nothing any more.
	maps.DeleteFunc(g.pending, func(old NodeStart, _ []pendingGrant) bool { return old.Node == t.Node && old != t })
	g.lastGrant[t], g.lastHeard[t.Node] = now, now
	if owed := g.pending[t]; is.Applied != 0 && is.Applied < index && len(owed) < maxPendingOfStart {
		g.pending[t] = append(owed, pendingGrant{index, now})
	}
	return nil
}

// isStuck takes in how far a start has applied the table, and tells whether it has not come
// to hold a grant for too long.
func (g *Granter) isStuck(t NodeStart, now time.Duration, applied uint64) bool {
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
func (g *Granter) NoteRefusing(node string, now, refusing time.Duration) {
	switch _, known := g.RefusingSince[node]; {
	case g.Term == 0:
	case refusing == 0:
		delete(g.RefusingSince, node)
	case !known:
		g.RefusingSince[node] = now - refusing
	}
}

// takesWrites tells whether a node has had a lease of late and its store takes writes.
func (g *Granter) takesWrites(node string, now time.Duration) bool {
	at, heard := g.lastHeard[node]
	_, refusing := g.RefusingSince[node]
	return heard && !refusing && !g.isOver(at, now)
}

// isOver tells whether a lease that was granted at a time is certainly over.
func (g *Granter) isOver(at, now time.Duration) bool {
	margin := Margin
	if g.Disabled.NoMargin {
		margin = 0
	}
	return now >= at+Length+margin
}

// leaseOver tells whether every lease that a start of a node can have is over.
func (g *Granter) LeaseOver(t NodeStart, now time.Duration) bool {
	if g.Term == 0 {
		return false
	}
	at, known := g.lastGrant[t]
	switch {
	case g.Disabled.AtOnce:
		return !known || now-at > RenewEvery+RenewEvery/2
	case !g.Disabled.NewLeader:
		at = max(at, g.since, g.servingSince[t])
	case !known:
		return true
	}
	return g.isOver(at, now)
}

// beginReplacement begins the failover of a node: from now on it gets no grant. It returns false
// if one is under way already.
func (g *Granter) BeginReplacement(node string) bool {
	if g.Term == 0 || g.Replacing[node] {
		return false
	}
	g.Replacing[node] = true
	return true
}

// endReplacement ends a failover whose outcome is known, and applied here.
func (g *Granter) EndReplacement(node string, term uint64) {
	if g.Term == term {
		delete(g.Replacing, node)
	}
}

// silence is for how long a node has not been granted a lease, as far as this office knows.
func (g *Granter) Silence(node string, now time.Duration) time.Duration {
	return now - max(g.lastHeard[node], g.since)
}

// holders are the nodes that may have a lease now.
func (g *Granter) Holders(now time.Duration) []string {
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
func (g *Granter) HasSuccessor(st *table.State, t NodeStart, now time.Duration) bool {
	for row := range st.Rows() {
		if row.Primary != t.Node || row.Incarnation != t.Incarnation {
			continue
		}
		if slices.ContainsFunc(row.Backups, func(b string) bool { return g.takesWrites(b, now) }) {
			return true
		}
	}
	return false
}

// superviseInterval is how often the leader looks for leases that are over.
const SuperviseInterval = 100 * time.Millisecond
