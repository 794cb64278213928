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
func (en *entry) generation() uint64 {
	en.choice.Lock()
	defer en.choice.Unlock()
	return en.membership.Generation
}

// busGeneration returns the generation that the node uses on the bus. While its choice can still be
// undone it talks with every node about that.
func (en *entry) busGeneration(p bus.Purpose) uint64 {
	if p == bus.Control && !en.committed.Load() {
		return 0
	}
	return en.generation()
}

// chosenMembership is what the node has chosen.
func (en *entry) chosenMembership() membership {
	en.choice.Lock()
	defer en.choice.Unlock()
	return en.membership
}

// chooseLocked stores a choice before any other node can learn of it.
func (en *entry) chooseLocked(b membership) error {
	if b.Generation != 0 {
		b.Strategy, b.Hash = en.c.n.cfg.Strategy, en.c.n.cfg.Hash
	}
	if b == en.membership {
		return nil
	}
	if err := b.save(en.c.n.cfg.Dir); err != nil {
		return err
	}
	en.membership = b
	return nil
}

// choose is chooseLocked, if nothing else has been chosen since was was read.
func (en *entry) choose(was, b membership) error {
	en.choice.Lock()
	defer en.choice.Unlock()
	if en.membership != was {
		return errChosen
	}
	return en.chooseLocked(b)
}

// generations are the clusters that live nodes say to be in, and the nodes of each,
// as far as gossip knows.
func (en *entry) generations() map[uint64][]members.Node {
	found := make(map[uint64][]members.Node)
	for _, m := range en.c.members.Nodes() {
		if m.ID != en.c.n.id && m.Status == members.Alive && m.Generation != 0 {
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
