package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A clientFilter says which connections CLIENT KILL closes; what is zero does not
// matter.
type clientFilter struct {
	id          int64
	addr, laddr []byte
	user        string
	is          func(*conn) bool // of a type
	skipMe      bool
}

func cmdClientKill(x *call) {
	if len(x.Args) == 3 {
		x.killAddr(x.Args[2])
		return
	}
	f, msg := parseClientFilter(x.srv.users.Now(), x.Args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	x.Int(x.kill(&f))
}

// killAddr is the old form of the command.
func (x *call) killAddr(addr []byte) {
	if x.kill(&clientFilter{addr: addr}) == 0 {
		x.Error("ERR No such client")
		return
	}
	x.OK()
}

// parseClientFilter returns an error reply, or "".
func parseClientFilter(users *acl.Users, args [][]byte) (f clientFilter, msg string) {
	f.skipMe = true
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return f, command.MsgSyntax
		}
		value := args[1]
		switch name := args[0]; {
		case wire.EqualFold(name, "id"):
			id, ok := wire.ParseInt(value)
			if !ok || id < 1 {
				return f, "ERR client-id should be greater than 0"
			}
			f.id = id
		case wire.EqualFold(name, "type"):
			is, ok := clientType(value)
			if !ok {
				return f, unknownType(value)
			}
			f.is = is
		case wire.EqualFold(name, "addr"):
			f.addr = value
		case wire.EqualFold(name, "laddr"):
			f.laddr = value
		case wire.EqualFold(name, "user"):
			if f.user = string(value); users.Get(f.user) == nil {
				return f, "ERR No such user '" + string(command.Shown(value, 128)) + "'"
			}
		case wire.EqualFold(name, "skipme") && wire.EqualFold(value, "yes"):
			f.skipMe = true
		case wire.EqualFold(name, "skipme") && wire.EqualFold(value, "no"):
			f.skipMe = false
		default:
			return f, command.MsgSyntax
		}
	}
	return f, ""
}

// kill closes the connections that a filter lets through and returns their number.
// The caller's own still sends the reply.
func (x *call) kill(f *clientFilter) int64 {
	var n int64
	for _, c := range x.srv.snapshot() {
		if !f.matches(c) || f.skipMe && c == x.conn {
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

func (f *clientFilter) matches(c *conn) bool {
	switch {
	case f.is != nil && !f.is(c):
	case f.user != "" && c.session.userName() != f.user:
	case f.id != 0 && c.session.id != f.id:
	case f.addr != nil && c.net.RemoteAddr().String() != string(f.addr):
	case f.laddr != nil && c.net.LocalAddr().String() != string(f.laddr):
	default:
		return true
	}
	return false
}
