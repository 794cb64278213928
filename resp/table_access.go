package resp

import (
	"errors"
	"math"
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// What the commands on hashes and sets have in common, and some on sorted sets.

// open opens the table at a key to change it, or to look at one field. It has replied, and
// returns false, if that cannot be.
func (x *Call) open(t *collection.Table, key []byte, typ store.Type) bool {
	t.MaxPacked = int(x.limits.packed.Load())
	return x.opened(key, t.Value(), t.Open(x.unit, key, typ))
}

// openWhole is open for commands that look at more than one field.
func (x *Call) openWhole(t *collection.Table, key []byte, typ store.Type) bool {
	t.MaxPacked = int(x.limits.packed.Load())
	return x.opened(key, t.Value(), t.OpenWhole(x.unit, key, typ))
}

func (x *Call) opened(key []byte, v *store.Value, err error) bool {
	if err != nil && !errors.Is(err, collection.ErrType) {
		x.fail(err)
		return false
	}
	x.saw(key, v)
	if err != nil {
		x.Error(msgWrongType)
	}
	return err == nil
}

// removed notes that elements of a table were removed, and the key if they were its last.
func (x *Call) removed(key []byte, t *collection.Table, c store.EventClass, name string) {
	x.unit.Note(c, name, key)
	if t.Len() == 0 {
		x.unit.Note(store.EventGeneric, "del", key)
	}
}

// stored notes that a result was stored in place of an old value, or that there was none and
// the key is gone.
func (x *Call) stored(c store.EventClass, name string, key []byte, old store.Value, elements int64) {
	switch {
	case elements > 0:
		x.unit.Note(c, name, key)
	case old.Exists():
		x.unit.Note(store.EventGeneric, "del", key)
	}
}

// fieldFits reports whether a field, or a member, may be as long; otherwise it has replied.
func (x *Call) fieldFits(field []byte) bool {
	if int64(len(field)) > x.limits.maxKey.Load() {
		x.Error(msgFieldTooLong)
		return false
	}
	return true
}

// elementReply is about what an element adds to a reply beside its bytes.
const elementReply = 16

// deferred sees to a reply of about so many bytes. If it is large the command is run
// again, apart from others and without latches, where it may take its time; if it is larger
// than a client may have wait, the reply says so. In both cases deferred returns true and
// nothing is left to do.
func (x *Call) deferred(size int64) bool {
	fits := x.keepable(size)
	switch {
	case !x.inside && (size > largeReply || !fits) && (x.unit.Latched() || len(x.Buf) > 0 || x.host.runsAhead() && !x.apart):
		x.again = true
	case !fits:
		x.limit(x.overOutputBuffer())
	default:
		return false
	}
	return true
}

// share is about how many bytes n of so many elements hold, of all of which there are size.
func share(size, of, n int64) int64 { return int64(float64(size) / float64(max(of, 1)) * float64(n)) }

// keeps reports whether a reply of n of a collection's elements may be kept; otherwise it has
// replied. Whoever changes a collection cannot do it again, apart, with a reply of any size.
func (x *Call) keeps(v *store.Value, of, n int64) bool {
	if x.keepable(share(v.Size, of, n) + n*elementReply) {
		return true
	}
	x.replyTooLarge()
	return false
}

// elements replies with so many elements, which list appends, or with what went wrong
// meanwhile.
func (x *Call) elements(list func() error) {
	at := len(x.Buf)
	if err := list(); err != nil {
		x.Buf = x.Buf[:at]
		x.fail(err)
	}
}

// failPart ends a command with an error, after part of its changes if some is done.
func (x *Call) failPart(some bool, err error) {
	if some {
		x.abort(err)
	} else {
		x.fail(err)
	}
}

// tableScan is HSCAN, SSCAN and ZSCAN.
func (x *Call) tableScan(typ store.Type) {
	from, ok := parseCursor(x.args[2])
	if !ok {
		x.fail(store.ErrCursor)
		return
	}
	t := &x.table
	if !x.openWhole(t, x.args[1], typ) {
		return
	}
	if !t.Value().Exists() {
		x.Array(2)
		x.BulkString("0")
		x.Array(0)
		return
	}
	o, msg := parseScanOptions(x.args[3:])
	if msg == "" && o.typeName != nil {
		msg = msgSyntax
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	all := string(o.pattern) == "*"
	body, n := wire.Writer{}, 0
	next, err := t.Scan(uint64(from), o.count, func(field, value []byte) {
		if !all && !glob.Match(o.pattern, field, false) {
			return
		}
		body.Bulk(field)
		n++
		switch typ {
		case store.Hash:
			body.Bulk(value)
			n++
		case store.ZSet:
			body.Bulk(appendScanned(nil, collection.ScoreOf(value), t.Value().Raw))
			n++
		}
	})
	switch {
	case err != nil:
		x.fail(err)
	case !x.deferred(int64(len(body.Buf))):
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
		return appendInt(dst, n)
	}
	return wire.AppendFloat(dst, score)
}

// numbered is an element's number, which counts from the end if it is negative.
func numbered(i, n int64) int64 {
	if i < 0 {
		return i + n
	}
	return i
}

// within makes two numbers of elements, which may count from the end, such that lie in a
// list of n; from is above to if none lies between them.
func within(from, to, n int64) (int64, int64) {
	return max(numbered(from, n), 0), min(numbered(to, n), n-1)
}
