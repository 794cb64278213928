package resp

import (
	"context"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/swap"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Numbered databases. Before a client's request is routed, its keys are replaced by stored keys, which
// name the data that the database shows (package database). So routing, latches, blocking, WATCH, caching and
// messages between nodes know nothing of databases. Replies that name keys split them again. Commands without
// keys, as DBSIZE, ask [call.database].

// databaseOf returns the database of the next request; in a transaction, that behind queued SELECTs.
func databaseOf(c *conn) int {
	if c.multi.open {
		return c.multi.database
	}
	return int(c.session.database.Load())
}

// database is the data that a command without keys works on.
func (x *call) database() int {
	if asksNode(x) {
		return x.agreed.data
	}
	return x.srv.policies().Data(numberOf(x))
}

// numberOf returns the database of a client's command without keys.
func numberOf(x *call) int {
	if x.InScript {
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
	r.by = policies
	if n == 0 && policies == nil && r.cmd.OtherDatabase == nil && r.cmd.IsOnKey == nil && !slices.ContainsFunc(args[1:], database.MayHaveMark) {
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
func (s *Server) policies() *database.Policies { return s.routes.Load().policies() }

// Invariant: a unit runs on keys of the form that its routes ask for, and on none of a database whose
// policy changes or that is being swapped: asStored sees to it for each request, and scripts for keys that
// they have not declared.

// asStored brings the keys of a request into the form that the routes ask for. It returns ownerSelf, or
// else who serves the request: ownerHeld while a database changes, and ownerNone where this node, or the one that has
// forwarded the request, has not heard of a change: a swap, a new policy, or REPLICAOF.
func asStored(c *conn, r *request, routes *Routes, keys []command.KeyRef) int32 {
	changed := false
	switch by, now := r.by.Swaps(), routes.Policies.Swaps(); {
	case c.from != nil && c.from.known != routes.known(), c.from == nil && by != now && r.fixed:
		return ownerNone
	case c.from == nil && by != now:
		renewKeys(c, r, routes.Policies, keys)
	}
	if r.cmd.Rehomes { // the command looks at the forms
		return ownerSelf
	}
	for _, k := range keys {
		switch routes.Policies.FormOf(c.args[r.first+k.Pos]) {
		case database.Held:
			return ownerHeld
		case database.Changed:
			changed = true
		}
	}
	switch {
	case changed && c.from != nil:
		return ownerNone
	case changed:
		renewKeys(c, r, routes.Policies, keys)
	}
	if dividesGroup(c, r, routes.Policies, keys) {
		return ownerHeld
	}
	return ownerSelf
}

// renewKeys brings the keys of a client's request into the form that some policies ask for. A key that is
// watched counts as changed if it has moved, or its database was swapped: its token becomes one that never holds.
func renewKeys(c *conn, r *request, to *database.Policies, keys []command.KeyRef) {
	if !r.stored && !r.cmd.Between {
		r.replace(c, c.args[r.first:r.last], r.cmd)
	}
	args := c.args[r.first:r.last]
	for _, k := range keys {
		head, name := database.Split(args[k.Pos])
		now, swapped := to.Renewed(args[k.Pos], r.by)
		args[k.Pos] = database.AppendKey(nil, now, name)
		if watched := r.cmd.WatchedKeys(args); (swapped || now != head) && len(watched) > 0 && k.Pos < 3+len(watched) {
			args[k.Pos+1] = nil
		}
	}
	if r.by = to; r.cmd.Between { // what is sent is not made of the arguments otherwise
		first := r.first
		if r.as != nil {
			first -= asWords
		}
		r.raw = wire.AppendArray(nil, r.last-first)
		for _, arg := range c.args[first:r.last] {
			r.raw = wire.AppendBulk(r.raw, arg)
		}
	}
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
	w, msg := swap.Parse(x.Args, x.Databases())
	switch {
	case x.conn.session.redirect:
		msg = "ERR SWAPDB is not allowed in cluster mode"
	case msg == "" && w.A == w.B:
	case msg == "" && x.InScript:
		msg = "ERR SWAPDB is not possible in a script: it waits for what runs in the databases"
	case msg == "" && (x.srv.routes.Load() == nil || x.srv.cfg.Operator == nil):
		msg = "ERR this node is not part of a cluster"
	case msg == "":
		x.conn.footprint.MarkAll()
		_ = x.within(func(ctx context.Context) error {
			msg = swap.Run(ctx, swapper{x}, w, x.srv.forwardTimeout())
			return nil
		})
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	x.OK()
}

// A swapper implements swap.Cluster.
type swapper struct{ *call }

func (s swapper) View() swap.View {
	routes := s.srv.routes.Load()
	return swap.View{Values: routes.Values, Newer: routes.next}
}

func (s swapper) Agree(ctx context.Context, change agreed.Change) error {
	_, err := s.srv.cfg.Operator.Agree(ctx, []agreed.Change{change})
	return err
}

func (s swapper) Drained(change uint64) bool {
	defer func(at int) { s.Buf = s.Buf[:at] }(len(s.Buf))
	_, drained := s.scatter(min(drainTimeout, s.srv.forwardTimeout()), []byte("RING"), []byte("DRAINED"),
		[]byte("0"), strconv.AppendUint(nil, change, 10))
	return drained
}

// initTypeGate has the server agree with the other nodes before there is the first JSON value or filter. It has no other
// nodes to agree with on lists with chunks if it is not part of a cluster.
func initTypeGate(s *Server) {
	s.types.Values = func() *agreed.Values {
		if routes := s.routes.Load(); routes != nil {
			return routes.Values
		}
		return nil
	}
	s.settings.Chunks.Store(s.cfg.Operator == nil)
	if operator := s.cfg.Operator; operator != nil {
		s.types.Agree = func(ctx context.Context, change agreed.Change) error {
			_, err := operator.Agree(ctx, []agreed.Change{change})
			return err
		}
	}
}
