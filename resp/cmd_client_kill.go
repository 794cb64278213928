package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
)

// A clientFilter says which connections CLIENT KILL closes.
type clientFilter = admin.ClientFilter[*conn]

func cmdClientKill(x *call) {
	if len(x.Args) == 3 {
		x.killAddr(x.Args[2])
		return
	}
	f, msg := admin.ParseClientFilter(x.Args[2:], clientType, func(name string) bool { return x.srv.users.Now().Get(name) != nil })
	if msg != "" {
		x.Error(msg)
		return
	}
	x.Int(x.kill(&f))
}

// killAddr is the old form of the command.
func (x *call) killAddr(addr []byte) {
	if x.kill(&clientFilter{Addr: addr}) == 0 {
		x.Error("ERR No such client")
		return
	}
	x.OK()
}

// kill closes the connections that a filter lets through and returns their number.
// The caller's own still sends the reply.
func (x *call) kill(f *clientFilter) int64 {
	var n int64
	for _, c := range x.srv.snapshot() {
		if !matches(f, c) || f.SkipMe && c == x.conn {
			continue
		}
		if c == x.conn {
			c.closing = true
			n++
		} else if c.close() {
			n++
		}
	}
	return n
}

func matches(f *clientFilter, c *conn) bool {
	switch {
	case f.Is != nil && !f.Is(c):
	case f.User != "" && c.session.userName() != f.User:
	case f.ID != 0 && c.session.id != f.ID:
	case int64((c.srv.clock()-c.session.started)/time.Second) < f.MaxAge:
	case f.Addr != nil && c.net.RemoteAddr().String() != string(f.Addr):
	case f.LAddr != nil && c.net.LocalAddr().String() != string(f.LAddr):
	default:
		return true
	}
	return false
}
