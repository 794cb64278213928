package lease

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// Reasons to refuse a lease.
var (
	// ErrNotLeader says that this node does not lead, or no longer.
	ErrNotLeader = errors.New("it does not lead the group that decides")
	// ErrReplaced says that a failover of the asking node is under way.
	ErrReplaced = errors.New("its failover is under way")
	// ErrStart says that this start of the asking node is not the registered one.
	ErrStart = errors.New("this start of the node is not registered")
	// ErrStuck says that the asking node does not apply the table, so no grant takes effect there.
	ErrStuck = errors.New("the node does not apply the table")
	// ErrRefusesWrites says that the asking node's store refuses writes that a backup could accept.
	ErrRefusesWrites = errors.New("the node's store refuses writes and a backup could take them")
)

// A NodeStart is one start of a node.
type NodeStart struct {
	Node        string
	Incarnation uint64
}

// A Granter is the pure state of leases at the leader. Times are those of the leader's clock, which
// runs while the machine is suspended. The caller locks it.
type Granter struct {
	Disabled     Rules
	Self         string        // the leader's own node
	Term         uint64        // Raft term of the leadership; 0: this node does not lead
	since        time.Duration // when the term began, or the leader was last interrupted
	lastGrant    map[NodeStart]time.Duration
	servingSince map[NodeStart]time.Duration // when each start that serves rows was first seen
	lastHeard    map[string]time.Duration    // the last grant to any start of each node
	Replacing    map[string]bool             // nodes whose failover is under way
	lastAwake    time.Duration               // last moment at which the leader was running
	// pending are the grants of each start that it has not shown to hold, oldest first.
	pending map[NodeStart][]pendingGrant
	// RefusingSince is when the store of each node began to refuse writes, as reported by the node.
	RefusingSince map[string]time.Duration
	// Reach is which nodes accept connections.
	Reach Reach
}

// A pendingGrant takes effect once its holder has applied the table up to index.
type pendingGrant struct {
	index uint64
	at    time.Duration // time of the grant
}

// maxPendingOfStart bounds the pending grants kept of one start. Newer grants are not kept, so the
// oldest one still reveals a stuck start.
const maxPendingOfStart = 8

// stuckAfter is how long a start may fail to apply a grant. After that it is granted nothing more,
// and is replaced once its last grant has expired: about 3.5 s after the entry that it does not
// apply, 5 s if that also ended the node's leadership. The grants of a start that lags by more
// expire before they count.
const stuckAfter = Length / 2

// A NodeCondition is what a lease request says about the asking node.
type NodeCondition struct {
	Applied  uint64        // table index that the node has applied; 0: not told
	Refusing time.Duration // how long its store has refused writes; 0: it accepts them
}

// BeginTerm starts a leadership. It knows nothing of the grants of earlier leaders, so each lease
// counts as granted just now.
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
	g.Reach = Reach{}
}

// NoteServing records which starts serve rows. A start that has only just begun may not have asked
// for a lease yet, so it gets the time of one lease.
func (g *Granter) NoteServing(serving map[NodeStart]bool, now time.Duration) {
	for t := range serving {
		if _, known := g.servingSince[t]; !known {
			g.servingSince[t] = now
		}
	}
	maps.DeleteFunc(g.servingSince, func(t NodeStart, _ time.Duration) bool { return !serving[t] })
}

// EndTerm ends the leadership.
func (g *Granter) EndTerm() { g.Term = 0 }

// NoteAwake must be called often. A stopped leader grants nothing, so the silence of other nodes
// during a stop means nothing: all earlier times move forward by the length of the stop. Time in
// which the leader ran still counts, so repeated stalls delay a failover by their length and do not
// prevent it.
//
// Times only move forward, never past now: no lease counts as expired too early.
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
		g.Reach.noteStop(stopped)
		for _, owed := range g.pending {
			for i := range owed {
				owed[i].at = later(owed[i].at)
			}
		}
	}
	g.lastAwake = now
}

// Grant records a lease that takes effect once its holder has applied the table up to index. A
// majority has confirmed the term since the request came in.
func (g *Granter) Grant(t NodeStart, term uint64, now time.Duration, is NodeCondition, index uint64) error {
	switch {
	case term == 0 || g.Term != term:
		return ErrNotLeader
	}
	g.Reach.noteAsked(t.Node, now)
	switch {
	case g.Reach.refuses(t.Node, g.Self):
		return ErrUnreachable
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
	// Pending grants stay after they expire: otherwise a stuck start would be granted another lease
	// before it is replaced. An earlier start of the node asks for nothing any more.
	maps.DeleteFunc(g.pending, func(old NodeStart, _ []pendingGrant) bool { return old.Node == t.Node && old != t })
	g.lastGrant[t], g.lastHeard[t.Node] = now, now
	if owed := g.pending[t]; is.Applied != 0 && is.Applied < index && len(owed) < maxPendingOfStart {
		g.pending[t] = append(owed, pendingGrant{index, now})
	}
	return nil
}

// isStuck records how far a start has applied the table. It reports whether a grant has been
// pending for too long.
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

// NoteRefusing records how long a node's store has refused writes.
func (g *Granter) NoteRefusing(node string, now, refusing time.Duration) {
	switch _, known := g.RefusingSince[node]; {
	case g.Term == 0:
	case refusing == 0:
		delete(g.RefusingSince, node)
	case !known:
		g.RefusingSince[node] = now - refusing
	}
}

// takesWrites reports whether a node recently had a lease and its store accepts writes.
func (g *Granter) takesWrites(node string, now time.Duration) bool {
	at, heard := g.lastHeard[node]
	_, refusing := g.RefusingSince[node]
	return heard && !refusing && !g.isOver(at, now)
}

// isOver reports whether a lease granted at a time has certainly expired.
func (g *Granter) isOver(at, now time.Duration) bool {
	margin := Margin
	if g.Disabled.NoMargin {
		margin = 0
	}
	return now >= at+Length+margin
}

// LeaseOver reports whether every lease that a start can have has expired.
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

// WaitsForSuccessor reports whether the leader begins no failover, since other nodes do not reach it.
func (g *Granter) WaitsForSuccessor(now time.Duration) bool { return g.Reach.waits(g.Self, now) }

// BeginReplacement starts the failover of a node, which gets no grant from now on. It returns false
// if a failover is already under way.
func (g *Granter) BeginReplacement(node string) bool {
	if g.Term == 0 || g.Replacing[node] {
		return false
	}
	g.Replacing[node] = true
	return true
}

// EndReplacement ends a failover whose outcome is known and applied here.
func (g *Granter) EndReplacement(node string, term uint64) {
	if g.Term == term {
		delete(g.Replacing, node)
	}
}

// Silence returns how long ago a node was granted a lease, as far as this leadership knows.
func (g *Granter) Silence(node string, now time.Duration) time.Duration {
	return now - max(g.lastHeard[node], g.since)
}

// Holders returns the nodes that may have a lease now.
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

// HasSuccessor reports whether some row of a start has a backup that accepts writes.
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

// SuperviseInterval is the interval at which the leader looks for expired leases.
const SuperviseInterval = 100 * time.Millisecond
