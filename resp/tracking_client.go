package resp

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A tracker is what one client wants to be told. It never changes, but for what its
// connection's goroutine uses.
type tracker struct {
	conn      *conn
	broadcast bool
	optIn     bool
	optOut    bool
	noLoop    bool
	prefixes  []string // with broadcast: none begins another one, and "" is that of all keys
	wanted    uint64   // with broadcast: trackers.wanted since it has these, guarded by its lock
	redirect  int64    // the number of another connection that is told; 0: none
	target    *conn    // that connection
	broken    atomic.Bool
	// ready: what it is to be told of has come together. Its table's lock guards it.
	ready bool

	reads trackedReads
}

// wants reports whether a client in BCAST mode is told of a key.
func (t *tracker) wants(key []byte) bool { return t.broadcast && hasPrefix(key, t.prefixes) }

// hasPrefix reports whether a key's name begins with one of the prefixes.
func hasPrefix(key []byte, prefixes []string) bool {
	name := string(database.Name(key))
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// tell tells the client that keys have changed; without any, that all may have.
func (t *tracker) tell(keys ...[]byte) {
	c := t.conn
	if t.target != nil {
		if c = t.target; c.Closed.Load() {
			if !t.broken.Swap(true) && t.conn.session.proto.Load() == 3 {
				b := wire.AppendBulkString([]byte(">2\r\n"), "tracking-redir-broken")
				t.conn.pushes.Push(wire.AppendInt(b, t.redirect))
			}
			return
		}
	}
	var b []byte
	switch {
	case c.session.proto.Load() == 3:
		b = wire.AppendBulkString([]byte(">2\r\n"), "invalidate")
	case c != t.conn && c.takesMessages():
		b = wire.AppendBulkString(wire.AppendBulkString([]byte("*3\r\n"), "message"), "__redis__:invalidate")
	default:
		return // it could not tell it from a reply
	}
	switch {
	case len(keys) > 0:
		b = wire.AppendArray(b, len(keys))
		for _, key := range keys {
			b = wire.AppendBulk(b, database.Name(key))
		}
	case c.session.proto.Load() == 3:
		b = append(b, "_\r\n"...)
	default:
		b = append(b, "*-1\r\n"...)
	}
	c.pushes.Push(b)
}

// takesMessages reports whether a client of RESP2 expects what is no reply.
func (c *conn) takesMessages() bool { return c.session.watching.Load() || c.subs.Any() }
