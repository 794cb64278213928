package resp

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// The budget bounds the memory of requests and replies in flight, of all clients
// together. A request that needs more waits, unread. One connection at a time may
// exceed the limit, so that a request larger than the whole budget can pass, and
// so that requests that each hold a part of it do not wait for one another for
// ever. While requests wait, the client that holds the most memory among those
// that do not go on, reading its replies or sending the rest of its request, is
// closed.
type budget struct {
	srv   *Server
	mu    sync.Mutex
	freed sync.Cond
	used  int64
	// remoteWaiters are the bytes that commands of other nodes' clients take while they wait here.
	// They count as used, and change without mu.
	remoteWaiters atomic.Int64
	large         *conn // whoever may exceed the limit
	wait          int   // connections that wait
	ended         bool
}

var errBudget = errors.New("resp: connection closed while a request waited for memory")

const (
	// slowConsumer is how long a client may leave a reply unread while others
	// wait for memory,
	slowConsumer = time.Second
	// stalledSender in which time it must send another keepInput bytes of a large
	// request.
	stalledSender = 5 * time.Second
)

func (b *budget) init(srv *Server) {
	b.srv = srv
	b.freed.L = &b.mu
}

// acquire takes n bytes for a request of c, waiting until they are there; it
// returns false when the connection or the server closes.
func (b *budget) acquire(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.ended && !c.closed.Load() {
		if b.fits(c, n) {
			b.used += n
			c.charged += n
			return true
		}
		b.wait++
		b.freed.Wait()
		b.wait--
	}
	return false
}

// take takes n bytes whether they fit or not: few enough that clients, whose number
// is bounded, cannot take much that way.
func (b *budget) take(c *conn, n int64) {
	b.mu.Lock()
	b.used += n
	c.charged += n
	b.mu.Unlock()
}

// spare takes n bytes for what goes better with them but goes without, as long as half
// of the budget stays for others; it reports whether it has.
func (b *budget) spare(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.remoteWaiters.Load()+n > b.srv.settings.ClientMemory.Load()/2 {
		return false
	}
	b.used += n
	c.charged += n
	return true
}

// borrow takes n bytes if they are there: no connection may exceed the limit for them.
func (b *budget) borrow(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+b.remoteWaiters.Load()+n > b.srv.settings.ClientMemory.Load() {
		return false
	}
	b.used += n
	c.charged += n
	return true
}

// fits reports whether c may take n bytes more. If they exceed the limit and no
// other connection does, c is the one that may. The caller holds mu.
func (b *budget) fits(c *conn, n int64) bool {
	if b.used+b.remoteWaiters.Load()+n <= b.srv.settings.ClientMemory.Load() || b.large == c {
		return true
	}
	if b.large != nil && !b.large.closed.Load() && b.large.charged > keepInput+keepReply {
		return false
	}
	b.large = c
	return true
}

// charge takes n bytes for replies of c without waiting, and reports whether they
// may be kept.
func (b *budget) charge(c *conn, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := b.fits(c, n) || b.closeSlowest()
	b.used += n
	c.charged += n
	return fits
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
	return b.used + b.remoteWaiters.Load()
}

// host takes n bytes for a remote waiter, or reports that they are not there. Few bytes are taken
// anyhow, as by take.
func (b *budget) host(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > keepInput && b.used+b.remoteWaiters.Load()+n > b.srv.settings.ClientMemory.Load() {
		return false
	}
	b.remoteWaiters.Add(n)
	return true
}

// of returns how many bytes c holds.
func (b *budget) of(c *conn) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return c.charged
}

// relieve is called once a second. It looks after those who wait: whoever keeps
// them waiting without need is closed, and those whose connection was closed
// meanwhile wake up.
func (b *budget) relieve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wait > 0 {
		b.closeSlowest()
		b.freed.Broadcast()
	}
}

// end lets everybody who waits go, in vain.
func (b *budget) end() {
	b.mu.Lock()
	b.ended = true
	b.freed.Broadcast()
	b.mu.Unlock()
}

// closeSlowest closes the connection that holds the most memory among those whose
// client keeps the server waiting, and reports whether there is one. The caller
// holds mu.
func (b *budget) closeSlowest() bool {
	now := b.srv.clock()
	var slowest *conn
	for _, c := range b.srv.snapshot() {
		if !c.slow(now) || c.closed.Load() || c.session.noEvict.Load() {
			continue
		}
		if slowest == nil || c.charged > slowest.charged {
			slowest = c
		}
	}
	if slowest == nil {
		return false
	}
	b.srv.log.Warn("closing a slow client: memory for requests and replies is used up",
		"client", slowest.session.id, "addr", slowest.net.RemoteAddr(), "bytes", slowest.charged)
	b.srv.stats.OutputLimit.Add(1)
	slowest.close()
	return true
}

// slow reports whether the client has kept a write, or the rest of a large request or
// transaction, waiting for too long.
func (c *conn) slow(now time.Duration) bool {
	blocked, stalled := time.Duration(c.blockedAt.Load()), time.Duration(c.stalledAt.Load())
	queued := time.Duration(c.multi.since.Load())
	return blocked > 0 && now-blocked >= slowConsumer || stalled > 0 && now-stalled >= stalledSender ||
		queued > 0 && now-queued >= stalledSender
}
