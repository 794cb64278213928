package collection

import (
	"cmp"
	"slices"
)

// A pending entry that its consumer has released (XNACK) is with no consumer: any other may claim it, and
// does so before all that is with consumers. It is stored as if it were with a consumer of a name of its
// own, which nothing shows, so that older versions of the program can work with it. Its time is the place
// among those that were released.

// ReservedName is the name under which a group has what was released. No client may use it.
const ReservedName = "\x00ringside: released\x00"

// IsReleased reports whether the entry is with no consumer.
func (p *Pending) IsReleased() bool { return string(p.Consumer) == ReservedName }

// Delivered returns when the entry was last delivered, in ms since 1970: 0 if it was released since.
func (p *Pending) Delivered() int64 {
	if p.IsReleased() {
		return 0
	}
	return p.Time
}

// Owner is the name of the consumer that the entry is with, nil if it was released.
func (p *Pending) Owner() []byte {
	if p.IsReleased() {
		return nil
	}
	return p.Consumer
}

// Release takes an entry from its consumer; old is what Find has for its ID, and count how often it counts
// as delivered.
func (g *Group) Release(id ID, old *Pending, count uint64) error {
	c, err := g.releaser(true)
	if err != nil {
		return err
	}
	c.Seen++
	c.changed = true
	return g.Put(&Pending{ID: id, Time: c.Seen, Count: count, Consumer: c.Name}, old)
}

// releaser returns the consumer that stands for none. Its Seen is the number of entries that were released
// since it last had none.
func (g *Group) releaser(create bool) (*Consumer, error) {
	c, err := g.Consumer([]byte(ReservedName))
	if err == nil && c == nil && create {
		c = g.CreateConsumer([]byte(ReservedName), 0)
	}
	return c, err
}

// dropReleaser removes the consumer that stands for none once nothing is with it.
func (g *Group) dropReleaser() {
	if c := g.consumers[ReservedName]; c != nil && c.changed && c.Pending == 0 {
		_ = g.RemoveConsumer(c) // which reads nothing
	}
}

// Released returns how many entries are with no consumer, and how many consumers there are.
func (g *Group) Released() (released, consumers int64, err error) {
	c, err := g.releaser(false)
	if err != nil || c == nil {
		return 0, g.Consumers, err
	}
	return c.Pending, g.Consumers - 1, nil
}

// EachReleased calls yield for the entries that were released, in the order in which they were, until it
// returns false. It remembers all of them.
func (g *Group) EachReleased(yield func(p *Pending) bool) error {
	c, err := g.releaser(false)
	if err != nil || c == nil || c.Pending == 0 {
		return err
	}
	all := make([]Pending, 0, c.Pending)
	err = g.EachPendingOf(c.Name, ID{}, MaxID, func(p *Pending) bool {
		all = append(all, Pending{ID: p.ID, Time: p.Time, Count: p.Count, Consumer: c.Name})
		return true
	})
	slices.SortFunc(all, func(a, b Pending) int { return cmp.Or(cmp.Compare(a.Time, b.Time), a.ID.Compare(b.ID)) })
	for i := range all {
		if err != nil || !yield(&all[i]) {
			break
		}
	}
	return err
}
