package resp

import (
	"errors"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/store/collection"
)

// Replies of streams are written before it is known how many elements they have, and how
// large they are.

// errReplySize ends what would become larger than a reply may be.
var errReplySize = errors.New("the reply is too large")

// entry replies with an entry.
func (r *reply) entry(id collection.ID, fields collection.Fields) error {
	r.array(2)
	r.streamID(id)
	r.array(fields.Len())
	return fields.Each(r.bulk)
}

// insertLength puts the length of an array before what was appended from byte at on.
func (r *reply) insertLength(at int, kind byte, n int) {
	var head [24]byte
	b := strconv.AppendInt(append(head[:0], kind), int64(n), 10)
	r.buf = slices.Insert(r.buf, at, append(b, '\r', '\n')...)
}

// entriesIn replies with up to count entries from one ID to another, all if count is 0. Of
// each it calls saw, unless that is nil. It returns errReplySize if they are more than may be
// kept; what it has appended is to be dropped with any error.
func (x *Call) entriesIn(s *collection.Stream, from, to collection.ID, count int64, back bool, saw func(collection.ID)) (n int64, err error) {
	at := len(x.buf)
	var failure error
	err = s.Range(from, to, back, func(id collection.ID, fields collection.Fields) bool {
		if failure = x.entry(id, fields); failure != nil {
			return false
		}
		if saw != nil {
			saw(id)
		}
		if n++; n == count {
			return false
		}
		if !x.mayGrow() {
			failure = errReplySize
		}
		return failure == nil
	})
	if err = errors.Join(failure, err); err == nil {
		x.insertLength(at, '*', int(n))
	}
	return n, err
}

// mayGrow reports whether the reply may grow: to what may be kept, and in a command that only
// reads to what deferred would not have made again.
func (x *Call) mayGrow() bool {
	switch {
	case !x.keepable(0):
		return false
	case x.cmd.flags&flagWrite != 0 || x.apart || x.inside || len(x.buf)-x.start <= largeReply:
		return true
	}
	return !x.unit.Latched() && x.start == 0 && !x.host.runsAhead()
}

// endReply ends the reply of a command that only reads.
func (x *Call) endReply(err error) {
	size := int64(len(x.buf) - x.start)
	switch {
	case err == nil && size <= largeReply:
		return
	case err == nil || errors.Is(err, errReplySize):
		kept := x.buf
		x.buf = x.buf[:x.start]
		if !x.deferred(size) {
			x.buf = kept
		}
	default:
		x.buf = x.buf[:x.start]
		x.fail(err)
	}
}
