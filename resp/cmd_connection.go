package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdPing(x *call) {
	switch len(x.Args) {
	case 1, 2:
		if x.conn.subscribed && x.Proto == 2 {
			x.Array(2)
			x.BulkString("pong")
			if len(x.Args) == 2 {
				x.Bulk(x.Args[1])
			} else {
				x.BulkString("")
			}
			return
		}
	}
	switch len(x.Args) {
	case 1:
		x.Simple("PONG")
	case 2:
		x.Bulk(x.Args[1])
	default:
		x.Error("ERR wrong number of arguments for 'ping' command")
	}
}

func cmdEcho(x *call) { x.Bulk(x.Args[1]) }

const (
	msgWrongPass = "WRONGPASS invalid username-password pair or user is disabled."
	msgNoPass    = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
)

func cmdAuth(x *call) {
	switch len(x.Args) {
	case 2:
		if x.srv.users.Now().Default().NeedsNoPassword() {
			x.Error(msgNoPass)
			return
		}
		if x.login([]byte("default"), x.Args[1]) {
			x.OK()
		}
	case 3:
		if x.login(x.Args[1], x.Args[2]) {
			x.OK()
		}
	default:
		x.Error(command.MsgSyntax)
	}
}

// login checks a name and password. It has replied, after a while, if they are
// wrong.
func (x *call) login(name, password []byte) bool {
	c := x.conn
	var user *acl.User
	right := func() bool {
		user = x.srv.users.Now().Login(name, password)
		return user != nil
	}
	start := x.srv.clock()
	ok := x.srv.logins.Check(c.net.RemoteAddr(), &c.session.waiting, c.gone, x.srv.stop, right)
	x.waited += x.srv.clock() - start
	if !ok {
		noteLogin(x, name)
		x.Error(msgWrongPass)
		return false
	}
	setUser(c, user)
	c.session.authed = true
	x.srv.unauthenticated.remove(x.conn)
	noteAudit(c, audit.Event{Kind: audit.Auth, OK: true, User: user.Name(), Command: x.Row.Full})
	return true
}

func cmdHello(x *call) {
	s := &x.conn.session
	proto := x.Proto
	args := x.Args[1:]
	if len(args) > 0 {
		n, ok := wire.ParseInt(args[0])
		if !ok {
			x.Error("ERR Protocol version is not an integer or out of range")
			return
		}
		if n != 2 && n != 3 {
			x.Error("NOPROTO unsupported protocol version")
			return
		}
		proto, args = int(n), args[1:]
	}
	var name, password, clientName []byte
	named := false
	for len(args) > 0 {
		switch {
		case wire.EqualFold(args[0], "auth") && len(args) >= 3:
			name, password = args[1], args[2]
			args = args[3:]
		case wire.EqualFold(args[0], "setname") && len(args) >= 2:
			if msg := command.BadClientName(args[1]); msg != "" {
				x.Error(msg)
				return
			}
			clientName, named = args[1], true
			args = args[2:]
		default:
			x.Error("ERR Syntax error in HELLO option '" + string(args[0]) + "'")
			return
		}
	}
	if name != nil && !x.login(name, password) {
		return
	}
	if !x.conn.authorized() {
		x.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
		return
	}
	if named {
		s.setName(string(clientName))
	}
	x.setProto(proto)
	zone := x.srv.cfg.Zone
	x.Map(7 + min(len(zone), 1)) // one field more with a zone
	x.BulkString("server")
	x.BulkString("redis")
	x.BulkString("version")
	x.BulkString(admin.RedisVersion)
	x.BulkString("proto")
	x.Int(int64(proto))
	x.BulkString("id")
	x.Int(s.id)
	x.BulkString("mode")
	x.BulkString(x.srv.mode())
	x.BulkString("role")
	x.BulkString("master")
	x.BulkString("modules")
	x.Array(0)
	if zone != "" {
		x.BulkString("availability_zone") // as in Valkey 8.1
		x.BulkString(zone)
	}
}

// setProto chooses the protocol version of this reply and those to come.
func (x *call) setProto(version int) {
	x.Proto = version
	x.conn.session.proto.Store(int32(version))
	if version < 3 {
		x.srv.Notices.Remove(&x.conn.pushes)
	}
}

func cmdQuit(x *call) {
	x.OK()
	x.conn.closing = true
}

// cmdReset makes the connection a fresh one; with a password set it must prove once
// more that it knows it.
func cmdReset(x *call) {
	s := &x.conn.session
	if s.monitor.Swap(false) {
		x.srv.monitors.Remove(&x.conn.pushes)
		x.conn.pushes.clear()
	}
	if s.watching.Swap(false) {
		x.srv.watchers.Remove(&x.conn.pushes)
		x.conn.pushes.clear()
	}
	if s.tracking.Load() != nil {
		x.untrack()
		x.conn.pushes.clear()
	}
	x.conn.multi.end()
	if x.srv.pubsub.RemoveAll(&x.conn.subs) {
		x.Buf = x.conn.pushes.take(x.Buf)
		x.conn.subscribed = false
	}
	s.redirect = x.srv.settings.Redirect.Load()
	s.readonly = false
	s.early, s.atomic = false, false
	s.noEvict.Store(false)
	s.noTouch.Store(false)
	x.conn.unit.SetNoTouch(false)
	s.database.Store(0)
	s.setName("")
	if s.replies == replyOff {
		s.replies = replyOn
	}
	setUser(x.conn, x.srv.users.Now().Default())
	if s.authed = needsNoLogin(x.conn, s.user.Load()); !s.authed {
		x.srv.unauthenticated.add(x.conn)
	}
	x.setProto(2)
	x.Simple("RESET")
}
