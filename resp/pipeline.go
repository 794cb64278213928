package resp

import (
	"cmp"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// A pipeline is the requests that one read brought. It is cut into units: runs of
// commands that work on keys and share one commit (store.Unit). Commands without
// keys run between units, but for the few that touch nothing but the reply.

const (
	maxPipeline      = 256      // requests taken up at once
	maxPipelineBytes = 1 << 20  // and their bytes, but for one larger request
	maxPipelineArgs  = 64 << 10 // and their arguments, but for one command with more
	keepArgs         = 16 << 10 // arguments for which a connection keeps memory
	maxUnitKeys      = 1024     // keys whose latches one unit takes, but for one larger command
	maxUnitReplies   = 1 << 20  // bytes of replies after which a unit is cut
)

// A request is a parsed command: c.args[first:last].
type request struct {
	first, last int
	raw         []byte // as the client wrote it
	cmd         *command
	msg         string        // error reply instead of running it
	sent        *batch        // with which it is on its way, whoever serves its keys by now
	owner       int32         // who serves its keys: a place in Routes.links, ownerSelf, …
	part        int32         // of what another node forwards, the batch
	judged      bool          // as to whether its keys lie together
	waits       bool          // it may wait until a key gets something
	every       bool          // it needs all latches of the store
	solo        bool          // it has a unit of its own
	sought      bool          // other nodes were asked for its script
	stay        *stay         // of one that has begun to
	extra       []store.Place // of keys that are not among its arguments: see wants in call
	until       time.Time     // how long it waits for somebody to serve its keys; zero: it has not waited yet
}

// run runs all parsed requests. At its end replies either lie in out, or a unit is
// pending and the settler sends them.
func (c *conn) run() {
	if len(c.reqs) == 0 {
		return
	}
	c.session.lastUsed.Store(int64(c.srv.clock()))
	c.session.commands.Add(int64(len(c.reqs)))
	c.multi.forget(c)
	for i := range c.reqs {
		c.resolve(&c.reqs[i])
	}
	c.runResolved()
}

func (c *conn) runResolved() {
	c.asked = asked{}
	defer c.blocks(false)
	for i := 0; i < len(c.reqs) && !c.closing; {
		if c.blocking && c.reqs[i].stay == nil { // the one before is answered
			c.blocks(false)
		}
		if c.pending {
			c.await()
		}
		if len(c.out.buf) >= flushSize {
			if c.flush() != nil {
				c.closing = true
				return
			}
		}
		if c.from != nil && c.postponed(&c.reqs[i]) {
			i++
			continue
		}
		if c.multi.open && c.queues(&c.reqs[i]) {
			i += c.queue(&c.reqs[i])
			continue
		}
		if c.seeks(&c.reqs[i]) && !c.seek(&c.reqs[i]) {
			return
		}
		routes := c.enter()
		n := c.gather(c.reqs[i:], routes)
		c.hold = i+n < len(c.reqs) || c.from != nil
		if n > 0 && i+n < len(c.reqs) && c.goesAlong(&c.reqs[i+n]) {
			c.leave()
			i += c.forward(c.reqs[i:i+c.window(c.reqs[i:], n+1, routes)], routes)
			continue
		}
		if n == 0 {
			c.leave()
			if c.reqs[i].owner != ownerSelf {
				i += c.elsewhere(c.reqs[i:], routes)
				continue
			}
			if cmd := c.reqs[i].cmd; cmd.publishes || cmd.subscribes {
				i += c.messages(c.reqs[i:])
				continue
			}
			before := c.authorized()
			c.alone(&c.reqs[i])
			i++
			if c.authorized() != before { // RESET, and AUTH after it
				for j := i; j < len(c.reqs); j++ {
					c.resolve(&c.reqs[j])
				}
			}
			continue
		}
		i += c.runUnit(c.reqs[i : i+n])
		c.leave()
	}
	if cap(c.args) > keepArgs && !c.away.on {
		c.args, c.keys, c.places = nil, nil, nil
	}
}

// resolve finds a request's command and what is wrong with it before it is run.
func (c *conn) resolve(r *request) {
	args := c.args[r.first:r.last]
	r.cmd, r.msg = c.srv.table.lookup(args)
	r.waits = r.msg == "" && r.cmd.mayWait(args)
	switch {
	case r.msg != "":
	case !c.authorized() && r.cmd.flags&flagNoAuth == 0:
		r.msg = msgNoAuth
	case c.from == nil && r.cmd.between:
		r.msg = "ERR " + strings.ToUpper(strings.ReplaceAll(r.cmd.full, "|", " ")) + " is what nodes send each other"
	case c.from != nil && !r.cmd.forNodes:
		r.msg = "ERR '" + r.cmd.full + "' is not forwarded"
	}
	if r.msg != "" && r.cmd != nil && r.cmd.full == "exec" {
		r.msg = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(r.msg, "ERR ")
	}
}

// gather returns how many of the requests make the next unit, with the places of
// their keys in c.places where latches are needed; 0 if the first must run alone, or
// elsewhere, as its owner tells.
func (c *conn) gather(reqs []request, routes *Routes) int {
	c.places, c.every = c.places[:0], false
	latched := false
	n, keys := 0, 0
	for ; n < len(reqs); n++ {
		r := &reqs[n]
		r.owner = ownerSelf
		if c.subscribed && c.out.proto == 2 && r.msg == "" && !r.cmd.whileSubscribed {
			r.msg = "ERR Can't execute '" + r.cmd.full + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
		}
		if n > 0 && (r.waits || reqs[n-1].waits) {
			break
		}
		if r.msg != "" {
			continue
		}
		if !r.cmd.keyed {
			if !r.cmd.neutral {
				if n == 0 && c.session.redirect && routes != nil {
					c.ownerOf(r, routes)
				}
				break
			}
			continue
		}
		if n > 0 && (c.srv.pause.applies(r.cmd) || c.seeks(r)) {
			break
		}
		solo := r.solo || r.cmd.script && c.goesAstray(r)
		if n > 0 && solo {
			break
		}
		args := c.args[r.first:r.last]
		var err error
		c.keys, err = r.cmd.keysOf(args, c.keys[:0])
		if err != nil {
			continue // its handler says what is wrong
		}
		if n > 0 && keys+len(c.keys) > maxUnitKeys {
			break
		}
		placed := len(c.places)
		for _, k := range c.keys {
			key := args[k.pos]
			if int64(len(key)) > c.srv.settings.maxKey.Load() {
				r.msg = msgKeyTooLong
				break
			}
			c.places = append(c.places, c.unit.Place(key))
		}
		c.places = append(c.places, r.extra...)
		if routes != nil && r.msg == "" {
			r.owner = routes.ofAll(c.places[placed:])
		}
		if len(c.places)-placed > 1 && !r.judged && r.msg == "" {
			c.judge(r, c.places[placed:])
		}
		if routes != nil && r.msg == "" && r.cmd.mayWrite {
			c.writes(r, routes, c.places[placed:])
		}
		if r.owner != ownerSelf {
			c.places = c.places[:placed]
			break
		}
		keys += len(c.keys)
		// What reads several keys must see them as of one moment.
		latched = latched || r.waits || r.cmd.flags&flagWrite != 0 || len(c.keys) > 1 || r.cmd.latched
		if c.every = r.every; solo {
			if n++; n < len(reqs) {
				reqs[n].owner = ownerSelf // it is looked at when its turn comes
			}
			break
		}
	}
	if !latched {
		c.places = c.places[:0]
	}
	return n
}

// runUnit runs requests as one unit, or the first of them if a client must take its
// replies before there is room for more. It returns how many it has run.
func (c *conn) runUnit(reqs []request) int {
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && c.srv.pause.applies(r.cmd) {
			c.srv.pause.wait(c, r.cmd)
			break
		}
	}
	c.refuseBusy(reqs)
	if c.every {
		c.beginAll()
	} else {
		c.begin(c.places)
	}
	for !c.every && c.srv.blocked.movers.Load() > 0 && c.latchMore(reqs) {
		c.unit.Abort()
		c.begin(c.places)
	}
	for i := range reqs {
		r := &reqs[i]
		at := len(c.out.buf)
		c.leased.ran(r)
		c.call.req = r
		c.runOne(r)
		if len(c.call.wants) > 0 {
			return c.widen(r)
		}
		if c.call.waiter != nil {
			return c.waitHere(r)
		}
		if c.call.again {
			c.out.buf = c.out.buf[:at]
			if c.near.on {
				return c.stands(i)
			}
			if c.sendUnit() {
				if c.from != nil {
					c.from.takesLong(r)
				}
				c.runApart(r)
			}
			if c.call.waiter != nil { // it found nothing this time
				c.call.waiter = nil
				return i
			}
			return i + 1
		}
		c.feed(r)
		c.countOf(r, at)
		if len(c.outbox) > 0 {
			c.finishPosting()
			return i + 1
		}
		if full := c.from != nil && c.from.full(); (full || len(c.out.buf) >= maxUnitReplies) && i+1 < len(reqs) {
			if c.near.on {
				return c.stands(i + 1)
			}
			c.sendUnit()
			return i + 1
		}
	}
	return c.stands(len(reqs))
}

// stands ends the unit, of which so many requests were run. It returns how many of them
// stand: none if what they have read must not be answered any more, and nothing else has
// happened, so that all may be run again.
func (c *conn) stands(n int) int {
	if c.commit() || c.leased.fine() {
		return n
	}
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
	c.out.buf = c.out.buf[:c.unitStart]
	if ends, _ := c.ends(); ends != nil {
		*ends = (*ends)[:len(*ends)-c.unitReplies]
	}
	if routes := c.srv.routes.Load(); routes != nil {
		c.leave()
		c.waitOn(routesPause, routes.next) // which say that nothing is this node's for now
	}
	return 0
}

// countOf notes the reply to a request that starts at byte at.
func (c *conn) countOf(r *request, at int) {
	before := c.unitReplies
	c.count(at)
	if c.unitReplies > before {
		c.leased.replied(r.msg == "" && r.cmd.mayWrite)
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
	if c.call.everything {
		c.unit.HoldAll()
	}
	c.call.apart = true
	c.leased.ran(r)
	c.runOne(r)
	if c.call.waiter == nil {
		c.feed(r)
		c.countOf(r, 0)
	}
	c.call.apart, c.call.everything = false, false
	c.finishUnit()
}

// begin starts a unit.
func (c *conn) begin(places []store.Place) {
	c.unit.Begin(time.Now().UnixMilli(), places)
	c.lately = 0
	c.unitStart, c.unitReplies, c.unitFailed = len(c.out.buf), 0, false
	c.leased.begin(places)
}

// count notes a reply that starts at byte at.
func (c *conn) count(at int) {
	c.ended()
	if len(c.out.buf) <= at {
		return // no reply, or it has left already
	}
	if c.session.keepReply() {
		c.unitReplies++
	} else {
		c.out.buf = c.out.buf[:at]
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
	c.uncounted.pass(c.srv.stats)
	c.unit.Early(c.session.early && len(c.fed) == 0)
	wait, err := c.unit.Commit(c)
	switch {
	case err != nil:
		c.failUnit(err)
		c.tellFed(err, "")
	case wait:
		c.pending = true
		if c.direct == nil && c.from == nil {
			c.await()
		}
	}
	return wait || err != nil
}

// alone runs a request outside of any unit.
func (c *conn) alone(r *request) {
	c.srv.pause.wait(c, r.cmd)
	if r.cmd.waitsHere(c.srv) && c.flush() != nil {
		c.closing = true
		return
	}
	at := len(c.out.buf)
	c.lately = 0
	c.runOne(r)
	c.uncounted.pass(c.srv.stats)
	c.count(at)
	if then := c.call.then; then != nil {
		c.call.then = nil
		c.subscribe(then)
	}
}

// messages runs what the requests begin with: messages, or subscriptions to them. It returns
// how many it has run.
func (c *conn) messages(reqs []request) int {
	r := &reqs[0]
	switch {
	case c.belongsElsewhere(r):
		c.redirectShard(r)
		return 1
	case r.cmd.publishes:
		return c.publish(reqs)
	}
	return c.subscribes(reqs)
}

// reject replies why a command is not run; it is nil if there is no such command.
func (c *conn) reject(cmd *command, msg string) {
	at := len(c.out.buf)
	c.out.err(msg)
	c.srv.stats.rejected(cmd)
	c.srv.stats.errorReply(c.out.buf[at:])
}

// runOne runs a request, or replies why not.
func (c *conn) runOne(r *request) {
	x := &c.call
	x.again, x.waited = false, 0
	x.everything = x.everything && x.apart
	if r.msg != "" {
		c.reject(r.cmd, r.msg)
		return
	}
	x.cmd, x.args = r.cmd, c.args[r.first:r.last]
	if r.cmd.flags&flagWrite != 0 {
		if err := c.srv.store.Writable(); err != nil {
			c.reject(r.cmd, errorText(err))
			return
		}
	}
	if c.srv.monitors.active() && r.stay == nil && r.cmd.as == nil && r.cmd.full != "exec" {
		c.srv.monitors.feed(c, r.cmd, x.args)
	}
	cmd := cmp.Or(r.cmd.as, r.cmd)
	if c.session.lastCmd.Load() != cmd {
		c.session.lastCmd.Store(cmd)
	}
	c.execute(cmd, r.cmd.run)
}

// execute runs the call that is set up, as a call of cmd, and counts it.
func (c *conn) execute(cmd *command, run func(*call)) {
	x := &c.call
	args, at := x.args, len(c.out.buf)
	c.reads(cmd, args)
	if !cmd.keyed && !cmd.neutral {
		c.uncounted.pass(c.srv.stats)
	}
	x.start = at
	start, waited := c.lately, x.waited
	if start == 0 {
		start = c.srv.clock()
	}
	c.lately = 0 // of what runs within this one, the first looks at the clock itself
	run(x)
	if len(x.wants) > 0 {
		return // it will be run again
	}
	c.ran(cmd)
	c.lately = c.srv.clock()
	took := c.lately - start - (x.waited - waited)
	if x.again {
		return
	}
	c.uncounted.ran(c.srv.stats, cmd, took)
	if len(c.out.buf) > at && c.out.buf[at] == '-' {
		c.srv.stats.commands[cmd.id].failed.Add(1)
		c.srv.stats.errorReply(c.out.buf[at:])
	}
	c.srv.slowlog.consider(c, cmd, args, took)
	if cap(c.out.buf) > keepReply {
		c.chargeReply()
	}
}
