package resp

import (
	"bytes"
	"cmp"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/monitoring"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/wire"
)

// MULTI and what belongs to it.

// msgSwapped answers a request that must not be run with the data that its database shows by now.
const msgSwapped = "TRYAGAIN a database was swapped meanwhile"

func cmdMulti(x *call) {
	m := &x.conn.multi
	if m.open {
		x.Error("ERR MULTI calls can not be nested")
		return
	}
	m.open, m.database = true, int(x.conn.session.database.Load())
	m.count.Store(1)
	x.OK()
}

func cmdDiscard(x *call) {
	if !x.conn.multi.open {
		x.Error("ERR DISCARD without MULTI")
		return
	}
	x.conn.multi.end()
	x.OK()
}

func cmdUnwatch(x *call) {
	if !x.InTransaction { // EXEC forgets them anyhow
		x.conn.multi.end()
	}
	x.OK()
}

// cmdWatch asks whoever serves the keys what they are like.
func cmdWatch(x *call) {
	c, m := x.conn, &x.conn.multi
	if m.open {
		x.Error("ERR WATCH inside MULTI is not allowed")
		return
	}
	keys, size := x.Args[1:], int64(0)
	for _, key := range keys {
		size += int64(len(key)) + queuedCost
	}
	if len(keys)+len(m.watched) > int(x.srv.settings.MaxArgs.Load())/4 || !m.charge(c, size) {
		x.Error(msgNotQueued)
		return
	}
	m.begin(c)
	reply, msg := x.ask(wire.SubRequest("RING", "WATCH", keys...), x.req.by, true)
	if msg == msgSwapped {
		refs, _ := x.Row.KeysOf(x.Args, nil)
		renewKeys(c, x.req, x.srv.policies(), refs)
		x.Args = c.args[x.req.first:x.req.last]
		cmdWatch(x)
		return
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	tokens, _ := wire.ArrayBody(reply)
	for _, key := range keys {
		if token, _ := wire.ReplyText(tokens); !m.watches(key) { // what came first is what counts
			_, name := database.Split(key)
			head, _ := m.by.Renewed(key, x.req.by)
			m.watched = append(m.watched, command.Watched{Key: database.AppendKey(nil, head, name), Token: bytes.Clone(token)})
		}
		tokens = tokens[wire.ValueLen(tokens):]
	}
	m.watching.Store(int32(len(m.watched)))
	x.OK()
}

func (m *multi) watches(key []byte) bool {
	for i := range m.watched {
		if bytes.Equal(m.watched[i].Key, key) {
			return true
		}
	}
	return false
}

// cmdExec runs a transaction that the request of transact cannot run as a whole: commands
// that are not on keys are run here, behind those on keys. Those that are on all keys, and
// HELLO, come between what was queued before them and what was queued behind: so the
// transaction is not atomic there.
func cmdExec(x *call) {
	m := &x.conn.multi
	defer func() {
		if p := x.conn.pub; p != nil {
			x.Buf = p.own.AppendAll(x.Buf)
		}
	}()
	defer x.shownExec()
	switch {
	case !m.open:
		x.Error("ERR EXEC without MULTI")
		return
	case m.refused:
		m.end()
		x.Error(msgExecAbort)
		return
	case isAtomic(x.conn) && !m.shipsAll():
		m.end()
		x.Error(msgNotUndoing)
		return
	}
	defer m.end()
	e := execution{call: x, multi: m}
	if !e.together() {
		return
	}
	from := 0
	for i := range m.cmds {
		if !m.cmds[i].cuts() {
			continue
		}
		if !e.run(from, i) {
			return
		}
		e.runHere(i)
		from = i + 1
	}
	if e.run(from, len(m.cmds)) && !e.begun {
		x.Array(0)
	}
}

// shownExec shows EXEC to monitors, behind the commands that it has run.
func (x *call) shownExec() {
	if x.srv.monitors.Any() {
		showExec(x.conn, whoSees(x.conn, x.Row))
	}
}

// cuts tells whether a command of a transaction has all before it run first.
func (q *queued) cuts() bool {
	changesCluster := q.cmd.Flags&command.FlagWrite != 0 && !q.cmd.Keyed // FUNCTION LOAD and its like
	return q.cmd.CutsMulti || q.cmd.Spread || q.cmd.SetsProtocol || changesCluster
}

// An execution is what cmdExec does.
type execution struct {
	*call
	multi *multi
	begun bool // the reply has begun
	args  [][]byte
}

// together tells whether one node has all keys, and whether no command would be refused now; else it
// has replied. The keys' node judges a transaction as a whole; to judge that of several parts, it is
// sent all of it with a token that holds for no key, so that it runs nothing.
func (e *execution) together() bool {
	var all request
	c, m, parts := e.conn, e.multi, false
	for i := range m.cmds {
		if q := &m.cmds[i]; !q.ships() {
			if err := c.writable(q.cmd, nil); err != nil {
				e.Error(command.Rejection(e.Row, command.ErrorText(err)))
				return false
			}
			parts = parts || q.cuts()
		}
	}
	c.become(&all, m.request(0, len(m.cmds), true))
	all.judged, all.by = true, e.multi.by
	if e.conn.ownerOf(&all, e.srv.routes.Load()); all.owner == ownerSeveral {
		e.srv.stats.CrossSlot.Add(1)
		e.Error(msgCrossSlot)
		return false
	}
	args := c.args[all.first:all.last]
	keys, _ := all.cmd.KeysOf(args, nil)
	if !parts || len(keys) == 0 || all.cmd.Flags&command.FlagWrite == 0 {
		return true
	}
	m.watched = append(m.watched, command.Watched{Key: bytes.Clone(args[keys[0].Pos])})
	_, msg := e.ask(m.request(0, len(m.cmds), true), m.by, false)
	if m.watched = m.watched[:len(m.watched)-1]; msg != "" {
		e.Error(msg)
	}
	return msg == ""
}

// run runs some of the commands as one unit, those on no keys behind it. It has replied, and
// returns false, if nothing of the transaction is to be run.
func (e *execution) run(from, to int) bool {
	m, shipped := e.multi, 0
	for i := from; i < to; i++ {
		if m.cmds[i].ships() {
			shipped++
		}
	}
	watching := !e.begun && len(m.watched) > 0
	var elements []byte
	msg := ""
	if shipped > 0 || watching {
		var reply []byte
		if reply, msg = e.ask(m.request(from, to, watching), m.by, false); msg == "" {
			if reply[0] != '*' || reply[1] == '-' {
				e.NullArray()
				return false
			}
			elements, _ = wire.ArrayBody(reply)
		} else if !e.begun {
			e.Error(msg)
			return false
		}
	}
	e.begin()
	for i := from; i < to; i++ {
		switch {
		case !m.cmds[i].ships():
			e.runHere(i)
		case msg != "":
			e.Error(msg)
			e.srv.stats.ErrorReply([]byte(msg))
		default:
			n := wire.ValueLen(elements)
			e.Buf = append(e.Buf, elements[:n]...)
			elements = elements[n:]
		}
	}
	return true
}

func (e *execution) begin() {
	if !e.begun {
		e.Array(len(e.multi.cmds))
		e.begun = true
	}
}

// runLocally runs a command that is on no keys.
func (e *execution) runHere(i int) {
	e.begin()
	if msg := e.multi.cmds[i].denied; msg != "" {
		e.Error(msg)
		return
	}
	e.args = e.multi.argsOf(i, e.args[:0])
	e.call.inner(e.multi.cmds[i].cmd, e.args)
}

// inner runs a command of a transaction or script, which the store was asked about.
func (x *call) inner(cmd *command.Row, args [][]byte) {
	c, at := x.conn, len(x.Buf)
	if x.srv.monitors.Any() {
		showInner(x, cmd, args)
	}
	outer, outerArgs, inside := x.Row, x.Args, x.InTransaction
	x.Row, x.Args, x.InTransaction, x.RefusedByLimit = cmd, args, true, false
	x.Unit.KeepAbortable(c.growsUnit)
	x.wrote = x.wrote || cmd.Flags&command.FlagWrite != 0
	c.execute(cmp.Or(cmd.As, cmd), cmd.Run)
	if cmd.Flags&command.FlagWrite != 0 && !c.weighUnit() {
		x.RefuseRequest = command.MsgUnitTooLarge
	}
	if !inside {
		x.Unit.KeepAbortable(nil)
	}
	if x.RunAgain { // which nothing does that knows where it is
		x.RunAgain, x.Buf = false, x.Buf[:at]
		x.ReplyTooLarge()
	}
	x.Row, x.Args, x.InTransaction = outer, outerArgs, inside
}

// ask has a request that is none of the client's run where its keys are served. It returns
// the reply, or an error to reply with. by are the forms of its keys; a fixed request is not run, with
// msgSwapped, once a database was swapped since.
func (x *call) ask(raw []byte, by *database.Policies, fixed bool) (reply []byte, msg string) {
	c := x.conn
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	var r request
	c.become(&r, raw)
	r.by, r.fixed = by, fixed
	c.readsFar(&r)
	end := time.Now().Add(x.srv.forwardTime(len(raw)))
	var wait outcome.Pause
	for !c.closing {
		left := time.Until(end)
		routes := x.srv.routes.Load()
		owner := c.ownerOf(&r, routes)
		switch {
		case r.cmd.MayWrite && hasLostWrites(c):
			return nil, scripts.MsgAtReplica
		case r.msg != "":
			return nil, r.msg
		case owner == ownerSeveral:
			x.srv.stats.CrossSlot.Add(1)
			return nil, msgCrossSlot
		case owner == ownerNone && fixed && by.Swaps() != routes.swaps():
			return nil, msgSwapped
		case owner == ownerNone:
			return nil, msgNoCopy
		case left <= 0:
			return nil, c.outOfTime(&r, routes, owner)
		case owner == ownerHeld:
			c.waitOn(left, routes.next)
			continue
		}
		b := &batch{bytes: r.raw, requests: 1, atomic: goesAtomic(c, &r), part: true}
		to := monitoring.Cluster
		if owner == ownerSelf {
			to |= monitoring.Own
			c.runPart(b, c.termsHere(), routes.known())
		} else {
			x.srv.stats.Forwarded.Add(1)
			b.link = routes.links[owner]
			sendFor(c, b, left, nil)
		}
		reply, err := b.reply()
		switch f := r.fate(err); {
		case f == outcome.Answered && reply[0] == '-':
			return nil, string(bytes.TrimRight(reply[1:], "\r\n"))
		case f == outcome.Answered:
			if r.cmd.KeysOfExec {
				showQueued(c, c.args[r.first:r.last], to, reply)
			}
			return bytes.Clone(reply), ""
		case f != outcome.NotRun:
			return nil, f.Refusal(err)
		case x.srv.closed():
			return nil, msgUnreachable
		}
		if routes == nil { // a lone node that has refused its own
			return nil, msgUnreachable
		}
		c.waitOn(wait.Next(left), routes.next)
	}
	return nil, msgUnreachable
}
