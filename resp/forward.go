package resp

import (
	"cmp"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/monitoring"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
)

// forward sends to each other node what is for it, runs what is for this one meanwhile,
// and puts all replies in order. It returns how many requests it has answered.
func (c *conn) forward(reqs []request, routes *Routes) int {
	for _, b := range c.far {
		b.bytes, b.shared, b.requests, b.link, b.atomic = b.bytes[:0], false, 0, nil, false
	}
	for len(c.far) < len(routes.links) {
		c.far = append(c.far, &batch{})
	}
	showWindow(c, reqs)
	for i := range reqs {
		if r := &reqs[i]; r.owner >= 0 {
			b := c.far[r.owner]
			r.sent = b
			c.readsFar(r)
			b.link = routes.links[r.owner]
			b.atomic = b.atomic || goesAtomic(c, r)
			b.add(c.wire(r))
		}
	}
	c.farEnd = time.Now().Add(c.srv.forwardTimeout())
	arrived := c.asyncForwardCallback(reqs)
	charged := int64(0) // batches are copies of what the client's own buffer holds, but for those shared
	for _, b := range c.far[:len(routes.links)] {
		if b.requests > 0 {
			timeout := c.srv.forwardTime(len(b.bytes))
			if end := time.Now().Add(timeout); end.After(c.farEnd) {
				c.farEnd = end
			}
			if n := int64(len(b.bytes)); n > keepInput && !b.shared {
				c.srv.budget.Take(&c.Account, n)
				charged += n
			}
			c.srv.stats.Forwarded.Add(int64(b.requests))
			if arrived != nil {
				c.asyncForward.left.Add(1)
			}
			if sendFor(c, b, timeout, arrived); b.received && arrived != nil {
				c.asyncForward.left.Add(-1)
			}
		}
	}
	if arrived != nil && c.startAsyncForward() {
		return len(reqs)
	}
	c.runLocalPart(reqs)
	c.collect(reqs, charged)
	return len(reqs)
}

// collect waits for the replies to what is sent and puts all replies in order. It gives
// back what batches are charged.
func (c *conn) collect(reqs []request, charged int64) {
	charge := func(n int) {
		if n > keepInput {
			c.srv.budget.Take(&c.Account, int64(n))
			charged += int64(n)
		}
	}
	for _, b := range c.far {
		if b.requests > 0 && !b.received {
			b.receive()
			charge(len(b.replies.Bytes))
		}
	}
	charge(c.joinLocalPart())
	for i := 0; i < len(reqs) && !c.closing; {
		r := &reqs[i]
		if c.pending {
			c.await()
		}
		if len(c.out.Buf) >= flushSize && c.flush() != nil {
			c.closing = true
			break
		}
		if b := r.sent; b != nil {
			c.takeReply(r, b)
			r.sent = nil
			i++
			continue
		}
		here := i + 1
		for here < len(reqs) && reqs[here].sent == nil {
			here++
		}
		i += c.runLocally(reqs[i:here])
	}
	if c.pending {
		c.await() // its replies are held, so that the settler does not send them
	}
	c.dropLocalPart()
	c.dropBatches()
	c.srv.budget.Release(&c.Account, charged)
}

// dropBatches lets go of the replies.
func (c *conn) dropBatches() {
	for _, b := range c.far {
		if cap(b.bytes) > keepBatch || b.shared {
			b.bytes, b.shared = nil, false
		}
		b.replies = Replies{}
	}
}

// runLocally runs the first requests as a unit of this node, or goes with the first where
// it belongs by now. It returns how many it has answered.
func (c *conn) runLocally(reqs []request) int {
	routes := c.enter()
	n := c.gather(reqs, routes)
	c.hold = true
	if n == 0 {
		c.leave()
		c.retryForward(&reqs[0])
		return 1
	}
	n = c.runUnit(reqs[:n])
	c.leave()
	return n
}

// takeReply passes on the reply to a forwarded request, which it sends once more if it was
// certainly not run.
func (c *conn) takeReply(r *request, b *batch) {
	reply, err := b.reply()
	switch f := r.fate(err); f {
	case outcome.Answered:
		c.passReply(r, reply)
	case outcome.NotRun:
		c.retryForward(r)
	default:
		c.refuse(r, f.Refusal(err))
	}
}

// passReply passes on the reply to a forwarded request. A large one leaves at once, not
// to be kept twice.
func (c *conn) passReply(r *request, reply []byte) {
	showSent(c, r, monitoring.Cluster, reply)
	if r.atCopy && reply[0] == '-' && !namedBy(c, r, false).Flagged {
		reply = scripts.AsAtReplica(reply)
	}
	if c.session.lastCmd.Load() != r.cmd {
		c.session.lastCmd.Store(r.cmd)
	}
	if enough := min(flushSize, int(c.srv.settings.OutputBuffer.Load()/2)); len(c.out.Buf)+len(reply) > enough && c.session.replies == replyOn {
		if c.flush() == nil && len(reply) > enough {
			c.write.Lock()
			_ = c.send(reply)
			c.write.Unlock()
			reply = nil
		}
		if c.closing = c.closing || c.Closed.Load(); c.closing || reply == nil {
			return
		}
	}
	at := len(c.out.Buf)
	c.out.Buf = append(c.out.Buf, reply...)
	c.count(r.cmd, at)
	if cap(c.out.Buf) > keepReply {
		c.replyBuf.charge()
	}
}

// retryForward runs a request by itself wherever it belongs, until somebody has or time is
// over.
func (c *conn) retryForward(r *request) {
	last, owner, wait := c.srv.routes.Load(), r.owner, outcome.Pause(0) // by which it was tried
	for !c.closing {
		if c.pending {
			c.await()
		}
		left := time.Until(c.farEnd)
		if left <= 0 {
			break
		}
		routes := c.enter()
		if routes != nil && routes.Isolated && left > isolatedTimeout {
			left, c.farEnd = isolatedTimeout, time.Now().Add(isolatedTimeout)
		}
		one := []request{*r}
		if n := c.gather(one, routes); n > 0 {
			c.hold = true
			n = c.runUnit(one)
			c.leave()
			if n == 0 {
				*r = one[0]
				continue
			}
			return
		}
		c.leave()
		*r = one[0] // its keys may have another form
		last, owner = routes, r.owner
		switch owner {
		case ownerSeveral:
			c.split(r, routes)
			return
		case ownerNone, ownerSelf: // ownerSelf is impossible, since it has keys
			c.refuse(r, msgNoCopy)
			return
		case ownerHeld:
			c.awaitRoutes(routes, left)
			continue
		}
		b := &batch{link: routes.links[owner], bytes: c.wire(r), requests: 1, atomic: goesAtomic(c, r)}
		c.readsFar(r)
		showSent(c, r, monitoring.Cluster, nil)
		sendFor(c, b, left, nil)
		reply, err := b.reply()
		switch f := r.fate(err); f {
		case outcome.Answered:
			c.passReply(r, reply)
			return
		case outcome.NotRun:
			if c.srv.closed() { // which does not wait for nodes that are away
				c.refuse(r, msgUnreachable)
				return
			}
			c.awaitRoutes(routes, wait.Next(left))
		default:
			c.refuse(r, f.Refusal(err))
			return
		}
	}
	if !c.closing {
		c.refuse(r, c.outOfTime(r, last, owner))
	}
}

// outOfTime is what the client is told of a request that nobody has run in time, whose
// owner was that.
func (c *conn) outOfTime(r *request, routes *Routes, owner int32) string {
	if owner == ownerHeld || routes.Why != "" {
		return cmp.Or(routes.Why, command.MsgMoving)
	}
	args := c.args[r.first:r.last]
	keys, err := r.cmd.KeysOf(args, c.keys[:0])
	if err == nil && len(keys) > 0 && routes.away(c.unit.Place(args[keys[0].Pos]).Token()) {
		return msgAway
	}
	return msgUnreachable
}
