package resp

import (
	"errors"
	"sync"
	"time"
)

// The budget bounds the memory of requests and replies in flight, of all clients
// together. A request that needs more waits, unread; one that is larger than the
// whole budget may pass, one at a time. While requests wait, the client that has
// made the server keep the most replies, and does not read them, is closed.
type budget struct {
	srv   *Server
	mu    sync.Mutex
	freed sync.Cond
	used  int64
	large *conn // whoever may exceed the limit
	wait  int   // connections that wait
	ended bool
}

var errBudget = errors.New("resp: server closed while a request waited for memory")

// slowConsumer is how long a client may leave a reply unread while others wait for
// memory.
const slowConsumer = time.Second

func (b *budget) init(srv *Server) {
	b.srv = srv
	b.freed.L = &b.mu
}

// acquire takes n bytes for a request of c, waiting until they are there; it
// returns false when the server closes.
func (b *budget) acquire(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended {
		limit := b.srv.settings.clientMemory.Load()
		if b.used+n > limit && (b.large == nil || b.large.closed.Load()) {
			b.large = c
		}
		if b.used+n <= limit || b.large == c {
			b.used += n
			c.charged += n
			return true
		}
		b.wait++
		if b.wait == 1 {
			b.closeSlowest()
			wake := time.AfterFunc(slowConsumer, b.wakeAll)
			b.freed.Wait()
			wake.Stop()
		} else {
			b.freed.Wait()
		}
		b.wait--
	}
	return false
}

func (b *budget) wakeAll() {
	b.mu.Lock()
	b.freed.Broadcast()
	b.mu.Unlock()
}

// charge takes n bytes for replies of c without waiting, and reports whether they
// may be kept.
func (b *budget) charge(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += n
	c.charged += n
	return b.used <= b.srv.settings.clientMemory.Load() || b.large == c || b.large == nil
}

// release gives n bytes back.
func (b *budget) release(c *conn, n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	b.used -= n
	c.charged -= n
	if b.large == c && c.charged <= keepInput+keepReply {
		b.large = nil
	}
	if b.wait > 0 {
		b.freed.Broadcast()
	}
	b.mu.Unlock()
}

func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// end lets everybody who waits go, in vain.
func (b *budget) end() {
	b.mu.Lock()
	b.ended = true
	b.freed.Broadcast()
	b.mu.Unlock()
}

// closeSlowest closes the connection that holds the most memory among those whose
// client has not taken a reply for a while. The caller holds mu.
func (b *budget) closeSlowest() {
	now := b.srv.clock()
	var slowest *conn
	for _, c := range b.srv.snapshot() {
		since := time.Duration(c.blockedAt.Load())
		if since == 0 || now-since < slowConsumer {
			continue
		}
		if slowest == nil || c.charged > slowest.charged {
			slowest = c
		}
	}
	if slowest != nil {
		b.srv.log.Warn("closing a slow client: memory for requests and replies is used up",
			"client", slowest.session.id, "addr", slowest.net.RemoteAddr(), "bytes", slowest.charged)
		b.srv.stats.outputLimit.Add(1)
		slowest.close()
	}
}

// chargeReply brings the charge for the reply buffer up to date, and closes the
// connection if it holds more than it may.
func (c *conn) chargeReply() {
	size := int64(cap(c.out.buf))
	if size <= keepReply {
		size = 0
	}
	delta := size - c.replyCharged
	if delta == 0 {
		return
	}
	c.replyCharged = size
	if delta < 0 {
		c.srv.budget.release(c, -delta)
		return
	}
	fits := c.srv.budget.charge(c, delta)
	if limit := c.srv.settings.outputBuffer.Load(); !fits || int64(len(c.out.buf)) > limit {
		c.srv.log.Warn("closing a client: its replies exceed the output buffer",
			"client", c.session.id, "addr", c.net.RemoteAddr(), "bytes", len(c.out.buf))
		c.srv.stats.outputLimit.Add(1)
		c.out.buf = nil
		c.closing = true
		c.close()
	}
}
