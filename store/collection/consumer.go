package collection

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// A Consumer is one of a group.
type Consumer struct {
	Name []byte
	// Seen is when it last asked for anything, in ms since 1970, Active when it last got anything that
	// is pending with it then: [NeverActive] before that.
	Seen, Active int64
	// Pending is how many entries are with it.
	Pending int64

	changed bool
}

// NeverActive stands in [Consumer.Active] for no time.
const NeverActive = -1

func (c *Consumer) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.AppendVarint(dst, c.Seen), uint64(c.Pending))
	if c.Active != c.Seen { // older versions drop it
		dst = binary.AppendVarint(dst, c.Active)
	}
	return dst
}

func (c *Consumer) parse(b []byte) error {
	r := numbers{b: b}
	c.Seen, c.Pending = r.varint(), int64(r.uvarint())
	if c.Active = c.Seen; len(r.b) > 0 {
		c.Active = r.varint()
	}
	return r.err
}

// Act notes that the consumer has got something.
func (c *Consumer) Act(now int64) { c.Active, c.changed = now, true }

// consumerKey returns the sub key of a consumer.
func (g *Group) consumerKey(name []byte) []byte {
	return append(prefixed([]byte{kindConsumer}, g.name), name...)
}

// Consumer returns a consumer, or nil if there is none of that name.
func (g *Group) Consumer(name []byte) (*Consumer, error) {
	if c, ok := g.consumers[string(name)]; ok {
		return c, nil
	}
	if g.Consumers == 0 {
		return nil, nil
	}
	s := g.s
	value, ok, err := s.unit.Element(s.key, &s.v, g.consumerKey(name))
	if err != nil {
		return nil, err
	}
	var c *Consumer
	if ok {
		c = &Consumer{Name: slices.Clone(name)}
		if err := c.parse(value); err != nil {
			return nil, err
		}
	}
	g.know(name, c)
	return c, nil
}

func (g *Group) know(name []byte, c *Consumer) {
	if g.consumers == nil {
		g.consumers = make(map[string]*Consumer)
	}
	g.consumers[string(name)] = c
}

// CreateConsumer makes a consumer that does not exist.
func (g *Group) CreateConsumer(name []byte, now int64) *Consumer {
	c := &Consumer{Name: slices.Clone(name), Seen: now, Active: NeverActive, changed: true}
	g.know(name, c)
	g.Consumers++
	g.changed = true
	g.grown += consumerSize
	return c
}

// Serve returns the consumer that asks for something now, which it creates if it is missing.
func (g *Group) Serve(name []byte, now int64) (*Consumer, error) {
	c, err := g.Consumer(name)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return g.CreateConsumer(name, now), nil
	}
	c.Seen, c.changed = now, true
	return c, nil
}

// seenEvery is how exact, in ms, the time is at which a consumer was seen that got nothing: each time that
// it asks would be a write otherwise.
const seenEvery = 1000

// Poll is Serve for a consumer that gets nothing.
func (g *Group) Poll(name []byte, now int64) error {
	c, err := g.Consumer(name)
	if err == nil && c != nil && !c.changed && now-c.Seen < seenEvery && now >= c.Seen {
		return nil
	}
	_, err = g.Serve(name, now)
	return err
}

// RemoveConsumer removes a consumer, and what is pending with it.
func (g *Group) RemoveConsumer(c *Consumer) error {
	s := g.s
	if c.Pending > 0 {
		owned := g.ownedPrefix(c.Name)
		it := s.unit.Elements(s.key, &s.v, owned, prefixEnd(owned), false)
		for it.Next() {
			id, ok := lastID(it.Sub())
			if !ok {
				return errors.Join(errStream, it.Close())
			}
			if g.due.kept {
				p, err := g.Find(id)
				if err != nil || p == nil {
					return errors.Join(errStream, err, it.Close())
				}
				g.SetAside(p)
			}
			s.unit.RemoveElement(s.key, &s.v, g.pendingKey(id))
			g.gone = id
		}
		if err := it.Close(); err != nil {
			return err
		}
		s.removePrefix(owned)
	}
	s.unit.RemoveElement(s.key, &s.v, g.consumerKey(c.Name))
	g.know(c.Name, nil)
	g.Consumers--
	g.Pending -= c.Pending
	g.changed = true
	g.grown -= consumerSize + c.Pending*pendingSize
	return nil
}

// nextChanging is it.Next for elements that are often set anew: it does not pass what they were
// before, which the engine keeps for a while.
func nextChanging(it *store.Elements) bool {
	if sub := it.Sub(); sub != nil {
		return it.Seek(append(slices.Clone(sub), 0))
	}
	return it.Next()
}

// AllConsumers returns all consumers in the order of their names, but for the one that stands for none.
func (g *Group) AllConsumers() (all []*Consumer, err error) {
	if g.Consumers == 0 {
		return nil, nil
	}
	s := g.s
	prefix := prefixed([]byte{kindConsumer}, g.name)
	it := s.unit.Elements(s.key, &s.v, prefix, prefixEnd(prefix), false)
	for n := g.Consumers; n > 0 && nextChanging(it); n-- {
		if string(it.Sub()[len(prefix):]) == ReservedName {
			continue
		}
		c := &Consumer{Name: slices.Clone(it.Sub()[len(prefix):])}
		if err := c.parse(it.Value()); err != nil {
			return nil, errors.Join(err, it.Close())
		}
		all = append(all, c)
	}
	return all, it.Close()
}
