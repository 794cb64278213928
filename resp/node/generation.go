package node

import (
	"math/rand/v2"
	"slices"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
)

// newGeneration is a number that no other cluster has, as far as chance goes.
func newGeneration() uint64 {
	for {
		if g := rand.Uint64(); g != 0 {
			return g
		}
	}
}

// generation is that of the cluster that this node is in or has chosen.
func (c *cluster) generation() uint64 {
	c.choice.Lock()
	defer c.choice.Unlock()
	return c.membership.Generation
}

// busGeneration returns the generation that the node uses on the bus. While its choice can still be
// undone it talks with every node about that.
func (c *cluster) busGeneration(p bus.Purpose) uint64 {
	if p == bus.Control && !c.committed.Load() {
		return 0
	}
	return c.generation()
}

// chosenMembership is what the node has chosen.
func (c *cluster) chosenMembership() membership {
	c.choice.Lock()
	defer c.choice.Unlock()
	return c.membership
}

// chooseLocked stores a choice before any other node can learn of it.
func (c *cluster) chooseLocked(b membership) error {
	if b == c.membership {
		return nil
	}
	if err := b.save(c.n.cfg.Dir); err != nil {
		return err
	}
	c.membership = b
	return nil
}

// choose is chooseLocked, if nothing else has been chosen since was was read.
func (c *cluster) choose(was, b membership) error {
	c.choice.Lock()
	defer c.choice.Unlock()
	if c.membership != was {
		return errChosen
	}
	return c.chooseLocked(b)
}

// generations are the clusters that live nodes say to be in, and the nodes of each,
// as far as gossip knows.
func (c *cluster) generations() map[uint64][]members.Node {
	found := make(map[uint64][]members.Node)
	for _, m := range c.members.Nodes() {
		if m.ID != c.n.id && m.Status == members.Alive && m.Generation != 0 {
			found[m.Generation] = append(found[m.Generation], m)
		}
	}
	return found
}

func idsOf(nodes []members.Node) []string {
	var ids []string
	for _, m := range nodes {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}
