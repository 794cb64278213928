package resp

import (
	"context"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// RING ATOMIC: an error within EXEC or a script undoes all of it. The unit that a transaction or script runs in keeps
// its changes in memory until its end (Unit.KeepAbortable), so it is undone as a request is that must be refused after
// it has written: see call.RefuseRequest. Nobody has seen anything of it then, neither keys nor events.
//
// The node of the client decides, and says so with what it forwards. A transaction may have commands on keys alone:
// others, such as CONFIG SET or FLUSHDB, cannot be undone.

const (
	msgUndone     = "EXECABORT Transaction undone because of: "
	msgNotUndoing = "EXECABORT Transaction discarded: RING ATOMIC takes commands on keys only, since others cannot be undone"
)

// isAtomic reports whether an error undoes the transaction or script that the connection runs.
func isAtomic(c *conn) bool {
	if c.from != nil {
		return c.from.atomic
	}
	return c.session.atomic || isAtomicUser(c.srv, c.session.userName())
}

func isAtomicUser(s *Server, user string) bool {
	routes := s.routes.Load()
	return routes != nil && routes.Values != nil && routes.Values.Of(agreed.AtomicUsers+user).Version != 0
}

// goesAtomic reports whether the owner of a request's keys has to know that an error undoes it.
func goesAtomic(c *conn, r *request) bool {
	return (r.cmd.Script || r.cmd.KeysOfExec) && isAtomic(c)
}

// undoTransaction has the transaction that runs undone if reply, of one of its commands, is an error. It reports whether
// it did.
func undoTransaction(x *call, reply []byte) bool {
	line, is := wire.ErrorLine(reply)
	if is = is && isAtomic(x.conn); is {
		x.RefuseRequest = msgUndone + line
	}
	return is
}

// undoScript has the script that has run undone if its reply is an error. It reports whether it did. One that is part of
// a transaction is undone with that.
func undoScript(x *call, reply []byte) bool {
	line, is := wire.ErrorLine(reply)
	if is = is && !x.InTransaction && isAtomic(x.conn); is {
		x.RefuseRequest = line
	}
	return is
}

// shipsAll reports whether all commands of the transaction run where the keys are.
func (m *multi) shipsAll() bool {
	for i := range m.cmds {
		if !m.cmds[i].ships() {
			return false
		}
	}
	return true
}

func sayOnOff(x *call, on bool) {
	if on {
		x.BulkString("on")
	} else {
		x.BulkString("off")
	}
}

// cmdRingAtomic is RING ATOMIC [ON|OFF], for this connection.
func cmdRingAtomic(x *call) {
	if len(x.Args) == 2 {
		sayOnOff(x, isAtomic(x.conn))
		return
	}
	on, ok := wire.OnOff(x.Args[2])
	switch {
	case !ok || len(x.Args) > 3:
		x.Error(command.MsgSyntax)
	case x.conn.multi.open:
		x.Error("ERR RING ATOMIC inside MULTI is not allowed")
	case !on && isAtomicUser(x.srv, x.conn.session.userName()):
		x.Error("ERR the user is atomic: see RING USER")
	default:
		x.conn.session.atomic = on
		x.OK()
	}
}

// cmdRingUser is RING USER name ATOMIC [ON|OFF].
func cmdRingUser(x *call) {
	user := string(x.Args[2])
	if len(x.Args) > 5 || !wire.EqualFold(x.Args[3], "atomic") {
		x.Error(command.MsgSyntax)
		return
	}
	if x.srv.users.Now().Get(user) == nil {
		x.Error("ERR there is no such user")
		return
	}
	if len(x.Args) == 4 {
		sayOnOff(x, isAtomicUser(x.srv, user))
		return
	}
	on, ok := wire.OnOff(x.Args[4])
	if !ok {
		x.Error(command.MsgSyntax)
		return
	}
	order(x, func(ctx context.Context, o Operator) error {
		change := agreed.Change{Name: agreed.AtomicUsers + user, Body: "on", Remove: !on}
		if !on {
			change.Body = ""
		}
		if routes := x.srv.routes.Load(); routes != nil {
			change.Was = routes.Values.Of(change.Name).Version
		}
		if on == (change.Was != 0) {
			return nil
		}
		_, err := o.Agree(ctx, []agreed.Change{change})
		return err
	})
}
