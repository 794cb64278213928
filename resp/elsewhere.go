package resp

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Requests whose keys this node does not serve are forwarded to the node that does,
// or the client is told where that is.

const (
	// forwardTimeout is how long a client waits for another node at most.
	forwardTimeout = 5 * time.Second
	// routesPause is how long to wait for new routes before an old one is tried again.
	routesPause = 20 * time.Millisecond
)

// Errors of a [Link].
var (
	// ErrNotSent says that no byte of a batch has left: it may be sent again.
	ErrNotSent = errors.New("not sent")
	// ErrUnknownOutcome says that a batch may or may not have been run.
	ErrUnknownOutcome = errors.New("outcome unknown")
)

const (
	// msgNotMine is what a node answers to a forwarded request that it does not serve
	// any more. It never leaves the cluster.
	msgNotMine     = "NOTMINE"
	msgNoCopy      = "CLUSTERDOWN no copy of the key is there"
	msgCrossSlot   = "CROSSSLOT Keys in request don't hash to the same slot"
	msgUnreachable = "TRYAGAIN the node that serves the key cannot be reached"
	msgMoving      = "TRYAGAIN the key is changing hands"
)

// A batch is what one pipeline forwards to one node.
type batch struct {
	link     *Route
	bytes    []byte
	requests int

	wait     func() (Replies, error)
	replies  Replies
	err      error
	received bool
	next     int // the reply to take next
}

func (b *batch) send(resp3 bool) {
	b.received, b.next, b.err = false, 0, ErrNotSent
	if b.link.Link == nil {
		b.received = true
		return
	}
	if b.wait, b.err = b.link.Link.Forward(b.bytes, b.requests, resp3, forwardTimeout); b.err != nil {
		b.received = true
	}
}

// reply waits for the replies and returns the next one.
func (b *batch) reply() ([]byte, error) {
	if !b.received {
		b.replies, b.err = b.wait()
		b.received = true
		if b.err == nil && len(b.replies.Ends) != b.requests {
			b.err = fmt.Errorf("%w: %d replies to %d requests", ErrUnknownOutcome, len(b.replies.Ends), b.requests)
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	start := 0
	if b.next > 0 {
		start = b.replies.Ends[b.next-1]
	}
	b.next++
	return b.replies.Bytes[start:b.replies.Ends[b.next-1]], nil
}

// elsewhere answers the first requests, of which the very first is not this node's by
// the routes. It returns how many; 0 if they are to be looked at again, by newer
// routes.
func (c *conn) elsewhere(reqs []request, routes *Routes) int {
	if c.srv.pause.applies(reqs[0].cmd) {
		c.srv.pause.wait(c, reqs[0].cmd)
	}
	if c.from != nil {
		return c.notMine(&reqs[0], routes)
	}
	switch reqs[0].owner {
	case ownerHeld:
		if !c.awaitRoutes(routes, forwardTimeout) {
			c.refuse(&reqs[0], msgMoving)
			return 1
		}
		return 0
	case ownerNone:
		c.refuse(&reqs[0], msgNoCopy)
		return 1
	case ownerSeveral:
		c.split(&reqs[0], routes)
		return 1
	}
	n := c.forward(reqs[:c.window(reqs, routes)], routes)
	if c.pending {
		c.await() // its replies are held, so that the settler does not send them
	}
	return n
}

// notMine answers a forwarded request. While its range is held, nobody else serves it
// either.
func (c *conn) notMine(r *request, routes *Routes) int {
	if r.owner == ownerHeld && c.awaitRoutes(routes, forwardTimeout) {
		return 0
	}
	c.refuse(r, msgNotMine)
	return 1
}

// refuse replies with an error to a request that has not run.
func (c *conn) refuse(r *request, msg string) {
	at := len(c.out.buf)
	c.reject(r.cmd, msg)
	c.count(at)
}

// awaitRoutes waits until there are newer routes; it returns false if there are none
// in time or the connection ends.
func (c *conn) awaitRoutes(routes *Routes, d time.Duration) bool {
	if c.pending {
		c.await()
	}
	if len(c.out.buf) > 0 && c.from == nil && c.flush() != nil {
		c.closing = true
		return false
	}
	c.wait(d, routes.next)
	return c.srv.routes.Load() != routes
}

// window is how many of the requests can be under way together: those with one owner
// each, here or elsewhere, and those without keys that only reply.
func (c *conn) window(reqs []request, routes *Routes) int {
	for n := range reqs {
		r := &reqs[n]
		if n > 0 {
			r.owner = c.ownerOf(r, routes)
		}
		switch {
		case r.owner == ownerHeld || r.owner == ownerNone || r.owner == ownerSeveral,
			r.msg == "" && len(r.cmd.keys) == 0 && !r.cmd.neutral,
			n > 0 && r.msg == "" && c.srv.pause.applies(r.cmd):
			return max(n, 1)
		}
	}
	return len(reqs)
}

// ownerOf is who serves the keys of a request; requests without keys, and those that
// cannot be understood, are answered here.
func (c *conn) ownerOf(r *request, routes *Routes) int32 {
	if r.msg != "" || len(r.cmd.keys) == 0 {
		return ownerSelf
	}
	args := c.args[r.first:r.last]
	var err error
	if c.keys, err = r.cmd.keysOf(args, c.keys[:0]); err != nil {
		return ownerSelf
	}
	c.places = c.places[:0]
	for _, k := range c.keys {
		if int64(len(args[k.pos])) > c.srv.settings.maxKey.Load() {
			return ownerSelf // which says so
		}
		c.places = append(c.places, c.unit.Place(args[k.pos]))
	}
	return routes.ofAll(c.places)
}

// forward sends to each other node what is for it, runs what is for this one, and
// puts all replies in order. It returns how many requests it has answered.
func (c *conn) forward(reqs []request, routes *Routes) int {
	for _, b := range c.far {
		b.bytes, b.requests, b.link = b.bytes[:0], 0, nil
	}
	for len(c.far) < len(routes.links) {
		c.far = append(c.far, &batch{})
	}
	for i := range reqs {
		r := &reqs[i]
		// Kept apart from owner, which is another by newer routes.
		if r.sent = max(r.owner, -1); r.sent >= 0 {
			b := c.far[r.owner]
			b.link = routes.links[r.owner]
			b.bytes = append(b.bytes, c.in[r.from:r.to]...)
			b.requests++
		}
	}
	for _, b := range c.far[:len(routes.links)] {
		if b.requests > 0 {
			b.send(c.out.proto == 3)
		}
	}
	for i := 0; i < len(reqs) && !c.closing; {
		r := &reqs[i]
		if c.pending {
			c.await()
		}
		if len(c.out.buf) >= flushSize && c.flush() != nil {
			c.closing = true
			break
		}
		if r.sent >= 0 {
			c.take(r, c.far[r.sent])
			i++
			continue
		}
		here := i + 1
		for here < len(reqs) && reqs[here].sent < 0 {
			here++
		}
		i += c.runHere(reqs[i:here])
	}
	for _, b := range c.far {
		// Replies that nobody takes any more are waited for: a link may reuse them.
		if b.requests > 0 && !b.received {
			_, _ = b.reply()
		}
		if cap(b.bytes) > keepInput {
			b.bytes = nil
		}
		b.replies = Replies{}
	}
	return len(reqs)
}

// runHere runs the first requests as a unit of this node, or goes with the first where
// it belongs by now. It returns how many it has answered.
func (c *conn) runHere(reqs []request) int {
	routes := c.enter()
	n := c.gather(reqs, routes)
	c.hold = true
	if n == 0 {
		c.leave()
		c.again(&reqs[0])
		return 1
	}
	n = c.runUnit(reqs[:n])
	c.leave()
	return n
}

// take appends the reply to a forwarded request, which it sends once more if it was
// certainly not run.
func (c *conn) take(r *request, b *batch) {
	reply, err := b.reply()
	switch {
	case err == nil && !isNotMine(reply):
		at := len(c.out.buf)
		c.out.buf = append(c.out.buf, reply...)
		c.count(at)
	case err == nil || errors.Is(err, ErrNotSent):
		c.again(r)
	case r.cmd.flags&flagWrite == 0 && !errors.Is(err, ErrTimeout):
		c.again(r) // nothing is lost by reading twice
	default:
		c.refuse(r, "UNKNOWN The write may or may not have been made: "+err.Error())
	}
}

// ErrTimeout says that a node has not answered in time.
var ErrTimeout = errors.New("timeout")

func isNotMine(reply []byte) bool {
	return len(reply) == len(msgNotMine)+3 && reply[0] == '-' && bytes.HasPrefix(reply[1:], []byte(msgNotMine))
}

// again runs a request by itself wherever it belongs, until somebody has or time is
// over.
func (c *conn) again(r *request) {
	end := time.Now().Add(forwardTimeout)
	for !c.closing {
		if c.pending {
			c.await()
		}
		left := time.Until(end)
		if left <= 0 {
			c.refuse(r, msgUnreachable)
			return
		}
		routes := c.enter()
		one := []request{*r}
		if n := c.gather(one, routes); n > 0 {
			c.hold = true
			c.runUnit(one)
			c.leave()
			return
		}
		c.leave()
		switch one[0].owner {
		case ownerSelf: // cannot be: it has keys
			c.refuse(r, msgUnreachable)
			return
		case ownerSeveral:
			c.split(&one[0], routes)
			return
		case ownerNone:
			c.refuse(r, msgNoCopy)
			return
		case ownerHeld:
			c.awaitRoutes(routes, min(left, time.Second))
			continue
		}
		b := &batch{link: routes.links[one[0].owner], bytes: c.in[r.from:r.to], requests: 1}
		b.send(c.out.proto == 3)
		reply, err := b.reply()
		switch {
		case err == nil && !isNotMine(reply):
			at := len(c.out.buf)
			c.out.buf = append(c.out.buf, reply...)
			c.count(at)
			return
		case err == nil, errors.Is(err, ErrNotSent), r.cmd.flags&flagWrite == 0 && !errors.Is(err, ErrTimeout):
			c.awaitRoutes(routes, min(left, routesPause))
		default:
			c.refuse(r, "UNKNOWN The write may or may not have been made: "+err.Error())
			return
		}
	}
}
