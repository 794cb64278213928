package collection

import (
	"encoding/binary"
	"errors"

	"github.com/ringside-kv/ringside/store"
)

// A Stream is entries in the order of their IDs, and groups of consumers that each read them
// once. It is for the commands of one unit, as a [Table] is. It is never whole: streams are
// few and grow. One without an entry is a key still. Its sub keys are
//
//	'e' | ID                                   an entry: its fields and values
//	'g' | group                                a group, see group.go
//	'c' | group, its length first | consumer   a consumer, see consumer.go
//	'p' | group, its length first | ID         what is pending in a group, see pending.go
//	'o' | group, its length first | consumer, its length first | ID
//	'd' | group, its length first | time | ID  what is pending in the order of delivery, see group_due.go
//
// where 'o' says what is pending with a consumer. The header's head is a streamHead.
type Stream struct {
	base
	streamHead
}

const (
	kindEntry    = 'e'
	kindGroup    = 'g'
	kindConsumer = 'c'
	kindPending  = 'p'
	kindOwned    = 'o'
)

var errStream = errors.New("malformed stream")

// A streamHead is what a stream knows of itself beside the number of its entries.
type streamHead struct {
	// Last is the newest ID that there ever was.
	Last ID
	// First is the ID of the first entry, 0-0 if there is none. Iterators begin there, so they
	// do not pass the tombstones of entries that were removed before it.
	First ID
	// top is what First is at the other end: no entry lies behind it. It is that of the last
	// entry, or Last, as where an older version has written the head, which does not know it.
	top ID
	// MaxDeleted is the newest ID that was removed by itself, 0-0 if none was.
	MaxDeleted ID
	// Added is how many entries there ever were.
	Added uint64
	// Groups is how many groups there are.
	Groups uint64
	// beside is how many of the bytes are not entries but groups and what they know.
	beside int64
	// gap is where iterators pass nothing.
	gap gap
}

func (h *streamHead) append(dst []byte) []byte {
	dst = h.MaxDeleted.append(h.First.append(h.Last.append(dst)))
	dst = binary.AppendUvarint(dst, h.Added)
	dst = binary.AppendUvarint(dst, h.Groups)
	dst = binary.AppendUvarint(dst, uint64(h.beside))
	if h.top != h.Last || h.gap.passed > 0 { // older versions drop what follows
		dst = h.gap.append(h.top.append(dst))
	}
	return dst
}

func (h *streamHead) parse(b []byte) error {
	if len(b) < 3*idSize {
		return errStream
	}
	*h = streamHead{Last: idOf(b), First: idOf(b[idSize:]), MaxDeleted: idOf(b[2*idSize:])}
	r := numbers{b: b[3*idSize:]}
	h.Added, h.Groups, h.beside = r.uvarint(), r.uvarint(), int64(r.uvarint())
	if h.top = h.Last; r.err != nil || len(r.b) == 0 {
		return r.err
	}
	if len(r.b) < idSize {
		return errStream
	}
	h.top = idOf(r.b)
	_, err := h.gap.parse(r.b[idSize:])
	return err
}

// numbers are varints one behind the other.
type numbers struct {
	b   []byte
	err error
}

func (r *numbers) uvarint() uint64 {
	n, w := binary.Uvarint(r.b)
	if w <= 0 {
		r.err, w = errStream, 0
	}
	r.b = r.b[w:]
	return n
}

func (r *numbers) varint() int64 {
	n, w := binary.Varint(r.b)
	if w <= 0 {
		r.err, w = errStream, 0
	}
	r.b = r.b[w:]
	return n
}

// Open makes s the stream at a key, for whoever changes it, with the key's latch held, or asks
// what its head says. A key that does not exist is an empty stream.
func (s *Stream) Open(u *store.Unit, key []byte) error {
	v, err := u.Get(key)
	return s.opened(u, key, v, false, err)
}

// OpenWhole is Open for whoever looks at entries, groups or consumers: all is of one moment.
func (s *Stream) OpenWhole(u *store.Unit, key []byte) error {
	v, err := u.GetWhole(key)
	return s.opened(u, key, v, true, err)
}

// Over makes s the stream at a key that is going to be replaced, whatever v, what Get
// returned, is.
func (s *Stream) Over(u *store.Unit, key []byte, v store.Value) {
	_ = s.open(u, key, store.Stream, v, true, nil)
	s.streamHead = streamHead{}
}

func (s *Stream) opened(u *store.Unit, key []byte, v store.Value, steady bool, err error) error {
	s.streamHead = streamHead{}
	if err := s.open(u, key, store.Stream, v, steady, err); err != nil || !v.Exists() {
		return err
	}
	if v.Whole() {
		return errStream
	}
	return s.streamHead.parse(v.Inline)
}

// Len returns the number of entries.
func (s *Stream) Len() int64 { return s.v.Count }

// putHead notes how many entries there are and what they hold.
func (s *Stream) putHead(count, entries int64) {
	if count == 0 {
		s.top, s.gap = s.Last, gap{}
	}
	if s.top.Compare(s.Last) > 0 {
		s.top = s.Last
	}
	s.form = s.streamHead.append(s.form[:0])
	s.unit.PutHead(s.key, &s.v, count, entries+s.beside, s.form)
}

// noteHead is putHead where the entries are what they were and the bytes beside them have
// grown by some.
func (s *Stream) noteHead(grown int64) {
	entries := s.v.Size - s.beside
	s.beside += grown
	s.putHead(s.v.Count, entries)
}

// Create makes the key a stream without entries, unless it is one.
func (s *Stream) Create() error {
	if s.v.Exists() {
		return nil
	}
	if err := s.unit.Split(s.key, &s.v, store.Stream); err != nil {
		return err
	}
	s.putHead(0, 0)
	return nil
}

// entryKey makes s.sub the sub key of an entry.
func (s *Stream) entryKey(id ID) []byte {
	s.sub = id.append(append(s.sub[:0], kindEntry))
	return s.sub
}

// entrySize is what an entry counts.
func entrySize(value []byte) int64 { return idSize + int64(len(value)) }

// Add adds an entry, whose ID is behind Last: its fields, each followed by its value.
func (s *Stream) Add(id ID, fields [][]byte) error {
	if err := s.Create(); err != nil {
		return err
	}
	s.form = appendFields(s.form[:0], fields)
	s.unit.SetElement(s.key, &s.v, s.entryKey(id), s.form)
	s.Last, s.top = id, id
	if s.gap.has(id) { // Last was set to one before an entry that has gone
		s.gap = gap{}
	}
	if s.v.Count == 0 {
		s.First = id
	}
	s.Added++
	s.putHead(s.v.Count+1, s.v.Size-s.beside+entrySize(s.form))
	return nil
}

// Range calls yield for the entries from one ID to another, both included, until it returns
// false; backwards if back is set. The stream was opened as a whole, or with its latch held;
// yield must not keep what it is given, nor read the stream unless its latch is held. It may
// change the stream, which Range does not see.
func (s *Stream) Range(from, to ID, back bool, yield func(id ID, fields Fields) bool) error {
	it := s.entries(from, to, back)
	if it == nil {
		return nil
	}
	for it.Next() {
		id, fields, err := entryOf(it)
		if err != nil {
			return errors.Join(err, it.Close())
		}
		if !yield(id, fields) {
			break
		}
	}
	return it.Close()
}

func entryOf(it *store.Elements) (ID, Fields, error) {
	sub := it.Sub()
	if len(sub) != 1+idSize {
		return ID{}, Fields{}, errStream
	}
	fields, err := fieldsOf(it.Value())
	return idOf(sub[1:]), fields, err
}

// entries returns those from one ID to another, both included, or nil if there can be none.
func (s *Stream) entries(from, to ID, back bool) *store.Elements {
	if from.Compare(s.First) < 0 {
		from = s.First
	}
	if to.Compare(s.top) > 0 {
		to = s.top
	}
	if s.v.Count == 0 || from.Compare(to) > 0 {
		return nil
	}
	it := s.unit.Elements(s.key, &s.v, from.append([]byte{kindEntry}), behind(kindEntry, nil, to), back)
	s.gap.skip(it, []byte{kindEntry})
	return it
}

// behind is the first sub key behind that of an ID, after a kind and a prefix.
func behind(kind byte, prefix []byte, id ID) []byte {
	sub := append([]byte{kind}, prefix...)
	if next, ok := id.Next(); ok {
		return next.append(sub)
	}
	return append(id.append(sub), 0)
}

// Get returns an entry. It is opened as for Range.
func (s *Stream) Get(id ID) (fields Fields, ok bool, err error) {
	if !s.v.Exists() || id.Compare(s.First) < 0 || id.Compare(s.top) > 0 {
		return Fields{}, false, nil
	}
	value, ok, err := s.unit.Element(s.key, &s.v, s.entryKey(id))
	if err != nil || !ok {
		return Fields{}, false, err
	}
	fields, err = fieldsOf(value)
	return fields, err == nil, err
}

// Delete removes entries and returns how many there were.
func (s *Stream) Delete(ids []ID) (n int64, err error) {
	count, size := s.v.Count, s.v.Size-s.beside
	first, look := false, ID{}
	for _, id := range ids {
		if !s.v.Exists() || id.Compare(s.First) < 0 || id.Compare(s.top) > 0 {
			continue
		}
		value, ok, err := s.unit.Element(s.key, &s.v, s.entryKey(id))
		if err != nil {
			return n, err
		}
		if !ok {
			continue
		}
		s.unit.RemoveElement(s.key, &s.v, s.sub)
		first = first || id == s.First
		if looks(id) {
			look = id
		}
		if id.Compare(s.MaxDeleted) > 0 {
			s.MaxDeleted = id
		}
		n++
		size -= entrySize(value)
	}
	if n == 0 {
		return 0, nil
	}
	if count -= n; count == 0 {
		s.First, first, look = ID{}, false, ID{}
	}
	if first {
		if s.First, err = s.edge(false); err != nil {
			return n, err
		}
	}
	if !look.IsZero() {
		if err = s.look(look); err != nil {
			return n, err
		}
	}
	s.putHead(count, size)
	return n, nil
}

// look finds out how far there is nothing around the ID of an entry that has gone, in a stream that
// has others, and which knows the first one.
func (s *Stream) look(id ID) error {
	at := func(back bool) (ID, bool, int, error) {
		from, to := id, MaxID
		if back {
			from, to = ID{}, id
		}
		it := s.entries(from, to, back)
		if it == nil {
			return ID{}, false, 0, nil
		}
		near, ok, err := nextID(it)
		passed := it.Passed()
		return near, ok, passed, errors.Join(err, it.Close())
	}
	before, isBefore, passed, err := at(true)
	if err != nil || !isBefore {
		return err
	}
	behind, isBehind, more, err := at(false)
	if err != nil {
		return err
	}
	if !isBehind { // the next entry that is added comes behind the gap
		behind, _ = s.top.Next()
		s.top = before
	}
	s.gap.widen(before, behind, passed+more)
	return nil
}

// edge returns the ID of the first entry, or else of the last.
func (s *Stream) edge(last bool) (id ID, err error) {
	err = s.Range(ID{}, MaxID, last, func(at ID, _ Fields) bool {
		id = at
		return false
	})
	return id, err
}

// LastEntry returns the ID of the last entry, 0-0 if there is none. It is opened as for Range.
func (s *Stream) LastEntry() (ID, error) { return s.edge(true) }

// SetLast makes an ID the newest that there ever was, and notes how many entries were added,
// unless that is negative, and the newest that was removed, unless that is 0-0. The key
// exists.
func (s *Stream) SetLast(last ID, added int64, deleted ID) {
	s.Last = last
	if added >= 0 {
		s.Added = uint64(added)
	}
	if !deleted.IsZero() {
		s.MaxDeleted = deleted
	}
	s.noteHead(0)
}
