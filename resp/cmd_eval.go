package resp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/store"
)

// EVAL and its like. A script runs where its keys are, in the unit of its request, under
// their latches: so it is atomic, and its commands are committed together.

const (
	msgNonLocal = "ERR Script attempted to access a non local key in a cluster node"
	msgNoScript = "NOSCRIPT No matching script. Please use EVAL."
)

// scriptState is what a server has of scripts.
type scriptState struct {
	scripts.Cache
	scripts.Runs
}

func cmdEval(x *call) {
	n, db, ok := command.ScriptKeys(x.Args)
	byName := x.Row.BySHA
	switch {
	case byName && len(x.Args[1]) != 40:
		x.Error(msgNoScript)
		return
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case n > int64(len(x.Args)-3):
		x.Error("ERR Number of keys can't be greater than number of args")
		return
	case n < 0:
		x.Error("ERR Number of keys can't be negative")
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
	readonly := x.Row.Flags&command.FlagReadonly != 0
	switch {
	case known.Flagged && readonly && known.Flags&script.NoWrites == 0:
		x.Error("ERR Can not execute a script with write flag using *_ro command.")
		return
	case known.Flags&script.NoCluster != 0 && x.conn.routes != nil && len(x.conn.routes.links) > 0:
		x.Error("ERR Can not run script on cluster, 'no-cluster' flag is set.")
		return
	case known.Flagged && known.Flags&script.NoWrites == 0 && x.writesRefused(x.Args[3:3+n]):
		x.Error(msgNoReplicas)
		return
	case known.Flagged && known.Flags&(script.NoWrites|script.AllowOOM) == 0 && x.srv.quota.Refuses(store.Growth(x.Unit)):
		x.Error(command.MsgOOM)
		return
	}
	x.scriptDatabase = db
	x.runScript(known, x.Args[3:3+n], x.Args[3+n:], readonly || known.Flags&script.NoWrites != 0)
}

// writesRefused reports whether writes to one of some keys are refused for want of copies.
func (x *call) writesRefused(keys [][]byte) bool {
	return x.srv.scarce(x.conn.routes) && slices.ContainsFunc(keys, func(key []byte) bool {
		return x.srv.refuses(x.conn.routes, x.Unit.Place(key).Token())
	})
}

func (x *call) runScript(known *scripts.Script, keys, argv [][]byte, readonly bool) {
	all := &x.srv.scripts
	run := all.Begin(x.srv.clock(), x.conn, x.conn.places, x.conn.every, x.srv.settings.ScriptMemory.Load())
	defer all.Done(run)
	h := scriptHost{call: x, run: run, known: known, keys: keys, readonly: readonly}
	h.full = known.Flags&script.AllowOOM == 0 && x.srv.quota.Refuses(store.Growth(x.Unit))
	at := len(x.Buf)
	reply, err := run.Runtime.Run(known.Script, command.ClientKeys(keys), argv, &h, x.Buf, x.Proto == 3)
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
	case errors.Is(err, script.ErrTooLarge) && run.Wrote.Load():
		x.RefuseRequest = command.MsgReplyTooLarge
	case errors.Is(err, script.ErrTooLarge):
		x.ReplyTooLarge()
	case errors.Is(err, script.ErrBroken):
		x.srv.log.Error("running a script failed", "script", known.SHA, "err", err)
		run.Broken = true
		x.RefuseRequest = "ERR " + err.Error()
	case err != nil:
		x.Buf = x.Buf[:at]
		x.Abort(err)
	}
}

// Room implements script.Host.
func (h *scriptHost) Room() int {
	return int(max(h.call.srv.settings.OutputBuffer.Load()-int64(len(h.call.Buf)), 0))
}

// A scriptHost carries out what a script asks for.
type scriptHost struct {
	call     *call
	run      *scripts.Run
	known    *scripts.Script
	keys     [][]byte // that it has declared
	readonly bool
	full     bool // the data was over its limit when the script began
	moved    bool // the node that has forwarded the request must look for the owner again
}

// Log implements script.Host.
func (h *scriptHost) Log(level int, message string) {
	levels := [...]slog.Level{slog.LevelDebug, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn}
	h.call.srv.log.Log(context.Background(), levels[level], "script: "+string(command.Shown([]byte(message), 1<<10)), "script", h.known.SHA)
}

// CountError implements script.Host.
func (h *scriptHost) CountError(msg string) { h.call.srv.stats.ErrorReply([]byte(msg)) }

// Known implements script.Host.
func (h *scriptHost) Known(args [][]byte) bool { return h.call.srv.table.Find(args) != nil }

// Call implements script.Host.
func (h *scriptHost) Call(args [][]byte, resp3 bool) (reply []byte, refusal string, err error) {
	x := h.call
	cmd := x.srv.table.Find(args)
	refusal, foreign := h.refusal(cmd, args)
	switch {
	case foreign && h.run.Wrote.Load():
		return nil, "", h.refuseWhole(refusal)
	case refusal != "":
		x.srv.stats.Rejected(cmd)
		return nil, refusal, nil
	}
	policies := (*database.Policies)(nil)
	if x.conn.routes != nil {
		policies = x.conn.routes.Policies
	}
	if x.scriptDatabase != 0 || policies != nil || cmd.OtherDatabase != nil || slices.ContainsFunc(args, database.MayHaveMark) {
		if row, stored := x.srv.table.StoredKeys(cmd, args, x.scriptDatabase, x.Databases(), policies); stored != nil {
			cmd, args = row, stored
		}
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
	if tracks(cmd) {
		noteReads(x.conn, h.keys)
	}
	x.InScript = true
	x.inner(cmd, args)
	x.InScript, x.Proto = false, proto
	if x.conn.closed.Load() { // its replies may be gone
		return nil, "", script.ErrStopped
	}
	reply = x.Buf[at:]
	x.Buf = x.Buf[:at]
	switch {
	case x.StartsAgain():
		h.known.Astray.Store(true)
		return nil, "", script.ErrStopped
	case x.RefusedByLimit && h.run.Wrote.Load():
		return nil, "", h.refuseWhole(strings.TrimRight(string(reply[1:]), "\r\n"))
	}
	return reply, "", nil
}

// refuseWhole drops all that the script has done and has its request answered with an error
// that Redis would not give at this point.
func (h *scriptHost) refuseWhole(msg string) error {
	h.call.RefuseRequest = msg
	return script.ErrStopped
}

// refusal is why a script may not call a command, or "". foreign tells that Redis would have
// called it.
func (h *scriptHost) refusal(cmd *command.Row, args [][]byte) (msg string, foreign bool) {
	x := h.call
	switch {
	case cmd == nil:
		return "ERR Unknown Redis command called from script", false
	case !cmd.Takes(len(args)) || cmd.Run == nil:
		return "ERR Wrong number of args calling Redis command from script", false
	case cmd.Flags&command.FlagNoScript != 0 || cmd.Between || cmd.Waits:
		return "ERR This Redis command is not allowed from script", false
	case cmd.Spread && cmd.Flags&command.FlagWrite != 0:
		return "ERR " + strings.ToUpper(cmd.Full) + " is not possible in a script, which holds latches of keys", true
	case cmd.Spread && x.conn.spansNodes():
		return "ERR " + strings.ToUpper(cmd.Full) + " covers the cluster, which a script cannot wait for", true
	case cmd.Flags&command.FlagWrite == 0:
		return "", false
	case h.readonly:
		return "ERR Write commands are not allowed from read-only scripts.", false
	}
	if h.full && cmd.Flags&command.FlagDenyOOM != 0 && !h.run.Wrote.Load() {
		return command.MsgOOM, false
	}
	if err := x.conn.writable(cmd); err != nil {
		return command.ErrorText(err), false // which Commit will say of the whole unit
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
			if h.run.Wrote.Load() {
				return "", h.refuseWhole(command.MsgKeyTooLong)
			}
			return command.MsgKeyTooLong, nil
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
			return msgNonLocal, nil
		default:
			h.known.Astray.Store(true)
			x.MorePlaces = append(x.MorePlaces, p)
			err = script.ErrStopped
			continue
		}
		if cmd.Flags&command.FlagWrite != 0 && x.srv.blocked.queued.Load() > 0 {
			x.touched = append(x.touched, bytes.Clone(key))
		}
		if cmd.Flags&command.FlagWrite != 0 && x.srv.scarce(c.routes) && x.srv.refuses(c.routes, p.Token()) {
			if h.run.Wrote.Load() {
				return "", h.refuseWhole(msgNoReplicas)
			}
			return msgNoReplicas, nil
		}
	}
	return "", err
}

// refuseBusy refuses the requests of a unit that would have to wait for a script which has
// run for too long.
func (c *conn) refuseBusy(reqs []request) {
	s := &c.srv.scripts
	if s.Overdue() == 0 || len(c.places) == 0 && !c.every || !s.Blocked(c.places) {
		return
	}
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && r.cmd.Keyed {
			r.msg = scripts.MsgBusy
		}
	}
	c.places, c.every = c.places[:0], false
}

// shaOf is the script that a request names by its SHA-1.
func (c *conn) shaOf(r *request) []byte {
	if r.msg != "" || !r.cmd.BySHA {
		return nil
	}
	return c.args[r.first+1]
}

// goesAstray tells whether a script is known to need keys that it does not declare, or could
// not be run again if it does.
func (c *conn) goesAstray(r *request) bool {
	if c.session.replies == replySkip || c.session.replies == replySkipNext {
		return true
	}
	var k *scripts.Script
	if sha := c.shaOf(r); sha != nil {
		k = c.srv.scripts.Called(sha)
	} else {
		k = c.srv.scripts.Find(c.args[r.first+1])
	}
	return k != nil && k.Astray.Load()
}
