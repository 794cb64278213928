package resp

import (
	"cmp"
	"strconv"
	"time"
)

// Requests whose keys this node does not serve are forwarded to the node that does,
// or the client is told where that is.

const (
	// forwardTimeout is how long a client waits for another node at most.
	forwardTimeout = 5 * time.Second
	// heldTimeout is how long a forwarded request waits at a node that cannot run it
	// for the moment. After that it is the turn of the one that forwards it, who knows
	// how long the client waits.
	heldTimeout = 200 * time.Millisecond
	// routesPause is how long to wait for new routes before an old one is tried again.
	routesPause = 20 * time.Millisecond
)

const (
	// msgNotMine is what a node answers to a forwarded request that it has not run,
	// most likely because it does not serve the key any more. It never leaves the
	// cluster.
	msgNotMine     = "NOTMINE"
	msgNoCopy      = "CLUSTERDOWN no copy of the key is there"
	msgCrossSlot   = "CROSSSLOT Keys in request don't hash to the same slot"
	msgUnreachable = "TRYAGAIN the node that serves the key cannot be reached"
	msgMoving      = "TRYAGAIN the key is changing hands"
)

// elsewhere answers the first requests, of which the very first is not this node's by
// the routes. It returns how many; 0 if they are to be looked at again, by newer
// routes.
func (c *conn) elsewhere(reqs []request, routes *Routes) int {
	r := &reqs[0]
	if c.from != nil {
		return c.notMine(r, routes)
	}
	if c.srv.pause.applies(r.cmd) {
		c.srv.pause.wait(c, r.cmd)
	}
	switch {
	case r.owner == ownerHeld:
		if c.awaitRoutes(routes, forwardTimeout) {
			return 0
		}
		c.refuse(r, cmp.Or(routes.Why, msgMoving))
		return 1
	case r.owner == ownerNone:
		c.refuse(r, msgNoCopy)
		return 1
	case c.session.redirect:
		c.moved(r, routes)
		return 1
	case r.owner == ownerSeveral:
		c.split(r, routes)
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
	if r.owner == ownerHeld && c.awaitRoutes(routes, heldTimeout) {
		return 0
	}
	c.srv.stats.notMine.Add(1)
	c.sendBack(r)
	return 1
}

// sendBack answers a forwarded request that has not run.
func (c *conn) sendBack(r *request) {
	c.from.refused = true
	c.refuse(r, msgNotMine)
}

// postponed sends a forwarded request back that cannot run now: one before it in the
// batch did not, the clients are paused, or the replies are as large as they may be.
func (c *conn) postponed(r *request) bool {
	pause := &c.srv.pause
	if !c.from.refused && pause.applies(r.cmd) {
		left, over := pause.left()
		c.wait(min(left, heldTimeout), over)
	}
	if !c.from.refused && !c.from.full() && !pause.applies(r.cmd) {
		return false
	}
	c.sendBack(r)
	return true
}

// moved tells the client of a redirect connection where to go.
func (c *conn) moved(r *request, routes *Routes) {
	if r.owner == ownerSeveral {
		c.srv.stats.crossSlot.Add(1)
		c.refuse(r, msgCrossSlot)
		return
	}
	args := c.args[r.first:r.last]
	keys, err := r.cmd.keysOf(args, c.keys[:0])
	if err != nil || len(keys) == 0 {
		c.refuse(r, msgSyntax) // cannot be: it has an owner
		return
	}
	at := uint64(c.unit.Place(args[keys[0].pos]).Token())
	if c.srv.cfg.Slots {
		at >>= slotShift
	}
	if routes.links[r.owner].Addr == "" {
		c.refuse(r, msgUnreachable)
		return
	}
	c.srv.stats.redirected.Add(1)
	c.refuse(r, "MOVED "+strconv.FormatUint(at, 10)+" "+routes.links[r.owner].Addr)
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
