package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/store"
)

// largeReply is the size of a string, in bytes, from which on its reply is
// streamed instead of kept with the replies of a pipeline.
const largeReply = 1 << 20

// stringRange replies with bytes off to off+n of the string at key.
func (x *call) stringRange(key []byte, v store.Value, off, n int64) {
	switch {
	case v.Whole():
		x.bulk(v.Inline[off : off+n])
	case n <= largeReply:
		x.collectString(key, v, off, n)
	case x.unit.Latched() || len(x.buf) > 0:
		x.again = true
	default:
		x.streamString(key, v, off, n)
	}
}

// wholeString replies with the whole string at key, at once: for commands that
// also change it. It reports whether it could be read.
func (x *call) wholeString(key []byte, v store.Value) bool {
	if v.Whole() {
		x.bulk(v.Inline)
		return true
	}
	return x.collectString(key, v, 0, v.Size)
}

func (x *call) collectString(key []byte, v store.Value, off, n int64) bool {
	at := len(x.buf)
	x.bulkHeader(int(n))
	var err error
	x.buf, err = x.unit.ReadRange(key, v, off, n, x.buf)
	if err != nil {
		x.buf = x.buf[:at]
		x.fail(err)
		return false
	}
	x.buf = append(x.buf, '\r', '\n')
	return true
}

// streamString sends a long string as it is read. The unit has no latches, so
// nobody waits for a client that reads slowly.
func (x *call) streamString(key []byte, v store.Value, off, n int64) {
	if err := x.unit.AwaitReads(); err != nil {
		x.fail(err)
		return
	}
	x.bulkHeader(int(n))
	for n > 0 {
		m := min(n, flushSize)
		var err error
		if x.buf, err = x.unit.ReadRange(key, v, off, m, x.buf); err != nil {
			// The length is out already: no error reply can follow.
			x.srv.log.Error("closing a client: its reply cannot be completed", "err", err)
			x.conn.closing = true
			x.conn.close()
			return
		}
		if x.conn.session.replies == replyOn {
			if x.conn.flush() != nil {
				x.conn.closing = true
				return
			}
		} else {
			x.buf = x.buf[:0]
		}
		off += m
		n -= m
	}
	x.buf = append(x.buf, '\r', '\n')
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// abort ends the unit's command with an error after part of it may have been
// done: the connection cannot tell which, and neither can the client.
func (x *call) abort(err error) { x.fail(err) }
