package importer

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A digest tells values apart, whatever encoding they have: equal values have equal digests.
type digest [sha256.Size]byte

// digestOf returns the digest of a payload of DUMP. It covers the type and all that the value holds, but
// of consumers of streams not when they were seen last. A stream in the form before Redis 7.0 does not say how many
// entries were added and read, nor which was deleted last: isShort tells that, and with short the digest of any stream
// leaves these out.
func digestOf(payload []byte, short bool) (d digest, isShort bool, err error) {
	err = rdbfile.Split(payload, rdbfile.Config{MaxString: math.MaxInt64 / 2, MaxPart: math.MaxInt}, func(e *rdbfile.Entry) error {
		if e.Payload == nil {
			payload = nil
			s := newSummer(rdb.Module, 0)
			s.add(0, []byte(e.Reason))
			d = s.sum()
			return nil
		}
		payload = e.Payload
		return nil
	})
	if err != nil || payload == nil {
		return d, false, err
	}
	v, err := rdb.Decode(payload, 1<<40)
	if err != nil {
		return d, false, err
	}
	s := newSummer(v.Type, 0)
	switch v.Type {
	case rdb.String, rdb.JSON:
		s.add(0, v.Bytes)
	case rdb.Bloom:
		p := v.Pieces()
		for p.Next() {
			s.add(0, p.Piece())
		}
		err = p.Err()
	case rdb.List:
		err = v.Each(func(element, _ []byte) error { s.add(0, element); return nil })
	case rdb.Set:
		err = v.Each(func(member, _ []byte) error { s.mix(s.one(0, member)); return nil })
	case rdb.Hash:
		err = eachField(&v, func(field, value []byte, expiry int64) error {
			s.mix(s.one(uint64(expiry), field, value))
			return nil
		})
	case rdb.SortedSet:
		err = v.EachScore(func(member []byte, score float64) error {
			score += 0 // 0 in place of -0, which the text forms of Redis do not tell apart
			s.mix(s.one(math.Float64bits(score), member))
			return nil
		})
	case rdb.Stream:
		visitor := &streamSummer{summer: s, short: short}
		if err = v.VisitStream(visitor); err == nil {
			visitor.endGroup()
			isShort = visitor.isShort
		}
	}
	return s.sum(), isShort, err
}

// eachField calls yield for each field of a hash with its value and its expiry, 0 for none.
func eachField(v *rdb.Value, yield func(field, value []byte, expiry int64) error) error {
	if v.Timed() {
		return v.EachExpiring(yield)
	}
	return v.Each(func(field, value []byte) error { return yield(field, value, 0) })
}

// A summer makes a digest of pieces in their order, and of others in any order.
type summer struct {
	ordered hash.Hash
	mixed   digest
	count   uint64
	room    []byte
}

func newSummer(t rdb.Type, salt byte) *summer {
	s := &summer{ordered: sha256.New()}
	s.ordered.Write([]byte{byte(t), salt})
	return s
}

// encode makes texts distinct from others with the same bytes.
func (s *summer) encode(n uint64, texts ...[]byte) []byte {
	s.room = binary.BigEndian.AppendUint64(s.room[:0], n)
	for _, text := range texts {
		s.room = binary.BigEndian.AppendUint64(s.room, uint64(len(text)))
		s.room = append(s.room, text...)
	}
	return s.room
}

// add adds a piece behind the others.
func (s *summer) add(n uint64, texts ...[]byte) { s.ordered.Write(s.encode(n, texts...)) }

func (s *summer) one(n uint64, texts ...[]byte) digest { return sha256.Sum256(s.encode(n, texts...)) }

// mix adds a piece whose place does not matter.
func (s *summer) mix(d digest) {
	s.count++
	for i := range d {
		s.mixed[i] ^= d[i]
	}
}

func (s *summer) sum() (d digest) {
	s.add(s.count, s.mixed[:])
	s.ordered.Sum(d[:0])
	return d
}

// A streamSummer makes the digest of a stream.
type streamSummer struct {
	*summer
	short    bool // leave out what isShort is about
	isShort  bool
	group    *summer // of the group that is being told of
	consumer []byte
}

func (s *streamSummer) id(id rdb.StreamID) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, id.Ms), id.Seq)
}

// Entry is told of an entry.
func (s *streamSummer) Entry(id rdb.StreamID, fields [][]byte) error {
	s.add(uint64(len(fields)), append([][]byte{s.id(id)}, fields...)...)
	return nil
}

// Head is told what the stream knows of itself.
func (s *streamSummer) Head(h rdb.StreamHead) error {
	s.add(h.Length, s.id(h.Last))
	if s.isShort = h.Short; !h.Short && !s.short {
		s.add(h.Added, s.id(h.MaxDeleted))
	}
	return nil
}

// Group is told of a group.
func (s *streamSummer) Group(g rdb.StreamGroup) error {
	s.endGroup()
	s.group = newSummer(rdb.Stream, 1)
	read := g.Read
	if g.Unread || s.short {
		read = 0
	}
	s.group.add(uint64(read), g.Name, s.id(g.Last))
	return nil
}

func (s *streamSummer) endGroup() {
	if s.group != nil {
		s.mix(s.group.sum())
		s.group = nil
	}
}

// Consumer is told of a consumer.
func (s *streamSummer) Consumer(name []byte, _, _ int64) error {
	s.consumer = append(s.consumer[:0], name...)
	s.group.mix(s.group.one(0, name))
	return nil
}

// Pending is told of an entry that the consumer has not acknowledged.
func (s *streamSummer) Pending(p rdb.StreamPending) error {
	s.group.mix(s.group.one(p.Count, s.consumer, s.id(p.ID), binary.BigEndian.AppendUint64(nil, uint64(p.Time))))
	return nil
}

// Released is told of an entry that is pending with no consumer.
func (s *streamSummer) Released(p rdb.StreamPending) error {
	s.group.add(p.Count, s.id(p.ID))
	return nil
}
