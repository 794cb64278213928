package rdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// A StreamID is the ID of an entry of a stream.
type StreamID struct{ Ms, Seq uint64 }

func (a StreamID) less(b StreamID) bool { return a.Ms < b.Ms || a.Ms == b.Ms && a.Seq < b.Seq }

// A StreamHead is what a stream knows beside its entries.
type StreamHead struct {
	Length                  uint64
	Last, First, MaxDeleted StreamID
	Added                   uint64
	// Short: the payload is of the first form, before Redis 7.0, and has only Length and
	// Last.
	Short bool
}

// A StreamGroup is a group of consumers.
type StreamGroup struct {
	Name []byte
	Last StreamID
	Read int64 // -1: not known
	// Unread: the payload is of the first form, which does not say what Read is.
	Unread bool
}

// A StreamPending is an entry that was delivered and not acknowledged.
type StreamPending struct {
	ID    StreamID
	Time  int64 // ms since 1970
	Count uint64
}

// A StreamVisitor is told what a stream holds, in the order of its methods. An error ends it.
// What it is given is valid until it returns.
type StreamVisitor interface {
	// Entry is called for each entry, in the order of their IDs; values follow their fields.
	Entry(id StreamID, fields [][]byte) error
	Head(StreamHead) error
	Group(StreamGroup) error
	// Consumer is called for each consumer of the group that was told of last; seen and active, -1 for
	// never, are in ms since 1970; forms before the third have only seen,
	Consumer(name []byte, seen, active int64) error
	// and Pending for each entry that is pending with the last consumer.
	Pending(StreamPending) error
	// Released is called behind the consumers of a group for each entry that is pending with none, in
	// the order in which they were released.
	Released(StreamPending) error
}

// Types of the forms of streams: Redis 7.0 writes the second, 7.2 the third, which knows when consumers
// were active, 8.6 the fourth, which knows of producers that send again what may not have arrived, and 8.8
// the fifth where consumers have released entries.
const (
	typeStream1 = 15
	typeStream2 = 19
	typeStream3 = 21
	typeStream4 = 26
	typeStream5 = 27
)

// ActiveVersion is the RDB version from which on payloads of streams say when consumers were active: that of
// Redis 7.2.
const ActiveVersion = 11

// ReleasedVersion is the RDB version that a payload of a stream needs with entries that were released: that
// of Redis 8.8.
const ReleasedVersion = 14

// Of an entry in a node.
const (
	entryDeleted    = 1
	entrySameFields = 2
)

// VisitStream tells of a Stream. The errors are those of Decode, and the visitor's. Names of
// groups and consumers that come twice are not noticed.
func (v *Value) VisitStream(visitor StreamVisitor) error {
	r := streamReader{p: v.body, enc: v.enc, most: v.most, visitor: visitor}
	r.read()
	if r.err == nil {
		r.err = CheckEnd(r.p)
	}
	if r.err != nil {
		return fmt.Errorf("decode %s: %w", v.Type, r.err)
	}
	return nil
}

// A streamReader reads on until something is wrong: then it reads nothing more.
type streamReader struct {
	p       []byte
	enc     byte
	most    limit
	visitor StreamVisitor
	err     error

	total  int64  // bytes of all strings so far
	length uint64 // entries so far
	last   StreamID
	fields [][]byte
	buf    []byte
	// active, unless it is nil, is told how many bytes are left before each time at which a consumer was
	// active.
	active func(left int)
}

func (r *streamReader) wrong(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
}

func (r *streamReader) uint() (n uint64) {
	if r.err == nil {
		n, r.p, r.err = readPlainLen(r.p)
	}
	return n
}

func (r *streamReader) fixed(n uint64, what string) (b []byte) {
	if r.err == nil && n > uint64(len(r.p)) {
		r.err = errShort(what)
	}
	if r.err != nil {
		return make([]byte, n)
	}
	b, r.p = r.p[:n], r.p[n:]
	return b
}

func (r *streamReader) time() int64 { return int64(binary.LittleEndian.Uint64(r.fixed(8, "time"))) }

func (r *streamReader) rawID() StreamID { return streamIDOf(r.fixed(16, "stream ID")) }

func streamIDOf(b []byte) StreamID {
	return StreamID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (r *streamReader) lenID() (id StreamID) {
	id.Ms = r.uint()
	id.Seq = r.uint()
	return id
}

func (r *streamReader) text() (b []byte) {
	if r.err == nil {
		b, r.p, r.err = readString(r.p, r.most)
		r.count(len(b))
	}
	return b
}

// count adds to the bytes that all strings have, which must not be more than one may have.
func (r *streamReader) count(n int) {
	if r.total += int64(n); r.total > r.most.bytes && r.err == nil {
		r.err = fmt.Errorf("%w: more than %d bytes in all", ErrTooLarge, r.most.bytes)
	}
}

func (r *streamReader) read() {
	for nodes := r.uint(); nodes > 0 && r.err == nil; nodes-- {
		r.node()
	}
	h := StreamHead{Length: r.uint(), Last: r.lenID(), Short: r.enc == typeStream1}
	if !h.Short {
		h.First, h.MaxDeleted, h.Added = r.lenID(), r.lenID(), r.uint()
	}
	switch {
	case h.Length != r.length:
		r.wrong("%d entries where %d are said to be", r.length, h.Length)
	case r.length > 0 && h.Last.less(r.last):
		r.wrong("an entry is behind the last ID")
	}
	if r.err == nil {
		r.err = r.visitor.Head(h)
	}
	for groups := r.uint(); groups > 0 && r.err == nil; groups-- {
		r.group(h.Short)
	}
	if r.enc >= typeStream4 {
		r.producers()
	}
}

// producers reads what the stream knows of idempotent producers: for how long and how many, who they are,
// and how many entries came once and again.
func (r *streamReader) producers() {
	r.uint()
	r.uint()
	if n := r.uint(); n > 0 && r.err == nil {
		r.err = fmt.Errorf("%w: stream with idempotent producers", ErrType)
	}
	r.uint()
	r.uint()
}

// node reads a node: entries by what tells them from the first.
func (r *streamReader) node() {
	var key, blob []byte
	if key, r.p, r.err = readString(r.p, r.most); r.err != nil {
		return
	}
	if len(key) != 16 {
		r.wrong("a node's ID of %d bytes", len(key))
		return
	}
	if blob, r.p, r.err = readString(r.p, r.most); r.err != nil {
		return
	}
	elements, err := listpack(blob)
	if err != nil {
		r.err = err
		return
	}
	n := nodeReader{streamReader: r, elements: elements, first: streamIDOf(key)}
	n.read()
}

func (r *streamReader) group(short bool) {
	g := StreamGroup{Name: r.text(), Last: r.lenID(), Read: -1, Unread: short}
	if !short {
		g.Read = int64(r.uint())
	}
	if r.err == nil {
		r.err = r.visitor.Group(g)
	}
	n := r.uint()
	if n > uint64(len(r.p))/(16+8+1) && r.err == nil {
		r.err = errShort("group")
	}
	if r.err != nil {
		return
	}
	pending := make([]StreamPending, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		p := StreamPending{ID: r.rawID(), Time: r.time(), Count: r.uint()}
		if len(pending) > 0 && !pending[len(pending)-1].ID.less(p.ID) {
			r.wrong("what is pending is not in order")
		}
		pending = append(pending, p)
	}
	r.consumers(pending)
}

// strconvInt reads an integer in a node.
func strconvInt(element []byte) (int64, error) {
	n, err := strconv.ParseInt(string(element), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: no number in a node of a stream", ErrFormat)
	}
	return n, nil
}
