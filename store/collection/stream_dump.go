package collection

import (
	"errors"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

func rdbID(id ID) rdb.StreamID { return rdb.StreamID{Ms: id.Ms, Seq: id.Seq} }

func fromRDB(id rdb.StreamID) ID { return ID{id.Ms, id.Seq} }

// appendStream appends the payload for a stream, without its footer, and returns the RDB version that it
// needs.
func appendStream(dst []byte, u *store.Unit, key []byte, v store.Value, version int) (_ []byte, needs int, err error) {
	var s Stream
	if err := s.opened(u, key, v, true, nil); err != nil {
		return dst, 0, err
	}
	groups, err := s.AllGroups()
	if err != nil {
		return dst, 0, err
	}
	needs = rdb.OldestVersion
	for _, g := range groups {
		released, _, err := g.Released()
		if err != nil {
			return dst, 0, err
		}
		if released > 0 {
			needs = rdb.ReleasedVersion
		}
	}
	w := rdb.NewStreamWriter(dst, version, needs == rdb.ReleasedVersion)
	var failure error
	err = s.Range(ID{}, MaxID, false, func(id ID, f Fields) bool {
		failure = w.Entry(rdbID(id), f.Len(), f.Each)
		return failure == nil
	})
	if err := errors.Join(failure, err); err != nil {
		return dst, 0, err
	}
	w.Head(rdb.StreamHead{
		Length: uint64(s.Len()), Last: rdbID(s.Last), First: rdbID(s.First), MaxDeleted: rdbID(s.MaxDeleted), Added: s.Added,
	}, uint64(len(groups)))
	for _, g := range groups {
		if err := g.dump(w, needs == rdb.ReleasedVersion); err != nil {
			return dst, 0, err
		}
	}
	return w.Bytes(), needs, nil
}

func (g *Group) dump(w *rdb.StreamWriter, withReleased bool) error {
	w.Group(rdb.StreamGroup{Name: g.name, Last: rdbID(g.Last), Read: g.Read}, g.Pending)
	err := g.EachPending(ID{}, MaxID, func(p *Pending) bool {
		w.Pending(rdb.StreamPending{ID: rdbID(p.ID), Time: p.Delivered(), Count: p.Count})
		return true
	})
	if err != nil {
		return err
	}
	consumers, err := g.AllConsumers()
	if err != nil {
		return err
	}
	w.Consumers(int64(len(consumers)))
	for _, c := range consumers {
		w.Consumer(c.Name, c.Seen, c.Active, c.Pending)
		err := g.EachOwned(c, ID{}, MaxID, func(id ID) bool {
			w.Owned(rdbID(id))
			return true
		})
		if err != nil {
			return err
		}
	}
	if !withReleased {
		return nil
	}
	released, _, err := g.Released()
	if err != nil {
		return err
	}
	w.Released(released)
	return g.EachReleased(func(p *Pending) bool {
		w.Owned(rdbID(p.ID))
		return true
	})
}

// Restore makes s what the payload of a stream holds, whatever was there. check is shown the
// name of each group and consumer, and may refuse it. The expiry goes. With an error nothing
// was changed; ErrDuplicate if a name comes twice.
func (s *Stream) Restore(payload *rdb.Value, check func(name []byte) error) error {
	f := streamFilling{check: check}
	err := s.unit.Construct(s.key, &s.v, store.Stream, nil, func(set func(sub, value []byte) error) (count, size int64, err error) {
		f.set = set
		if err = payload.VisitStream(&f); err == nil {
			err = f.endGroup()
		}
		return f.count, 0, err
	})
	if errors.Is(err, store.ErrDuplicate) {
		err = ErrDuplicate
	}
	if err != nil {
		return err
	}
	s.streamHead = f.s.streamHead
	s.putHead(f.s.v.Count, f.size)
	return nil
}

// A streamFilling writes a stream that has no header yet.
type streamFilling struct {
	set   func(sub, value []byte) error
	check func(name []byte) error
	// s knows only how many entries there are, and its head.
	s     Stream
	g     *Group
	c     *Consumer
	count int64 // elements
	size  int64 // of entries
	buf   []byte
}

func (f *streamFilling) put(sub, value []byte) error {
	f.count++
	return f.set(sub, value)
}

// Entry is for rdb.StreamVisitor, as are the methods behind it.
func (f *streamFilling) Entry(id rdb.StreamID, fields [][]byte) error {
	at := fromRDB(id)
	if f.s.v.Count == 0 {
		f.s.First = at
	}
	f.s.top = at
	f.s.v.Count++
	f.buf = appendFields(f.buf[:0], fields)
	f.size += entrySize(f.buf)
	return f.put(f.s.entryKey(at), f.buf)
}

// Head keeps the first ID that was seen, whatever the payload says.
func (f *streamFilling) Head(h rdb.StreamHead) error {
	f.s.Last, f.s.MaxDeleted, f.s.Added = fromRDB(h.Last), fromRDB(h.MaxDeleted), h.Added
	if h.Short {
		f.s.Added = h.Length
	}
	return nil
}

func (f *streamFilling) Group(g rdb.StreamGroup) error {
	if err := errors.Join(f.endGroup(), f.check(g.Name)); err != nil {
		return err
	}
	f.g = f.s.CreateGroup(append([]byte(nil), g.Name...), fromRDB(g.Last), max(g.Read, UnknownRead))
	if n, ok := f.s.numberOf(f.g.Last); ok && g.Unread {
		f.g.Read = int64(n)
	}
	return nil
}

func (f *streamFilling) Consumer(name []byte, seen, active int64) error {
	if err := errors.Join(f.endConsumer(), f.check(name)); err != nil {
		return err
	}
	f.c = f.g.CreateConsumer(name, seen)
	f.c.Active = active
	return nil
}

// Released is for what is pending with the consumer that stands for none.
func (f *streamFilling) Released(p rdb.StreamPending) error {
	if f.c == nil || string(f.c.Name) != ReservedName {
		if err := f.endConsumer(); err != nil {
			return err
		}
		f.c = f.g.CreateConsumer([]byte(ReservedName), 0)
	}
	f.c.Seen++
	p.Time = f.c.Seen
	return f.Pending(p)
}

// Pending is for what is pending with the last consumer.
func (f *streamFilling) Pending(p rdb.StreamPending) error {
	q := Pending{ID: fromRDB(p.ID), Time: p.Time, Count: p.Count, Consumer: f.c.Name}
	f.c.Pending++
	f.g.added(q.ID)
	if err := f.put(f.g.ownedKey(f.c.Name, q.ID), nil); err != nil {
		return err
	}
	f.buf = q.append(f.buf[:0])
	return f.put(f.g.pendingKey(q.ID), f.buf)
}

func (f *streamFilling) endConsumer() error {
	c := f.c
	if f.c = nil; c == nil {
		return nil
	}
	delete(f.g.consumers, string(c.Name)) // not more than one is kept
	return f.put(f.g.consumerKey(c.Name), c.append(nil))
}

func (f *streamFilling) endGroup() error {
	if err := f.endConsumer(); err != nil || f.g == nil {
		return err
	}
	g := f.g
	f.g = nil
	f.s.beside += g.grown
	return f.put(append([]byte{kindGroup}, g.name...), g.append(nil))
}
