package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/glob"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A lister writes a list of keys as a reply. How many there are is known at the end
// only; so it leaves room for the head, and memory holds the keys once.
type lister struct {
	x       *call
	at      int    // where the reply begins
	pattern []byte // nil: all keys
	data    int    // whose keys are listed
	enough  int    // bytes at which the list ends
	n       int
	full    bool // the reply would be larger than the server allows
}

// listHead is room for the longest head, that of SCAN.
const listHead = len("*2\r\n$16\r\n9007199254740991\r\n*9223372036854775807\r\n")

// maxBulkHead is the most that a bulk string adds to its bytes.
const maxBulkHead = 32

func (x *call) newLister(pattern []byte, enough int) *lister {
	l := &lister{x: x, at: len(x.Buf), data: x.database(), enough: enough}
	// To Redis a single star means all keys, though it would not match the empty
	// one.
	if string(pattern) != "*" {
		l.pattern = pattern
	}
	x.Buf = append(x.Buf, make([]byte, listHead)...)
	return l
}

// add adds a stored key, if it is of the database and matches; it returns false when the list is to
// end.
func (l *lister) add(stored []byte) bool {
	x := l.x
	head, key := database.Split(stored)
	if head.Number() != l.data {
		return !x.conn.Closed.Load()
	}
	if l.full || x.conn.closing || x.conn.Closed.Load() {
		return false
	}
	if l.pattern != nil && !glob.Match(l.pattern, key, false) {
		return true
	}
	if int64(len(x.Buf)+len(key)+maxBulkHead) > x.srv.settings.OutputBuffer.Load() {
		l.full = true
		return false
	}
	before := cap(x.Buf)
	x.Bulk(key)
	l.n++
	if cap(x.Buf) > max(before, keepReply) {
		x.conn.replyBuf.charge()
	}
	return len(x.Buf)-l.at < l.enough
}

// addEncoded adds n keys that another node has listed as bulk strings.
func (l *lister) addEncoded(keys []byte, n int) {
	x := l.x
	if l.full || x.conn.closing {
		return
	}
	if int64(len(x.Buf)+len(keys)) > x.srv.settings.OutputBuffer.Load() {
		l.full = true
		return
	}
	before := cap(x.Buf)
	x.Buf = append(x.Buf, keys...)
	l.n += n
	if cap(x.Buf) > max(before, keepReply) {
		x.conn.replyBuf.charge()
	}
}

// isFull tells that the list has as many bytes as it may, or that nobody wants it any
// more.
func (l *lister) isFull() bool {
	return l.full || l.x.conn.closing || len(l.x.Buf)-l.at >= l.enough
}

// end completes the reply once what the list was made from is durable: an array of
// keys, or with a cursor the reply of SCAN.
func (l *lister) end(err error, next *store.Cursor) {
	x := l.x
	if x.conn.closing {
		return // the reply was too much for the server, and is gone
	}
	if err != nil || l.full {
		x.Buf = x.Buf[:l.at]
		if err != nil {
			x.Fail(err)
		} else {
			x.RefuseByLimit(x.OverOutputBuffer())
		}
		return
	}
	if !x.awaitSeen(l.at) {
		return
	}
	var head wire.Writer
	if next != nil {
		head.Array(2)
		head.Bulk(strconv.AppendUint(nil, uint64(*next), 10))
	}
	head.Array(l.n)
	n := l.at + copy(x.Buf[l.at:], head.Buf)
	n += copy(x.Buf[n:], x.Buf[l.at+listHead:])
	x.Buf = x.Buf[:n]
}
