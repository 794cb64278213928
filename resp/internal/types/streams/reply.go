package streams

import (
	"errors"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

// Replies of streams are written before it is known how many elements they have, and how
// large they are.

// errReplySize ends what would become larger than a reply may be.
var errReplySize = errors.New("the reply is too large")

// entry replies with an entry.
func entry(r *wire.Writer, id collection.ID, fields collection.Fields) error {
	return entryOf(r, 2, id, fields)
}

// entryOf replies with an entry as an array of n elements, which may be more than entry's two.
func entryOf(r *wire.Writer, n int, id collection.ID, fields collection.Fields) error {
	r.Array(n)
	streamID(r, id)
	r.Array(fields.Len())
	return fields.Each(r.Bulk)
}

// insertLength puts the length of an array before what was appended from byte at on.
func insertLength(r *wire.Writer, at int, kind byte, n int) {
	var head [24]byte
	b := strconv.AppendInt(append(head[:0], kind), int64(n), 10)
	r.Buf = slices.Insert(r.Buf, at, append(b, '\r', '\n')...)
}

// entriesIn replies with up to count entries from one ID to another, all if count is 0. Of
// each it calls saw, unless that is nil. It returns errReplySize if they are more than may be
// kept; what it has appended is to be dropped with any error.
func entriesIn(x *command.Call, s *collection.Stream, from, to collection.ID, count int64, back bool, saw func(collection.ID)) (n int64, err error) {
	at := len(x.Buf)
	var failure error
	err = s.Range(from, to, back, func(id collection.ID, fields collection.Fields) bool {
		if failure = entry(x.Writer, id, fields); failure != nil {
			return false
		}
		if saw != nil {
			saw(id)
		}
		if n++; n == count {
			return false
		}
		if !mayGrow(x) {
			failure = errReplySize
		}
		return failure == nil
	})
	if err = errors.Join(failure, err); err == nil {
		insertLength(x.Writer, at, '*', int(n))
	}
	return n, err
}

// mayGrow reports whether the reply may grow: to what may be kept, and in a command that only
// reads to what deferred would not have made again.
func mayGrow(x *command.Call) bool {
	switch {
	case !x.FitsReply(0):
		return false
	case x.Row.Flags&command.FlagWrite != 0 || x.Apart || x.InTransaction || len(x.Buf)-x.Start <= command.LargeReply:
		return true
	}
	return !x.Unit.Latched() && x.Start == 0 && !x.Host.RunsAhead()
}

// endReply ends the reply of a command that only reads.
func endReply(x *command.Call, err error) {
	size := int64(len(x.Buf) - x.Start)
	switch {
	case err == nil && size <= command.LargeReply:
		return
	case errors.Is(err, errReplySize):
		x.Buf = x.Buf[:x.Start]
		if !x.RunAgainApart() {
			x.RefuseByLimit(x.OverOutputBuffer())
		}
	case err == nil:
		kept := x.Buf
		x.Buf = x.Buf[:x.Start]
		if !x.RunApart(size) {
			x.Buf = kept
		}
	default:
		x.Buf = x.Buf[:x.Start]
		x.Fail(err)
	}
}
