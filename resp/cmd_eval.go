package resp

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/functions"
	"github.com/ringside-kv/ringside/resp/internal/quota"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/store"
)

// EVAL and its like. A script runs where its keys are, in the unit of its request, under
// their latches: so it is atomic, and its commands are committed together.

const (
	msgNonLocal     = "ERR Script attempted to access a non local key in a cluster node"
	msgNoScript     = "NOSCRIPT No matching script. Please use EVAL."
	msgManyKeys     = "ERR Number of keys can't be greater than number of args"
	msgNegativeKeys = "ERR Number of keys can't be negative"
)

// scriptState is what a server has of scripts.
type scriptState struct {
	scripts.Cache
	scripts.Runs
	functions *functions.Registry
}

func cmdEval(x *call) {
	n, db, ok := command.ScriptKeys(x.Args, x.conn.routes.policies())
	byName := x.Row.BySHA
	switch {
	case byName && len(x.Args[1]) != 40:
		x.Error(msgNoScript)
		return
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case n > int64(len(x.Args)-3):
		x.Error(msgManyKeys)
		return
	case n < 0:
		x.Error(msgNegativeKeys)
		return
	}
	var known *scripts.Script
	if byName {
		if known = x.srv.scripts.Called(x.Args[1]); known == nil {
			x.Error(msgNoScript)
			return
		}
	} else {
		var err error
		if known, err = x.srv.scripts.Compile(x.Args[1], false); err != nil {
			x.Error(err.Error())
			return
		}
	}
	evaluate(x, &runnable{name: known.SHA, flagged: known.Flagged, flags: known.Flags, astray: &known.Astray, script: known.Script}, n, db)
}

// cmdFCall is FCALL and FCALL_RO.
func cmdFCall(x *call) {
	f := x.srv.scripts.functions.Current().Find(x.Args[1])
	n, db, ok := command.ScriptKeys(x.Args, x.conn.routes.policies())
	switch {
	case f == nil:
		x.Error("ERR Function not found")
	case !ok:
		x.Error("ERR Bad number of keys provided")
	case n > int64(len(x.Args)-3):
		x.Error(msgManyKeys)
	case n < 0:
		x.Error(msgNegativeKeys)
	default:
		evaluate(x, &runnable{name: f.Name, flagged: true, flags: f.Flags, astray: &f.Astray, function: f}, n, db)
	}
}

// A runnable is a script or a function.
type runnable struct {
	name     string // the SHA-1 of a script
	flagged  bool   // flags are what it says of itself; else it says nothing
	flags    script.Flags
	astray   *atomic.Bool // it has once needed a key that it had not declared
	script   *script.Script
	function *functions.Function // nil for a script
}

// evaluate runs a script with n keys, in a database.
func evaluate(x *call, code *runnable, n int64, db int) {
	readonly := x.Row.Flags&command.FlagReadonly != 0
	switch {
	case code.flagged && readonly && code.flags&script.NoWrites == 0:
		x.Error("ERR Can not execute a script with write flag using *_ro command.")
		return
	case code.flags&script.NoCluster != 0 && x.conn.routes != nil && len(x.conn.routes.links) > 0:
		x.Error("ERR Can not run script on cluster, 'no-cluster' flag is set.")
		return
	case code.flagged && code.flags&script.NoWrites == 0 && writesRefused(x, x.Args[3:3+n]):
		x.Error(msgNoReplicas)
		return
	case code.flagged && code.flags&(script.NoWrites|script.AllowOOM) == 0 && x.srv.quota.Refuses(x.conn.routes.policies().Data(db), store.Growth(x.Unit)):
		x.Error(command.MsgOOM)
		return
	}
	x.scriptDatabase = db
	runScript(x, code, x.Args[3:3+n], x.Args[3+n:], readonly || code.flags&script.NoWrites != 0)
}

// writesRefused reports whether writes to one of some keys are refused for want of copies.
func writesRefused(x *call, keys [][]byte) bool {
	return x.srv.scarce(x.conn.routes) && slices.ContainsFunc(keys, func(key []byte) bool {
		return x.srv.refuses(x.conn.routes, x.Unit.Place(key).Token())
	})
}

func runScript(x *call, code *runnable, keys, argv [][]byte, readonly bool) {
	all, memory := &x.srv.scripts, x.srv.settings.ScriptMemory.Load()
	start := scripts.Start{At: x.srv.clock(), Owner: x.conn, Places: x.conn.places, Every: x.conn.every, Memory: memory}
	h := scriptHost{call: x, code: code, readonly: readonly, Memory: scripts.Memory{Of: &x.Call}}
	defer h.Release()
	if f := code.function; f != nil {
		r, err := f.Library.Take(memory, logger(x.srv), h.Grow)
		if x.StartsAgain() {
			return
		}
		if err != nil {
			x.Error(err.Error())
			return
		}
		defer f.Library.Give(r)
		start.Function, start.Runtime, start.Args = f.Name, r, x.Args
	}
	run := all.Begin(start)
	defer all.Done(run)
	h.run = run
	if code.flags&script.AllowOOM == 0 {
		h.room = x.srv.quota.ForScript(x.conn.routes.policies().Data(x.scriptDatabase), store.Growth(x.Unit))
	}
	at := len(x.Buf)
	reply, err := h.start(command.ClientKeys(keys), argv)
	if x.StartsAgain() {
		return
	}
	if h.moved {
		x.srv.stats.NotMine.Add(1)
		x.notRun()
		return
	}
	x.Buf, x.errorsCounted = reply, err == nil
	cause := all.Cause(run)
	if cause == scripts.ErrEnd || cause == scripts.ErrGone {
		err = cause
	}
	switch {
	case err == nil && cause == scripts.ErrKilled && run.Wrote.Load():
		x.RefuseRequest = string(scripts.ErrKilled)
		if n := len(reply); n > at+3 && reply[at] == '-' {
			x.RefuseRequest = string(reply[at+1 : n-2]) // it says where the script was
		}
	case err == nil && run.Wrote.Load() && undoScript(x, reply[at:]):
	case errors.Is(err, script.ErrTooLarge) && run.Wrote.Load():
		x.RefuseRequest = command.MsgReplyTooLarge
	case errors.Is(err, script.ErrTooLarge):
		x.ReplyTooLarge()
	case errors.Is(err, script.ErrBroken):
		x.srv.log.Error("running a script failed", "script", code.name, "err", err)
		run.Broken = true
		x.RefuseRequest = "ERR " + err.Error()
	case err != nil:
		x.Buf = x.Buf[:at]
		x.Abort(err)
	}
}

// start runs the script or the function.
func (h *scriptHost) start(keys, argv [][]byte) (reply []byte, err error) {
	x, r := h.call, h.run.Runtime
	if f := h.code.function; f != nil {
		return r.Call(f.Function, keys, argv, h, x.Buf, x.Proto == 3)
	}
	return r.Run(h.code.script, keys, argv, h, x.Buf, x.Proto == 3)
}

// Room implements script.Host.
func (h *scriptHost) Room() int {
	return int(max(h.call.srv.settings.OutputBuffer.Load()-int64(len(h.call.Buf)), 0))
}

// A scriptHost carries out what a script asks for.
type scriptHost struct {
	scripts.Memory
	call     *call
	run      *scripts.Run
	code     *runnable
	readonly bool
	room     quota.Script
	moved    bool // the node that has forwarded the request must look for the owner again
}

// Log implements script.Host.
func (h *scriptHost) Log(level int, message string) {
	scripts.Log(h.call.srv.log, level, message, "script", h.code.name)
}

// CountError implements script.Host.
func (h *scriptHost) CountError(msg string) { h.call.srv.stats.ErrorReply([]byte(msg)) }

// Allows implements script.Host.
func (h *scriptHost) Allows(args [][]byte) (known, allowed bool) {
	cmd := h.call.srv.table.Find(args)
	return cmd != nil, cmd != nil && h.denied(cmd, args, false) == ""
}

// denied is the error of a command that the user of the script may not call, or "".
func (h *scriptHost) denied(cmd *command.Row, args [][]byte, note bool) string {
	user := rights(h.call)
	if user == nil {
		return ""
	}
	call := acl.Call{Row: cmd, Args: args}
	d, _ := user.Check(&call, nil)
	if d.Reason == acl.Allowed {
		return ""
	}
	if note {
		noteDenied(h.call.conn, user.Name(), d, &call, "lua")
	}
	return d.ScriptText(cmd, user.Name())
}

// Call implements script.Host.
func (h *scriptHost) Call(args [][]byte, resp3 bool) (reply []byte, refusal string, err error) {
	x := h.call
	cmd := x.srv.table.Find(args)
	refusal, foreign := h.refusal(cmd, args)
	switch {
	case foreign && x.wrote:
		return nil, "", h.refuseWhole(refusal)
	case refusal != "":
		x.srv.stats.Rejected(cmd)
		return nil, refusal, nil
	}
	policies := x.conn.routes.policies()
	if x.scriptDatabase != 0 || policies != nil || cmd.OtherDatabase != nil || slices.ContainsFunc(args, database.MayHaveMark) {
		if row, stored := x.srv.table.StoredKeys(cmd, args, x.scriptDatabase, x.Databases(), policies); stored != nil {
			cmd, args = row, stored
		}
	}
	if wrote := h.run.Wrote.Load(); h.outOfRoom(cmd, args, wrote) {
		if wrote { // Redis refuses nothing from then on
			return nil, "", h.refuseWhole(command.MsgOOM)
		}
		x.srv.stats.Rejected(cmd)
		return nil, command.MsgOOM, nil
	}
	if refusal, err = h.reach(cmd, args); refusal != "" || err != nil {
		return nil, refusal, err
	}
	at, proto := len(x.Buf), x.Proto
	if x.Proto = 2; resp3 {
		x.Proto = 3
	}
	if cmd.Flags&command.FlagWrite != 0 {
		h.run.Wrote.Store(true)
	}
	x.InScript = true
	x.inner(cmd, args)
	x.InScript, x.Proto = false, proto
	if x.conn.Closed.Load() { // its replies may be gone
		return nil, "", script.ErrStopped
	}
	reply = x.Buf[at:]
	x.Buf = x.Buf[:at]
	switch {
	case x.StartsAgain():
		h.code.astray.Store(true)
		return nil, "", script.ErrStopped
	case x.RefusedByLimit && h.run.Wrote.Load():
		return nil, "", h.refuseWhole(strings.TrimRight(string(reply[1:]), "\r\n"))
	}
	return reply, "", nil
}

// refuse refuses a call that Redis would not refuse at this point: alone, or all of the request once
// something of it was written.
func (h *scriptHost) refuse(msg string) (refusal string, err error) {
	if h.call.wrote {
		return "", h.refuseWhole(msg)
	}
	return msg, nil
}

// refuseWhole drops all that the script has done and has its request answered with an error
// that Redis would not give at this point.
func (h *scriptHost) refuseWhole(msg string) error {
	h.call.RefuseRequest = msg
	return script.ErrStopped
}

// refusal returns why a script may not call a command, or "". foreign reports that Redis would run the
// command once the script has written.
func (h *scriptHost) refusal(cmd *command.Row, args [][]byte) (msg string, foreign bool) {
	x := h.call
	switch {
	case cmd == nil:
		return "ERR Unknown Redis command called from script", false
	case !cmd.Takes(len(args)) || cmd.Run == nil:
		return "ERR Wrong number of args calling Redis command from script", false
	case cmd.Flags&command.FlagNoScript != 0 || cmd.Between || cmd.Waits && cmd.Flags&command.FlagBlocking == 0:
		return "ERR This Redis command is not allowed from script", false
	}
	if msg := h.denied(cmd, args, true); msg != "" {
		return msg, false
	}
	switch {
	case cmd.Spread && cmd.Flags&command.FlagWrite != 0:
		return "ERR " + strings.ToUpper(cmd.Full) + " is not possible in a script, which holds latches of keys", true
	case cmd.Spread && x.conn.spansNodes():
		return "ERR " + strings.ToUpper(cmd.Full) + " covers the cluster, which a script cannot wait for", true
	case h.readonly && cmd.Flags&(command.FlagWrite|command.FlagMayReplicate) != 0:
		if x.req != nil && x.req.atCopy || hasLostWrites(x.conn) {
			return scripts.MsgAtReplica, false
		}
		return scripts.MsgReadOnly, false
	case cmd.Flags&command.FlagStale == 0 && x.conn.from == nil && hidesStale(x.srv):
		return "ERR Can not execute the command on a stale replica", false
	case cmd.Flags&command.FlagWrite == 0:
		return "", false
	}
	if err := x.conn.writable(cmd, args); err != nil {
		return command.ErrorText(err), true // Redis says so only before the first write
	}
	return "", false
}

// reach sees to it that the unit holds the keys of a call; with an error it has to begin
// anew.
func (h *scriptHost) reach(cmd *command.Row, args [][]byte) (refusal string, err error) {
	x, c := h.call, h.call.conn
	if !cmd.Keyed {
		return "", nil
	}
	keys, keysErr := cmd.KeysOf(args, nil)
	if keysErr != nil {
		return "", nil // the command says what is wrong
	}
	for _, k := range keys {
		key := args[k.Pos]
		if x.srv.settings.IsTooLong(key) {
			return h.refuse(command.MsgKeyTooLong)
		}
		if c.routes != nil && c.routes.Policies.FormOf(key) != database.Present {
			return "", h.refuseWhole(command.MsgMoving)
		}
		p := x.Unit.Place(key)
		own := c.routes == nil || c.routes.of(p.Token()) == ownerSelf
		switch {
		case own && x.Unit.HasLatch(p) && c.touches(p):
			x.req.touches = true // perhaps a key of another request of the unit
		case !own && c.from != nil && x.req.cmd.Script && len(c.places) == 0:
			// Another node has sent the script here for its first key, which it does not
			// declare, and the key is not here any more, or not yet.
			h.moved = true
			return "", script.ErrStopped
		case !own && (c.from != nil || x.Unit.HasLatch(p)):
			return h.refuse(msgNonLocal)
		default:
			h.code.astray.Store(true)
			x.MorePlaces = append(x.MorePlaces, p)
			err = script.ErrStopped
			continue
		}
		if cmd.Flags&command.FlagWrite != 0 && x.srv.blocked.queued.Load() > 0 {
			x.touched = append(x.touched, bytes.Clone(key))
		}
		if cmd.Flags&command.FlagWrite != 0 && x.srv.scarce(c.routes) && x.srv.refuses(c.routes, p.Token()) {
			return h.refuse(msgNoReplicas)
		}
	}
	return "", err
}

// asReadOnly makes EVAL, EVALSHA and FCALL of a script that says it does not write EVAL_RO and its like, which a
// pause of writes does not hold back.
func asReadOnly(c *conn, r *request) {
	if ro := readOnlyOf(c, r); ro != nil && namedBy(c, r, true).Flags&script.NoWrites != 0 {
		r.cmd = ro
	}
}

// readOnlyOf returns EVAL_RO for EVAL, and so on; nil if there is none.
func readOnlyOf(c *conn, r *request) *command.Row { return c.srv.table.ByName[r.cmd.Name+"_ro"] }

// namedBy returns what is known of the script or function that a request runs.
func namedBy(c *conn, r *request, compile bool) scripts.Named {
	return c.srv.scripts.Named(r.cmd, c.args[r.first+1], c.srv.scripts.functions.Current(), compile)
}

// refuseBusy refuses the requests of a unit that would have to wait for a script which has
// run for too long.
func (c *conn) refuseBusy(reqs []request) {
	s := &c.srv.scripts
	if s.Overdue() == 0 || len(c.places) == 0 && !c.every {
		return
	}
	msg := s.Blocked(c.places)
	if msg == "" {
		return
	}
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && r.cmd.Keyed {
			r.msg = msg
		}
	}
	c.places, c.every = c.places[:0], false
}

// goesAstray reports whether a script is known to need keys that it does not declare, or could
// not be run again if it does.
func (c *conn) goesAstray(r *request) bool {
	if c.session.replies == replySkip || c.session.replies == replySkipNext {
		return true
	}
	return namedBy(c, r, false).Astray
}
