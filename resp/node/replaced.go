package node

import (
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// replaced notes of which nodes others have taken the place, so that nobody waits for
// their answers. It belongs to one goroutine.
type replaced struct {
	seen map[string]uint64 // table.Node.Failed, by node
}

// look returns the nodes that were replaced since the last look.
func (r *replaced) look(st *table.State) (nodes []string) {
	first := r.seen == nil
	if first {
		r.seen = make(map[string]uint64)
	}
	for _, n := range st.Nodes() {
		if n.Failed > r.seen[n.ID] {
			r.seen[n.ID] = n.Failed
			if !first {
				nodes = append(nodes, n.ID)
			}
		}
	}
	return nodes
}

// abandonAgain is how long after a change of the routes somebody may still send by the
// earlier ones.
const abandonAgain = 100 * time.Millisecond

// watchReplaced gives up what is under way to nodes whose place others have taken.
func (c *cluster) watchReplaced() {
	changes, cancel := c.table.Changes()
	defer cancel()
	var seen replaced
	seen.look(c.table.State())
	var again <-chan time.Time
	var late []string
	for {
		select {
		case <-changes:
		case <-again:
			c.abandon(late)
			again, late = nil, nil
			continue
		case <-c.ctx.Done():
			return
		}
		nodes := seen.look(c.table.State())
		if len(nodes) == 0 {
			continue
		}
		c.abandon(nodes)
		late = append(late, nodes...)
		again = time.After(abandonAgain)
	}
}

func (c *cluster) abandon(nodes []string) {
	for _, node := range nodes {
		c.mu.Lock()
		l := c.links[node]
		c.mu.Unlock()
		if l != nil {
			l.peer.Abandon()
		}
	}
}
