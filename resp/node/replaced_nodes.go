package node

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// replacedNodes finds nodes that were replaced, so that no request waits for their replies. It
// belongs to one goroutine.
type replacedNodes struct {
	self        string                // this node
	incarnation uint64                // and this start of it
	seen        map[string]knownStart // by node
}

// A knownStart is one of a node, as the table has it.
type knownStart struct{ incarnation, failed uint64 }

// update returns the nodes that were replaced since the last look, each with the incarnation
// before which none of its starts answers any more. What goes to a later start is answered.
//
// A node that starts replays the history of the table. Until its own start is registered it has sent no requests
// (Engine.publishRoutes), and nodes that were replaced by then may have come back long ago.
func (r *replacedNodes) update(nodes []table.Node) (before map[string]uint64) {
	if !slices.ContainsFunc(nodes, func(n table.Node) bool { return n.ID == r.self && n.Incarnation == r.incarnation }) {
		return nil
	}
	first := r.seen == nil
	if first {
		r.seen = make(map[string]knownStart)
	}
	before = make(map[string]uint64)
	for _, n := range nodes {
		last := r.seen[n.ID]
		if n.Failed > last.failed && !first {
			before[n.ID] = n.Incarnation
			if n.Incarnation == last.incarnation {
				before[n.ID]++ // it has not started again
			}
		}
		r.seen[n.ID] = knownStart{n.Incarnation, n.Failed}
	}
	return before
}

// abandonAgain is how long after a change of the routes requests may still leave by the earlier
// ones.
const abandonAgain = 100 * time.Millisecond

// watchReplaced abandons requests to nodes that were replaced.
func (c *cluster) watchReplaced() {
	changes, cancel := c.table.Changes()
	defer cancel()
	seen := replacedNodes{self: c.n.id, incarnation: c.incarnation}
	seen.update(c.table.State().Nodes())
	var again <-chan time.Time
	late := make(map[string]uint64)
	for {
		select {
		case <-changes:
		case <-again:
			c.abandon(late)
			again = nil
			clear(late)
			continue
		case <-c.ctx.Done():
			return
		}
		c.endIfSuperseded()
		nodes := seen.update(c.table.State().Nodes())
		if len(nodes) == 0 {
			continue
		}
		c.abandon(nodes)
		maps.Copy(late, nodes)
		again = time.After(abandonAgain)
	}
}

// endIfSuperseded ends the node when a later start of it is registered. This one gets no lease
// any more, so it would only stand in the way.
func (c *cluster) endIfSuperseded() {
	if self, known := c.table.State().Node(c.n.id); known && self.Incarnation > c.incarnation && c.entry.entered.Load() {
		c.n.finish(fmt.Errorf("%w (this one is %d, that one %d)", ErrSuperseded, c.incarnation, self.Incarnation))
	}
}

// abandon abandons requests to starts of nodes before an incarnation.
func (c *cluster) abandon(before map[string]uint64) {
	for node, incarnation := range before {
		c.mu.Lock()
		l := c.links[node]
		c.mu.Unlock()
		if l != nil {
			l.peer.Abandon(incarnation)
		}
	}
}
