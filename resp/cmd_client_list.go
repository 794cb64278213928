package resp

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdClientInfo(x *call) {
	x.Verbatim(string(x.appendClient(nil, x.conn)))
}

func cmdClientList(x *call) {
	conns := x.srv.snapshot()
	switch {
	case len(x.Args) == 2:
	case len(x.Args) == 4 && wire.EqualFold(x.Args[2], "type"):
		if conns = x.ofType(conns, x.Args[3]); conns == nil {
			return
		}
	case len(x.Args) > 3 && wire.EqualFold(x.Args[2], "id"):
		var ok bool
		if conns, ok = x.withIDs(x.Args[3:]); !ok {
			return
		}
	default:
		x.Error(command.MsgSyntax)
		return
	}
	var list []byte
	for _, c := range conns {
		if !c.Closed.Load() { // one that was killed a moment ago
			list = x.appendClient(list, c)
		}
	}
	x.Verbatim(string(list))
}

// ofType returns those connections that are of a type. It has replied, and returns nil, if
// there is no such type.
func (x *call) ofType(conns []*conn, name []byte) []*conn {
	is, ok := clientType(name)
	if !ok {
		x.Error(admin.UnknownClientType(name))
		return nil
	}
	return slices.DeleteFunc(conns, func(c *conn) bool { return !is(c) })
}

// clientType returns who is of a type, and whether there is such a type at all.
func clientType(name []byte) (is func(*conn) bool, ok bool) {
	switch {
	case wire.EqualFold(name, "normal"):
		return func(c *conn) bool { return !c.subs.Any() && !c.session.replica.Load() }, true
	case wire.EqualFold(name, "pubsub"):
		return func(c *conn) bool { return c.subs.Any() }, true
	case wire.EqualFold(name, "slave"), wire.EqualFold(name, "replica"):
		return func(c *conn) bool { return c.session.replica.Load() }, true
	case wire.EqualFold(name, "master"):
		return func(*conn) bool { return false }, true
	}
	return nil, false
}

// withIDs returns the connections of the given numbers, as far as there are such. It
// has replied, and returns false, if one is no number.
func (x *call) withIDs(args [][]byte) (conns []*conn, ok bool) {
	for _, arg := range args {
		id, ok := wire.ParseInt(arg)
		if !ok {
			x.Error("ERR Invalid client ID")
			return nil, false
		}
		if c := x.srv.connection(id); c != nil {
			conns = append(conns, c)
		}
	}
	return conns, true
}

// connection returns the connection of that number, or nil.
func (s *Server) connection(id int64) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id]
}

// appendClient appends the line that describes a connection. What has no meaning
// here is shown as it is for a client of Redis that has none.
func (x *call) appendClient(dst []byte, c *conn) []byte {
	s := &c.session
	now := x.srv.clock()
	queued, t := c.multi.count.Load()-1, s.tracking.Load()
	flags := ""
	for _, flag := range []struct {
		letter string
		is     bool
	}{
		{"O", s.monitor.Load()}, {"S", s.replica.Load()}, {"P", c.subs.Any()}, {"b", s.waiting.Load()}, {"x", queued >= 0},
		{"t", t != nil}, {"R", t != nil && t.broken.Load()}, {"B", t != nil && t.broadcast},
		{"U", c.net.RemoteAddr().Network() == "unix"}, {"e", s.noEvict.Load()}, {"T", s.noTouch.Load()},
	} {
		if flag.is {
			flags += flag.letter
		}
	}
	if flags == "" {
		flags = "N"
	}
	last := "NULL"
	if cmd := s.lastCmd.Load(); cmd != nil {
		last = cmd.Full
	}
	s.mu.Lock()
	name, libName, libVer := s.name, s.libName, s.libVer
	s.mu.Unlock()
	request, arguments := 0, 0 // bytes of this request, which is the one of its client
	if c == x.conn {
		request = len(wire.AppendArray(nil, len(x.Args)))
		for _, arg := range x.Args {
			request += len(wire.AppendBulk(nil, arg))
			arguments += len(arg)
		}
	}
	memory, pushes := x.srv.budget.Of(&c.Account), c.pushes.waiting()
	return fmt.Appendf(dst, "id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d"+
		" multi=%d watch=%d qbuf=%d qbuf-free=0 argv-mem=%d multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=%d tot-mem=%d events=r"+
		" cmd=%s user=%s redir=%d resp=%d lib-name=%s lib-ver=%s\n",
		s.id, c.net.RemoteAddr(), c.net.LocalAddr(), c.descriptor(), name, int64((now-s.started)/time.Second),
		int64((now-time.Duration(s.lastUsed.Load()))/time.Second), flags, s.database.Load(), c.subs.Of(pubsub.Channel), c.subs.Of(pubsub.Pattern),
		c.subs.Of(pubsub.Shard), queued, c.multi.watching.Load(), request, arguments, pushes, memory, last, s.userName(), c.redirection(), s.proto.Load(), libName, libVer)
}

// descriptor returns the number of the connection's socket, -1 if it has none.
func (c *conn) descriptor() int {
	if c.direct == nil {
		return -1
	}
	return c.direct.Descriptor()
}
