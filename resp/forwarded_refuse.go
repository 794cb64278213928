package resp

import (
	"time"
)

// releaseBatches lets somebody else see to the batches behind that of a request. It is
// called between units.
func (f *forwardedConn) releaseBatches(r *request) {
	c, g := f.conn, &f.group
	if g.release == nil {
		return
	}
	n := int(r.part) + 1
	if n < len(g.batches) {
		c.reqs = c.reqs[:g.first[n]]
		g.batches = g.batches[:n]
	}
	release := g.release
	g.release = nil
	if n > 1 && !c.pending {
		_ = c.flush()
		f.answer(n - 1)
	}
	release(n)
}

// answerNotOwned answers a forwarded request. While its range is held, nobody else serves it
// either.
func (c *conn) answerNotOwned(r *request, routes *Routes) int {
	if r.owner == ownerHeld {
		if left := c.from.remainingWait(r, heldTimeout); left > 0 {
			if c.pending {
				c.await()
			}
			c.from.releaseBatches(r)
			if c.awaitRoutes(routes, left) {
				return 0
			}
		}
	}
	c.srv.stats.NotMine.Add(1)
	c.returnUnrun(r)
	return 1
}

// remainingWait is how long a request may wait here, at most d: so that the answer is back
// while somebody waits for it.
func (f *forwardedConn) remainingWait(r *request, d time.Duration) time.Duration {
	return f.remainingWaitOf(&f.group.batches[r.part], d)
}

func (f *forwardedConn) remainingWaitOf(b *Forwarded, d time.Duration) time.Duration {
	if b.Deadline == 0 {
		return d
	}
	return min(d, (b.Deadline-f.conn.srv.cfg.Clock())*3/4)
}

// returnUnrun answers a forwarded request that has not run.
func (c *conn) returnUnrun(r *request) {
	c.from.group.refused = r.part
	c.from.status = StatusNotRun
	c.refuse(r, msgNotMine)
}

// mustPostpone sends a forwarded request back that cannot run now: one before it in the
// batch did not, the clients are paused, or the replies are as large as they may be.
func (c *conn) mustPostpone(r *request) bool {
	pause := &c.srv.pause
	refused := c.from.group.refused == r.part
	if !refused && pause.Applies(r.cmd) {
		left, over := pause.Left()
		if left = c.from.remainingWait(r, min(left, heldTimeout)); left > 0 {
			c.from.releaseBatches(r)
			c.wait(left, over)
		}
	}
	if !refused && !c.from.full() && !pause.Applies(r.cmd) {
		return false
	}
	c.returnUnrun(r)
	return true
}
