package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// A unit of a pipeline, from its latches to its replies.

// runUnit runs requests as one unit, or the first of them if a client must take its
// replies before there is room for more. It returns how many it has run.
func (c *conn) runUnit(reqs []request) int {
	if c.turn.InRound() && mayWait(c) {
		c.leaveTurn()
	}
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && c.srv.pause.Applies(r.cmd) {
			routes := c.routes
			c.leave()
			if may := awaitPause(c, r.cmd); !c.reenter(routes) || !may {
				return 0
			}
			break
		}
	}
	if c.srv.quota.Limits() && !makeRoom(c, reqs) {
		return 0
	}
	c.refuseBusy(reqs)
	if len(c.touched) > 1 {
		c.srv.store.Prefetch(c.touched)
	}
	if !c.beginWith(reqs) {
		return 0
	}
	for !c.every && c.srv.blocked.withTargets.Load() > 0 && c.latchServed(reqs) {
		c.unit.Abort()
		c.touched = c.places
		c.leave() // what is added may be another node's by now
		if routes := c.routes; !c.reenter(routes) || !c.beginWith(reqs) {
			return 0
		}
	}
	for i := range reqs {
		r := &reqs[i]
		at := len(c.out.Buf)
		c.leased.ran(r)
		c.call.req = r
		c.runOne(r)
		if c.call.StartsAgain() || c.call.waiter != nil || c.call.RunAgain {
			c.leaveTurn()
		}
		if c.call.StartsAgain() {
			return c.widen(r)
		}
		if c.call.waiter != nil {
			return c.waitHere(r)
		}
		if c.call.RunAgain {
			c.out.Buf = c.out.Buf[:at]
			if c.from != nil {
				c.from.status = StatusRun
			}
			if c.local.on {
				return c.validReplies(i)
			}
			if c.sendUnit() {
				if c.from != nil {
					c.from.releaseBatches(r)
				}
				c.runApart(r)
			}
			if c.call.waiter != nil { // it found nothing this time
				c.call.waiter = nil
				return i
			}
			return i + 1
		}
		c.serveWaiters(r)
		c.countLoad(r, len(c.out.Buf)-at)
		c.countOf(r, at)
		if len(c.outbox) > 0 {
			c.finishPosting()
			return i + 1
		}
		full := c.from != nil && c.from.full() || len(c.out.Buf) >= maxUnitReplies
		// No request behind one that has applied changes may make the unit run again.
		if (full || c.unit.Flushed()) && i+1 < len(reqs) {
			if c.local.on {
				return c.validReplies(i + 1)
			}
			c.sendUnit()
			return i + 1
		}
	}
	return c.validReplies(len(reqs))
}

// validReplies ends the unit, of which so many requests were run. It returns how many of them
// stand: none if what they have read must not be answered any more, and nothing else has
// happened, so that all may be run again.
func (c *conn) validReplies(n int) int {
	if c.commit() || c.leased.fine() {
		return n
	}
	c.leaveTurn()
	stopping := false
	select {
	case <-c.srv.stop: // no newer routes come
		stopping = true
	default:
	}
	if c.leased.wrote || c.session.replies != replyOn || stopping {
		c.awaitLease()
		return n
	}
	c.forgetReplies()
	if routes := c.srv.routes.Load(); routes != nil {
		c.leave()
		c.waitOn(routesPause, routes.next) // which say that nothing is this node's for now
	}
	return 0
}

// countOf notes the reply to a request that starts at byte at.
func (c *conn) countOf(r *request, at int) {
	before := c.unitReplies
	c.count(r.cmd, at)
	if c.unitReplies > before {
		c.leased.replied(r.msg == "" && r.cmd.MayWrite && r.touches)
	}
}

// sendUnit ends the unit and sends its replies; it returns false if the client is
// gone.
func (c *conn) sendUnit() bool {
	c.finishUnit()
	if c.flush() != nil {
		c.closing = true
	}
	return !c.closing
}

// runApart runs a request in a unit of its own, without latches or with all. Earlier replies
// have left, since the one to come is not kept with them.
func (c *conn) runApart(r *request) {
	c.begin(nil)
	if c.call.LatchAll {
		c.unit.LatchAll()
		c.startClock()
	}
	c.call.Apart = true
	c.leased.ran(r)
	c.call.streamed = 0
	c.runOne(r)
	if c.call.waiter == nil {
		c.serveWaiters(r)
		c.countLoad(r, len(c.out.Buf)+c.call.streamed)
		c.countOf(r, 0)
	}
	c.call.Apart, c.call.LatchAll = false, false
	c.finishUnit()
}

// beginWith starts the unit of some requests, and says what it touches. It returns false if
// ranges may have changed hands while it waited for latches: then nothing has begun, and the
// requests are to be gathered anew.
//
// Invariant: while a unit waits for latches it runs by no routes. So neither ranges nor their
// new owners wait behind a unit that itself waits for a script.
func (c *conn) beginWith(reqs []request) bool {
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && r.cmd.Script {
			c.unit.ExpectLong()
			break
		}
	}
	now := c.srv.store.Now()
	c.unit.SkipAcks(c.session.early) // reads ask for it, commit says it again
	if c.every || !c.unit.TryBegin(now, c.places) {
		routes := c.routes
		c.leave()
		c.leaveTurn()
		c.timing.LatchFrom = c.srv.clock()
		if c.every {
			c.unit.Begin(now, nil)
			c.unit.LatchAll()
		} else {
			c.unit.Begin(now, c.places)
		}
		c.timing.LatchTo = c.srv.clock()
		if !c.reenter(routes) {
			c.unit.Abort()
			return false
		}
	}
	c.declareTouched()
	c.started(c.places)
	return true
}

// begin starts a unit.
func (c *conn) begin(places []store.Place) {
	c.unit.SkipAcks(c.session.early)
	c.unit.Begin(c.srv.store.Now(), places)
	c.started(places)
}

// started notes that a unit has begun.
func (c *conn) started(places []store.Place) {
	c.startClock()
	c.replyBuf.take()
	c.unitStart, c.unitReplies, c.unitFailed = len(c.out.Buf), 0, false
	c.leased.begin(places)
}

// count notes a reply to a command that starts at byte at; no command is one that is not timed.
func (c *conn) count(cmd *command.Row, at int) {
	c.ended()
	if len(c.out.Buf) <= at {
		return // no reply, or it has left already
	}
	if c.session.keepReply() {
		c.unitReplies++
		if ends, _ := c.ends(); ends == nil {
			c.answers.Add(cmd)
		}
	} else {
		c.out.Buf = c.out.Buf[:at]
	}
}

// finishUnit commits the unit and waits until its replies may leave.
func (c *conn) finishUnit() {
	// Otherwise hold is the settler's to read from Commit on.
	hold := c.hold
	c.hold = true
	defer func() { c.hold = hold }()
	if !c.commit() && !c.leased.fine() {
		c.awaitLease()
	}
	if c.pending {
		c.await()
	}
}

// commit commits the unit. If it returns true there is nothing left to see to: the unit
// has failed, or the settler sends the replies, or has seen to them.
func (c *conn) commit() bool {
	c.Pending.Flush(c.srv.stats)
	if c.timing.Committed = c.lately; len(c.touched) > 0 {
		c.timing.Token, c.timing.Keyed = c.touched[0].Token(), true
	}
	c.unit.SkipAcks(c.session.early && len(c.servedWaiters) == 0)
	wait, err := c.unit.Commit(c)
	c.unitEnded()
	switch {
	case err != nil:
		c.failUnit(err)
		c.notifyServed(err, "")
	case wait:
		c.pending = true
		if c.direct == nil && c.from == nil {
			c.await()
		}
	}
	return wait || err != nil
}

// Commands of scripts and transactions share a unit that may be dropped as a whole, so their
// changes stay in memory until its end. These bytes count for the server's budget.

// growUnit takes n bytes for changes of the unit, or reports that there is no memory for them.
func (c *conn) growUnit(n int64) bool {
	if !c.srv.budget.Charge(&c.Account, n) {
		c.srv.budget.Release(&c.Account, n)
		return false
	}
	c.unitCharged += n
	return true
}

// weighUnit brings the charge for the unit's changes up to date, and reports whether there is
// memory for them.
func (c *conn) weighUnit() bool {
	size := c.unit.Size()
	return size <= c.unitCharged+keepInput || c.growUnit(size-c.unitCharged)
}

// unitEnded gives back what the unit was charged.
func (c *conn) unitEnded() {
	if c.unitCharged > 0 {
		c.srv.budget.Release(&c.Account, c.unitCharged)
		c.unitCharged = 0
	}
}
