package resp

import (
	"cmp"

	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// One request of a pipeline, and what is counted of it.

// alone runs a request outside of any unit. It returns how many it has answered: 0 if the request has to be looked at
// again.
func (c *conn) alone(r *request) int {
	if !awaitPause(c, r.cmd) {
		return 0
	}
	if waitsHere(r.cmd, c.srv) && c.flush() != nil {
		c.closing = true
		return 1
	}
	at := len(c.out.Buf)
	c.startClock()
	c.call.req = r
	c.runOne(r)
	c.Pending.Flush(c.srv.stats)
	if timed := r.cmd; timed != nil && timed.Waits {
		c.count(nil, at)
	} else {
		c.count(timed, at)
	}
	if then := c.call.then; then != nil {
		c.call.then = nil
		c.subscribe(then)
	}
	return 1
}

// messages runs what the requests begin with: messages, or subscriptions to them. It returns
// how many it has run.
func (c *conn) messages(reqs []request) int {
	r := &reqs[0]
	switch {
	case c.belongsElsewhere(r):
		c.redirectShard(r)
		return 1
	case r.cmd.Publishes:
		return c.publish(reqs)
	}
	return c.subscribes(reqs)
}

// reject replies why a command is not run; it is nil if there is no such command.
func (c *conn) reject(cmd *command.Row, msg string) {
	at := len(c.out.Buf)
	c.out.Error(msg)
	if cmd != nil && cmd.KeysOfExec && isPart(c) {
		return
	}
	c.srv.stats.Rejected(cmd)
	c.srv.stats.ErrorReply(c.out.Buf[at+1:])
}

// isPart reports whether the request that runs is a part of one that its sender counts. What runs within it is counted
// here.
func isPart(c *conn) bool { return asksNode(&c.call) && c.from.part }

// writable returns nil, or why the store takes no write of a command, or of one of a transaction. A
// command that only removes is still taken when the disk is almost full; the unit then is one that
// does so.
func (c *conn) writable(cmd *command.Row, args [][]byte) error {
	if cmd.Flags&command.FlagWrite == 0 {
		return nil
	}
	if err := c.srv.store.Writable(); err == nil || c.srv.table.Adds(cmd, args) {
		return err
	}
	c.unit.RemovesOnly()
	return c.srv.store.AcceptsRemovals()
}

// runOne runs a request, or replies why not.
func (c *conn) runOne(r *request) {
	x := &c.call
	x.RunAgain, x.waited, x.wrote = false, 0, false
	x.LatchAll = x.LatchAll && x.Apart
	if f := c.from; f != nil && f.tooLate(r) {
		c.srv.stats.Late.Add(1)
		f.status = StatusLate
		c.reject(r.cmd, msgLate)
		return
	}
	if r.msg != "" {
		noteRequest(c, r, "toplevel")
		c.reject(r.cmd, command.Rejection(r.cmd, r.msg))
		return
	}
	x.Row, x.Args = r.cmd, c.args[r.first:r.last]
	if err := c.writable(r.cmd, x.Args); err != nil {
		c.reject(r.cmd, command.Rejection(r.cmd, command.ErrorText(err)))
		return
	}
	if r.cmd.MayWrite && c.srv.quota.Limits() && refusedByQuota(c, r.cmd, x.Args) {
		c.reject(r.cmd, command.Rejection(r.cmd, command.MsgOOM))
		return
	}
	if c.srv.monitors.Any() && !r.shown && r.progress == nil && (r.cmd.As == nil || r.stored) && r.cmd.InMulti != command.MultiEnds {
		r.shown = true // a unit may run again
		show(c, int(c.session.database.Load()), r.cmd, x.Args, whoSees(c, r.cmd), false)
	}
	cmd := cmp.Or(r.cmd.As, r.cmd)
	if c.session.lastCmd.Load() != cmd {
		c.session.lastCmd.Store(cmd)
	}
	if r.keyAt > 0 {
		c.unit.RememberPlace(x.Args[r.keyAt], r.place)
	}
	c.execute(cmd, r.cmd.Run)
	c.unit.RememberPlace(nil, 0)
}

// execute runs the call that is set up, as a call of cmd, and counts it.
func (c *conn) execute(cmd *command.Row, run func(*command.Call)) {
	x := &c.call
	args, at := x.Args, len(c.out.Buf)
	c.reads(cmd, args)
	if !cmd.Keyed && !cmd.Neutral {
		c.Pending.Flush(c.srv.stats)
	}
	x.Start = at
	start, waited := c.lately, x.waited
	if start == 0 {
		start = c.srv.clock()
	}
	c.lately = 0 // of what runs within this one, the first looks at the clock itself
	run(&x.Call)
	counted := x.errorsCounted
	x.errorsCounted = false
	if x.Taken > 0 {
		x.ReleaseTaken()
	}
	if x.StartsAgain() {
		return
	}
	c.ran(cmd)
	c.lately = c.srv.clock()
	took := c.lately - start - (x.waited - waited)
	if x.RunAgain || isPart(c) {
		return
	}
	if x.waiter != nil { // it is over later, in waited
		x.waiter.took = took
	} else {
		c.Pending.Count(c.srv.stats, cmd, took)
		c.srv.admin.Slowlog.Consider(&c.srv.settings, adminClient{c}, cmd, args, took)
	}
	if len(c.out.Buf) > at && c.out.Buf[at] == '-' {
		c.srv.stats.Commands[cmd.ID].Failed.Add(1)
		if !counted {
			c.srv.stats.ErrorReply(c.out.Buf[at+1:])
		}
	}
	if c.srv.audit != nil && c.from == nil && audit.KindOf(cmd) != audit.None {
		noteAudit(c, audit.Event{
			Kind: audit.KindOf(cmd), OK: len(c.out.Buf) == at || c.out.Buf[at] != '-',
			User: c.session.userName(), Command: cmd.Full, Object: audit.ObjectOf(cmd, args),
		})
	}
	if c.srv.hotkeys.Running() {
		c.srv.hotkeys.Note(cmd, args, took, len(c.out.Buf)-at)
	}
	if cap(c.out.Buf) > keepReply {
		c.replyBuf.charge()
	}
}

// awaitPause returns when the command may run, or the connection or the server closes. It returns false if the rights
// of users have changed meanwhile, so that those of the client have to be looked up first.
// Replies to what came before do not wait with it.
//
// What another node forwards has been held back before (see [conn.postponed]), and
// goes on.
func awaitPause(c *conn, cmd *command.Row) bool {
	if c.from != nil {
		return true
	}
	p := &c.srv.pause
	for held := false; p.Applies(cmd); held = true {
		if c.flush() != nil {
			return true
		}
		if !held {
			c.srv.stats.Paused.Add(1)
			defer c.srv.stats.Paused.Add(-1)
		}
		left, over := p.Left()
		if left > 0 && !c.wait(left, over) {
			return true
		}
	}
	return !rightsChanged(c)
}
