package resp

import (
	"slices"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Numbered databases. Before a client's request is routed, its keys are replaced by stored keys, which
// name the database (package database). So routing, latches, blocking, WATCH, caching and messages between
// nodes know nothing of databases. Replies that name keys split them again. Commands without keys, as
// DBSIZE, ask [call.database].

// databaseOf returns the database of the next request; in a transaction, that behind queued SELECTs.
func databaseOf(c *conn) int {
	if c.multi.open {
		return c.multi.database
	}
	return int(c.session.database.Load())
}

// database is that of a command without keys.
func (x *call) database() int {
	switch {
	case x.conn.from != nil && !x.InScript:
		return x.agreed.database
	case x.InScript:
		return x.scriptDatabase
	}
	return int(x.conn.session.database.Load())
}

// storeKeys replaces the keys of a client's request by stored keys, in the database of the next
// request. It may be called again when the client has selected another one.
func storeKeys(c *conn, r *request) {
	r.toWritten()
	args, n := c.args[r.first:r.last], databaseOf(c)
	policies := c.srv.policies()
	if n == 0 && policies == nil && r.cmd.OtherDatabase == nil && !slices.ContainsFunc(args[1:], database.MayHaveMark) {
		return
	}
	if r.cmd.OtherDatabase != nil {
		awaitDatabases(&c.call)
	}
	cmd, stored := c.srv.table.StoredKeys(r.cmd, args, n, c.call.Databases(), policies)
	if stored != nil {
		r.replace(c, stored, cmd)
	}
}

// replace replaces what the client wrote, until toWritten.
func (r *request) replace(c *conn, args [][]byte, cmd *command.Row) {
	r.written, r.writtenCmd, r.stored = [2]int32{int32(r.first), int32(r.last)}, r.cmd, true
	r.first = len(c.args)
	c.args = append(c.args, args...)
	r.last, r.cmd = len(c.args), cmd
}

// policies are those of the databases by the present routes.
func (s *Server) policies() *database.Policies {
	if r := s.routes.Load(); r != nil {
		return r.Policies
	}
	return nil
}

// Invariant: a unit runs on keys of the form that its routes ask for, and on none of a database whose
// policy changes: asStored sees to it for each request, and scripts for keys that they have not declared.

// asStored brings the keys of a request into the form that the routes ask for. It returns ownerSelf, or
// else who serves the request: ownerHeld while the policy of a database changes, and ownerNone where the
// node that has forwarded the request has not heard of the policy, or this one has not.
func asStored(c *conn, r *request, routes *Routes, keys []command.KeyRef) int32 {
	changed := false
	for _, k := range keys {
		switch routes.Policies.FormOf(c.args[r.first+k.Pos]) {
		case database.Held:
			return ownerHeld
		case database.Changed:
			changed = true
		}
	}
	switch {
	case !changed:
		return ownerSelf
	case c.from != nil:
		return ownerNone
	}
	if !r.stored && !r.cmd.Between {
		r.replace(c, c.args[r.first:r.last], r.cmd)
	}
	for _, k := range keys {
		head, name := database.Split(c.args[r.first+k.Pos])
		c.args[r.first+k.Pos] = database.AppendKey(nil, routes.Policies.Head(head.Number()), name)
	}
	return ownerSelf
}

// toWritten undoes storeKeys.
func (r *request) toWritten() {
	if r.stored {
		r.first, r.last, r.cmd, r.stored = int(r.written[0]), int(r.written[1]), r.writtenCmd, false
	}
}

// restoreKeys brings the requests from one on in line with the database of the next request, if that has
// changed since they were resolved.
func restoreKeys(c *conn, reqs []request) {
	n := databaseOf(c)
	if n == c.stored || c.from != nil {
		return
	}
	c.stored = n
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && len(r.cmd.Keys) > 0 {
			storeKeys(c, r)
		}
	}
}

// awaitDatabases waits until a node that starts knows how many databases there are, as long as it would
// wait with a key.
func awaitDatabases(x *call) {
	for end := x.srv.clock() + x.srv.forwardTimeout(); x.srv.cfg.Databases() == 0; {
		routes, left := x.srv.routes.Load(), end-x.srv.clock()
		if routes == nil || left <= 0 || !x.awaitRoutes(routes, left) {
			return
		}
	}
}

func cmdSelect(x *call) {
	n, ok := wire.ParseInt(x.Args[1])
	if n != 0 {
		awaitDatabases(x)
	}
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
	case n != int64(int32(n)):
		x.Error(command.MsgDatabaseRange)
	case n != 0 && x.conn.session.redirect:
		x.Error("ERR SELECT is not allowed in cluster mode")
	case n < 0 || n >= int64(x.Databases()):
		x.Error(command.MsgNoDatabase)
	default:
		if x.InScript {
			x.scriptDatabase = int(n)
		} else {
			x.conn.session.database.Store(int32(n))
		}
		x.OK()
	}
}

// noteSelect notes a SELECT that is queued in a transaction: the commands behind it work in that database.
func noteSelect(c *conn, r *request) {
	if r.cmd.Name != "select" {
		return
	}
	awaitDatabases(&c.call)
	if n, ok := wire.ParseInt(c.args[r.first+1]); ok && n >= 0 && n < int64(c.call.Databases()) && !c.session.redirect {
		c.multi.database = int(n)
	}
}

// cmdMove replies why nothing is moved. What can be moved has become RING MOVE.
func cmdMove(x *call) {
	n, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
	case n != int64(int32(n)):
		x.Error(command.MsgDatabaseRange)
	case n < 0 || n >= int64(x.Databases()):
		x.Error(command.MsgNoDatabase)
	default:
		x.Error("ERR source and destination objects are the same")
	}
}

func cmdSwapdb(x *call) {
	a, ok1 := wire.ParseInt(x.Args[1])
	b, ok2 := wire.ParseInt(x.Args[2])
	most := int64(x.Databases())
	switch {
	case !ok1 || a != int64(int32(a)):
		x.Error("ERR invalid first DB index")
	case !ok2 || b != int64(int32(b)):
		x.Error("ERR invalid second DB index")
	case a < 0 || a >= most || b < 0 || b >= most:
		x.Error(command.MsgNoDatabase)
	case a != b:
		x.Error("ERR SWAPDB is not supported: a key names its database, so all keys would have to be written anew")
	default:
		x.OK()
	}
}
