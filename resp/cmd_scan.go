package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// scanReply is the size, in bytes, at which a reply of SCAN ends, whatever COUNT
// says.
const scanReply = 1 << 20

// awaitSeen waits until what a scan or a count has seen is durable: else a crash
// could undo what a client was shown. If that cannot be, it has replaced the reply
// from byte at on by an error, and returns false.
func (x *call) awaitSeen(at int) bool {
	var done store.Signal
	if !x.srv.store.AwaitAll(&done) {
		return true
	}
	if err := done.Wait(); err != nil {
		x.Buf = x.Buf[:at]
		x.fail(err)
		return false
	}
	return true
}

// scanOptions are the options of SCAN.
type scanOptions struct {
	pattern  []byte
	count    int64
	typeName []byte // nil: any
}

func cmdScan(x *call) {
	from, ok := parseCursor(x.args[1])
	if !ok {
		x.fail(store.ErrCursor)
		return
	}
	o, msg := parseScanOptions(x.args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	if !from.Valid() { // behind the last key
		x.Array(2)
		x.BulkString("0")
		x.Array(0)
		return
	}
	l := x.newLister(o.pattern, scanReply)
	s := scan{x: x, o: &o, l: l, at: from}
	switch routes := x.srv.routes.Load(); {
	case routes == nil:
		_, err := s.here(ring.Whole)
		l.end(err, &s.at)
	case x.conn.from != nil:
		l.end(s.part(), &s.at)
	case x.conn.session.redirect:
		l.end(s.own(), &s.at)
	default:
		l.end(s.cluster(), &s.at)
	}
}

// parseScanOptions returns an error reply, or "".
func parseScanOptions(args [][]byte) (o scanOptions, msg string) {
	o.pattern, o.count = []byte("*"), 10
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return o, msgSyntax
		}
		switch {
		case wire.EqualFold(args[0], "match"):
			o.pattern = args[1]
		case wire.EqualFold(args[0], "type"):
			o.typeName = args[1]
		case wire.EqualFold(args[0], "count"):
			var ok bool
			if o.count, ok = wire.ParseInt(args[1]); !ok {
				return o, msgNotInteger
			}
			if o.count < 1 {
				return o, msgSyntax
			}
		default:
			return o, msgSyntax
		}
	}
	return o, ""
}

// parseCursor reads a cursor as Redis does with C's strtoul: a sign and leading zeros may be
// there, a negative number counts back from 2^64, and no digits at all are 0.
func parseCursor(b []byte) (store.Cursor, bool) {
	if len(b) == 0 {
		return 0, true
	}
	negative := b[0] == '-'
	if negative || b[0] == '+' {
		b = b[1:]
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	if negative {
		n = -n
	}
	return store.Cursor(n), err == nil
}
