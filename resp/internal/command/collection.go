package command

import (
	"cmp"
	"errors"
	"math"
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// What the commands on hashes and sets have in common, and some on sorted sets.

// OpenTable opens the table at a key to change it, or to look at one field. It has replied, and
// returns false, if that cannot be.
func (x *Call) OpenTable(t *collection.Table, key []byte, typ store.Type) bool {
	t.MaxPacked = int(x.Limits.Packed.Load())
	return x.Opened(key, t.Value(), t.Open(x.Unit, key, typ))
}

// OpenWholeTable is open for commands that look at more than one field.
func (x *Call) OpenWholeTable(t *collection.Table, key []byte, typ store.Type) bool {
	t.MaxPacked = int(x.Limits.Packed.Load())
	return x.Opened(key, t.Value(), t.OpenWhole(x.Unit, key, typ))
}

// Opened counts the key of a collection as read and reports whether it could be opened; otherwise
// it has replied.
func (x *Call) Opened(key []byte, v *store.Value, err error) bool {
	if err != nil && !errors.Is(err, collection.ErrType) {
		x.Fail(err)
		return false
	}
	x.CountRead(key, v)
	if err != nil {
		x.Error(MsgWrongType)
	}
	return err == nil
}

// NoteRemoved notes that elements of a table were removed, and the key if they were its last.
func (x *Call) NoteRemoved(key []byte, t *collection.Table, c store.EventClass, name string) {
	x.Unit.Note(c, name, key)
	if t.Len() == 0 {
		x.Unit.Note(store.EventGeneric, "del", key)
	}
}

// NoteStored notes that a result was stored in place of an old value, or that there was none and
// the key is gone.
func (x *Call) NoteStored(c store.EventClass, name string, key []byte, old store.Value, elements int64) {
	switch {
	case elements > 0:
		x.Unit.Note(c, name, key)
	case old.Exists():
		x.Unit.Note(store.EventGeneric, "del", key)
	}
}

// FieldFits reports whether a field, or a member, may be as long; otherwise it has replied.
func (x *Call) FieldFits(field []byte) bool {
	if int64(len(field)) > x.Limits.MaxKey.Load() {
		x.Error(MsgFieldTooLong)
		return false
	}
	return true
}

// ElementReply is about what an element adds to a reply beside its bytes.
const ElementReply = 16

// RunApart sees to a reply of about so many bytes. If it is large the command is run
// again, apart from others and without latches, where it may take its time; if it is larger
// than a client may have wait, the reply says so. In both cases deferred returns true and
// nothing is left to do.
func (x *Call) RunApart(size int64) bool {
	isLarge := size > LargeReply || int64(len(x.Buf))+size > x.Limits.OutputBuffer.Load()
	switch {
	case isLarge && x.RunAgainApart():
	case !x.FitsReply(size):
		x.RefuseByLimit(x.OverOutputBuffer())
	default:
		return false
	}
	return true
}

// RunAgainApart asks for another run, apart from others and without latches, and returns true, unless this is
// one, or the command is part of a transaction.
func (x *Call) RunAgainApart() bool {
	again := !x.InTransaction && (x.Unit.Latched() || len(x.Buf) > 0 || x.Host.RunsAhead() && !x.Apart)
	x.RunAgain = x.RunAgain || again
	return again
}

// Share is about how many bytes n of so many elements hold, of all of which there are size.
func Share(size, of, n int64) int64 { return int64(float64(size) / float64(max(of, 1)) * float64(n)) }

// FitsElements reports whether a reply of n of a collection's elements may be kept; otherwise it has
// replied. Whoever changes a collection cannot do it again, apart, with a reply of any size.
func (x *Call) FitsElements(v *store.Value, of, n int64) bool {
	if x.FitsReply(Share(v.Size, of, n) + n*ElementReply) {
		return true
	}
	x.ReplyTooLarge()
	return false
}

// Elements replies with so many elements, which list appends, or with what went wrong
// meanwhile.
func (x *Call) Elements(list func() error) {
	at := len(x.Buf)
	if err := list(); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
	}
}

// FailPart ends a command with an error, after part of its changes if some is done.
func (x *Call) FailPart(some bool, err error) {
	if some {
		x.Abort(err)
	} else {
		x.Fail(err)
	}
}

// TableScan is HSCAN, SSCAN and ZSCAN.
func (x *Call) TableScan(typ store.Type) {
	from, ok := ParseCursor(x.Args[2])
	if !ok {
		x.Fail(store.ErrCursor)
		return
	}
	t := &x.Table
	if !x.OpenWholeTable(t, x.Args[1], typ) {
		return
	}
	if !t.Value().Exists() {
		x.Array(2)
		x.BulkString("0")
		x.Array(0)
		return
	}
	o, msg := ParseScanOptions(x.Args[3:], typ)
	if msg != "" {
		x.Error(msg)
		return
	}
	all := string(o.Pattern) == "*"
	body, n, tooLarge := wire.Writer{}, 0, error(nil)
	average := t.Value().Size/max(t.Len(), 1) + ElementReply
	count := min(o.Count, max(LargeReply/2/average, 1)) // the reply is built with latches held
	next, err := t.Scan(uint64(from), count, func(field, value []byte) {
		if tooLarge != nil || !all && !glob.Match(o.Pattern, field, false) {
			return
		}
		if !x.FitsReply(int64(len(body.Buf)+len(field)+len(value)) + 2*ElementReply) {
			tooLarge = LimitError(x.OverOutputBuffer())
			return
		}
		body.Bulk(field)
		n++
		switch typ {
		case store.Hash:
			if !o.NoValues {
				body.Bulk(value)
				n++
			}
		case store.ZSet:
			body.Bulk(appendScanned(nil, collection.ScoreOf(value), t.Value().Raw))
			n++
		}
	})
	switch err = cmp.Or(err, tooLarge); {
	case err != nil:
		x.Fail(err)
	case !x.RunApart(int64(len(body.Buf))):
		x.Array(2)
		x.BulkString(strconv.FormatUint(next, 10))
		x.Array(n)
		x.Buf = append(x.Buf, body.Buf...)
	}
}

// appendScanned appends a score as ZSCAN shows it: that of a sorted set in the compact form
// as an integer, if it is one.
func appendScanned(dst []byte, score float64, large bool) []byte {
	if n := int64(score); !large && float64(n) == score && n != math.MaxInt64 {
		return AppendInt(dst, n)
	}
	return wire.AppendFloat(dst, score)
}

// Numbered is an element's number, which counts from the end if it is negative.
func Numbered(i, n int64) int64 {
	if i < 0 {
		return i + n
	}
	return i
}

// Within makes two numbers of elements, which may count from the end, such that lie in a
// list of n; from is above to if none lies between them.
func Within(from, to, n int64) (int64, int64) {
	return max(Numbered(from, n), 0), min(Numbered(to, n), n-1)
}
