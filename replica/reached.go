package replica

import (
	"maps"
	"sync"
)

// Each node says with its lease requests how far the commits of its store have come, and the
// leader passes on what all have said. So a start of a node can ask the others whether its
// directory is of an earlier moment than what the node has acknowledged: a snapshot of a disk that
// was put back proves everything else that a start has to prove.
//
// That is as exact as lease requests are frequent. What was committed after the last of them is
// not missed.

// maxReached is of how many nodes a leader passes on what they have said, since a reply is bounded.
const maxReached = 256

// A reachedBy is how far the store of one start of a node has come.
type reachedBy struct {
	Incarnation uint64 `json:"incarnation,string"`
	Reached     uint64 `json:"reached,string"`
}

// reachedNodes is what is known of other nodes. Its methods may be called from any goroutine.
type reachedNodes struct {
	mu sync.Mutex
	by map[string]reachedBy
}

// learn takes in what is said of nodes. Neither a start nor a number replaces a later one.
func (n *reachedNodes) learn(said map[string]reachedBy) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.by == nil {
		n.by = make(map[string]reachedBy)
	}
	for node, now := range said {
		was := n.by[node]
		if now.Incarnation > was.Incarnation || now.Incarnation == was.Incarnation && now.Reached > was.Reached {
			n.by[node] = now
		}
	}
}

// all returns what is known, of maxReached nodes at most.
func (n *reachedNodes) all() map[string]reachedBy {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.by) <= maxReached {
		return maps.Clone(n.by)
	}
	some := make(map[string]reachedBy, maxReached)
	for node, r := range n.by {
		if some[node] = r; len(some) == maxReached {
			break
		}
	}
	return some
}

// Reached returns how far the store of one start of another node has come, as that node has said;
// 0 if it is not known. It may be called from any goroutine.
func (e *Engine) Reached(node string, incarnation uint64) uint64 {
	e.reachedBy.mu.Lock()
	defer e.reachedBy.mu.Unlock()
	if r := e.reachedBy.by[node]; r.Incarnation == incarnation {
		return r.Reached
	}
	return 0
}
