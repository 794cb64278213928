package lease

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// ErrUnreached says that a node's bus accepted no connection. Errors that the dialling node causes
// itself, such as a lack of file descriptors, are others: they say nothing about the other node.
var ErrUnreached = errors.New("the node accepts no connection")

// ErrUnreachable says that the asking node accepts no connections, so no other node can forward requests to it.
var ErrUnreachable = errors.New("the node accepts no connections of others")

const (
	// unreachableAfter is how long all attempts to connect to a node must fail, in two rounds at
	// least, until it is unreachable.
	unreachableAfter = 2 * time.Second
	// askingWithin is how recently an unreachable node must have asked for its lease.
	askingWithin = 2 * RenewEvery
	// longestRound is how long a round may take; the leader stood still in one that takes longer.
	longestRound = 3 * time.Second
	// PatienceForSelf is how long a leader that others do not reach begins no failover.
	PatienceForSelf = 5 * time.Second
)

// Reach is what a leader knows of whether nodes accept connections. A node without inbound
// connections can renew its lease over one that it has made itself, while all that is forwarded to
// it fails. The leader therefore opens a connection to each node every second, and grants no lease
// to a node that accepts none: see replica/DESIGN.md, "A node that accepts no connections".
//
// It is pure; the caller locks. Times are those of the leader's clock.
type Reach struct {
	failing map[string]reachFailure // by node: no attempt since has succeeded
	asked   map[string]time.Duration
	// doubted is when a node last failed to reach the leader, in a round that has not ended.
	doubted time.Duration
}

// A reachFailure is a row of rounds in which a node accepted no connection.
type reachFailure struct {
	since, last time.Duration // begin of the first round and end of the last one
	rounds      int
	reported    bool // see Report
}

// Note records the outcome of a round of attempts to connect to a node. It returns true if the node
// was reported and accepts connections again.
func (r *Reach) Note(node string, reached bool, began, ended time.Duration) (again bool) {
	f, failing := r.failing[node]
	switch {
	case ended-began > longestRound:
		return false
	case reached:
		delete(r.failing, node)
		return f.reported
	case !failing:
		f.since = began
	}
	f.last = ended
	f.rounds++
	if r.failing == nil {
		r.failing = make(map[string]reachFailure)
	}
	r.failing[node] = f
	return false
}

// Report returns true once for a node that has become unreachable and still asks for leases. One that
// does not ask is stopped or dead.
func (r *Reach) Report(node string, now time.Duration) bool {
	f := r.failing[node]
	if f.reported || !r.IsUnreachable(node) || now-r.asked[node] > askingWithin {
		return false
	}
	f.reported = true
	r.failing[node] = f
	return true
}

// Doubt records that a node has failed to reach the leader, before the round has ended.
func (r *Reach) Doubt(now time.Duration) { r.doubted = max(r.doubted, now) }

// EndRound ends a round whose outcomes are noted.
func (r *Reach) EndRound() { r.doubted = 0 }

// noteStop moves the rounds before a stop of the leader forward by its length.
func (r *Reach) noteStop(stopped time.Duration) {
	for node, f := range r.failing {
		f.since += stopped
		r.failing[node] = f
	}
}

// noteAsked records that a node asks for its lease. A node that has asked for nothing lately stood
// still and could not accept a connection either, so earlier failures do not count.
func (r *Reach) noteAsked(node string, now time.Duration) {
	if at, known := r.asked[node]; !known || now-at > askingWithin {
		delete(r.failing, node)
	}
	if r.asked == nil {
		r.asked = make(map[string]time.Duration)
	}
	r.asked[node] = now
}

// IsUnreachable reports whether all attempts to connect to a node have failed for long enough.
func (r *Reach) IsUnreachable(node string) bool {
	f := r.failing[node]
	return f.rounds >= 2 && f.last-f.since >= unreachableAfter
}

// refuses reports whether a leader grants a node no lease. A leader that others do not reach blames
// no other node: the fault may be its own.
func (r *Reach) refuses(node, leader string) bool {
	_, own := r.failing[leader]
	return node != leader && !own && r.IsUnreachable(node)
}

// waits reports whether a leader begins no failover: others do not reach it, so their silence means
// nothing, and another node will lead soon. That wait is bounded, since there may be no other node.
func (r *Reach) waits(leader string, now time.Duration) bool {
	f, failing := r.failing[leader]
	return failing && now < f.since+PatienceForSelf || r.doubted != 0 && now < r.doubted+longestRound
}

// Failing returns the nodes that the last rounds did not reach and that still ask for leases, and the
// leader if others did not reach it. Nodes that ask no more are forgotten.
func (r *Reach) Failing(leader string, now time.Duration) []string {
	maps.DeleteFunc(r.failing, func(node string, _ reachFailure) bool {
		at, known := r.asked[node]
		return node != leader && (!known || now-at > Length+Margin)
	})
	return slices.Sorted(maps.Keys(r.failing))
}

// A ReachRound collects the outcomes of one round of attempts.
type ReachRound struct {
	leader    string
	others    []string // nodes with leases beside the leader
	reached   map[string]bool
	unreached map[string][]string // by node: the nodes whose connections it did not accept
}

// NewReachRound begins a round of a leader. Others are the nodes with leases beside it.
func NewReachRound(leader string, others []string) *ReachRound {
	return &ReachRound{leader: leader, others: others, reached: make(map[string]bool), unreached: make(map[string][]string)}
}

// Add records what a node has found.
func (r *ReachRound) Add(by string, a ReachReply) {
	for _, node := range a.Reached {
		r.reached[node] = true
	}
	for _, node := range a.Unreached {
		r.unreached[node] = append(r.unreached[node], by)
	}
}

// Unreached returns the nodes that at least one node failed to reach and no node has reached so far.
func (r *ReachRound) Unreached() []string {
	var nodes []string
	for node := range r.unreached {
		if !r.reached[node] {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// Outcome reports whether a node accepts connections; known is false if the round does not tell.
//
// One success of anybody suffices. One node's failure does not: its own link may be at fault. So a
// node counts as not reached if the leader and another node with a lease fail, or the leader alone
// if no other node has a lease. The leader itself counts as not reached if another node says so.
func (r *ReachRound) Outcome(node string) (reached, known bool) {
	by := r.unreached[node]
	switch {
	case r.reached[node]:
		return true, true
	case node == r.leader:
		return false, len(by) > 0
	case !slices.Contains(by, r.leader):
		return false, false
	}
	alone := !slices.ContainsFunc(r.others, func(other string) bool { return other != node })
	return false, alone || len(by) > 1
}

// A ReachRequest asks a node to open a connection to each of some nodes.
type ReachRequest struct {
	Nodes []string `json:"nodes"`
}

// A ReachReply says which of them accepted one. A node is in neither list if the attempt says
// nothing about it.
type ReachReply struct {
	Reached   []string `json:"reached,omitempty"`
	Unreached []string `json:"unreached,omitempty"`
}
