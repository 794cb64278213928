package collection

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// A Group is consumers that share the entries of a stream: each is delivered to one of them,
// and pending until that one acknowledges it. It is for the commands of one unit. Who changes
// it ends with Save.
type Group struct {
	// Last is the newest ID that was delivered.
	Last ID
	// Read is how many of the entries that there ever were are behind the group, -1 if that
	// is not known.
	Read int64
	// Pending is how many entries are, Consumers how many there are.
	Pending, Consumers int64

	// Nothing is pending before floor, nor behind ceiling: so that readers do not come by
	// all that was pending once.
	floor, ceiling ID
	// gap lies between them.
	gap gap
	// due is what is known of the order of delivery.
	due dueOrder

	s    *Stream
	name []byte
	// consumers are those that were looked up, nil if there is none.
	consumers map[string]*Consumer
	changed   bool
	// gone is an ID that was pending, around which Save looks for others, or 0-0.
	gone ID
	// grown is by how many bytes the stream has grown beside its entries.
	grown int64
}

// What a group, a consumer, and what is pending count beside an entry's bytes: about what
// they take, the same for all, so that none has to be read before it goes.
const (
	groupSize    = 128
	consumerSize = 64
	pendingSize  = 64
)

// UnknownRead stands in [Group.Read] for a number that is not known.
const UnknownRead = -1

func (g *Group) append(dst []byte) []byte {
	dst = g.ceiling.append(g.floor.append(g.Last.append(dst)))
	dst = binary.AppendVarint(dst, g.Read)
	dst = binary.AppendUvarint(dst, uint64(g.Pending))
	dst = binary.AppendUvarint(dst, uint64(g.Consumers))
	dst = g.gap.append(dst) // older versions drop what follows from here on
	if g.due.kept {
		dst = g.due.append(dst, &g.gap)
	}
	return dst
}

func (g *Group) parse(b []byte) error {
	if len(b) < 3*idSize {
		return errStream
	}
	g.Last, g.floor, g.ceiling = idOf(b), idOf(b[idSize:]), idOf(b[2*idSize:])
	r := numbers{b: b[3*idSize:]}
	g.Read, g.Pending, g.Consumers = r.varint(), int64(r.uvarint()), int64(r.uvarint())
	if r.err != nil {
		return r.err
	}
	rest, err := g.gap.parse(r.b)
	if err != nil {
		return err
	}
	return g.due.parse(rest)
}

// Name is what the group is called.
func (g *Group) Name() []byte { return g.name }

// prefixed appends a name behind its length.
func prefixed(dst, name []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

// Group returns a group, or nil if there is none of that name. The stream was opened as a
// whole, or with its latch held.
func (s *Stream) Group(name []byte) (*Group, error) {
	if !s.v.Exists() || s.Groups == 0 {
		return nil, nil
	}
	value, ok, err := s.unit.Element(s.key, &s.v, append([]byte{kindGroup}, name...))
	if err != nil || !ok {
		return nil, err
	}
	g := &Group{s: s, name: name}
	return g, g.parse(value)
}

// AllGroups returns all groups in the order of their names. The stream is opened as for Group.
func (s *Stream) AllGroups() (all []*Group, err error) {
	if !s.v.Exists() || s.Groups == 0 {
		return nil, nil
	}
	it := s.unit.Elements(s.key, &s.v, []byte{kindGroup}, []byte{kindGroup + 1}, false)
	for uint64(len(all)) < s.Groups && nextChanging(it) {
		g := &Group{s: s, name: slices.Clone(it.Sub()[1:])}
		if err := g.parse(it.Value()); err != nil {
			return nil, errors.Join(err, it.Close())
		}
		all = append(all, g)
	}
	return all, it.Close()
}

// CreateGroup makes a group that does not exist, without consumers. The key exists. It is
// there once Save was called.
func (s *Stream) CreateGroup(name []byte, last ID, read int64) *Group {
	s.Groups++
	return &Group{Last: last, Read: read, s: s, name: name, changed: true, grown: groupSize}
}

// Destroy removes the group with all that belongs to it, which nothing of is read.
func (g *Group) Destroy() {
	s := g.s
	s.unit.RemoveElement(s.key, &s.v, append([]byte{kindGroup}, g.name...))
	for kind, n := range map[byte]int64{kindConsumer: g.Consumers, kindPending: g.Pending, kindOwned: g.Pending} {
		if n > 0 {
			s.removePrefix(prefixed([]byte{kind}, g.name))
		}
	}
	if g.due.kept {
		s.removePrefix(g.duePrefix())
	}
	s.Groups--
	s.noteHead(-groupSize - g.Consumers*consumerSize - g.Pending*pendingSize)
}

// removePrefix removes all elements whose sub keys begin so.
func (s *Stream) removePrefix(prefix []byte) {
	s.unit.RemoveElements(s.key, &s.v, prefix, prefixEnd(prefix))
}

// prefixEnd is the first key behind all that begin with a prefix, which begins with a kind.
func prefixEnd(prefix []byte) []byte {
	end := slices.Clone(prefix)
	for i := len(end) - 1; ; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
}

// Set makes an ID the newest that was delivered, the one with a number if that is known.
func (g *Group) Set(last ID, read int64) { g.Last, g.Read, g.changed = last, read, true }

// Save writes what has changed of the group and its consumers.
func (g *Group) Save() {
	s := g.s
	g.look()
	g.dropReleaser()
	for _, name := range slices.Sorted(maps.Keys(g.consumers)) {
		if c := g.consumers[name]; c != nil && c.changed {
			s.unit.SetElement(s.key, &s.v, g.consumerKey([]byte(name)), c.append(nil))
			c.changed = false
		}
	}
	if g.changed {
		if g.Pending == 0 {
			g.floor, g.ceiling, g.gap = ID{}, ID{}, gap{}
		}
		s.form = g.append(s.form[:0])
		s.unit.SetElement(s.key, &s.v, append([]byte{kindGroup}, g.name...), s.form)
		g.changed = false
	}
	if g.grown != 0 {
		s.noteHead(g.grown)
		g.grown = 0
	}
}
