package resp

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A connection sleeps in a read, so that it notices when its client leaves; another goroutine wakes
// it. The bytes that it reads stay in the buffer for later commands. With a full buffer it does not
// read, and notices only CLIENT KILL and the like.

// A waitSignal holds whether a connection sleeps, and what wakes it.
type waitSignal struct {
	mu     sync.Mutex
	asleep bool
	woken  bool // wake was called since the last sleep
	// blocked: it waits in a command that CLIENT UNBLOCK ends, in the way of unblock.
	blocked bool
	unblock waitEnd
	leaving bool          // endTimedWaits was called
	bell    chan struct{} // capacity 1: wakes a connection that does not read
	// arrived: the reply of another node is there.
	arrived atomic.Bool
}

// longAgo is a deadline that ends a read at once.
var longAgo = time.Unix(1, 0)

// wake ends the sleep of the connection, or its next one. It does not wait.
func (c *conn) wake() {
	s := &c.waitSignal
	s.mu.Lock()
	defer s.mu.Unlock()
	c.wakeLocked()
}

func (c *conn) wakeLocked() {
	s := &c.waitSignal
	s.woken = true
	if !s.asleep {
		return
	}
	_ = c.net.SetReadDeadline(longAgo)
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// sleep returns when the connection was woken, when the client has sent something or is gone,
// or at a time (zero: never by itself); or without a reason.
func (c *conn) sleep(until time.Time) {
	s := &c.waitSignal
	s.mu.Lock()
	if s.woken {
		s.woken = false
		s.mu.Unlock()
		return
	}
	s.asleep = true
	_ = c.net.SetReadDeadline(until)
	s.mu.Unlock()
	if c.srv.closed() { // closing sets a deadline, which the line above may have replaced
		_ = c.net.SetReadDeadline(longAgo)
	}
	c.readAhead(until)
	s.mu.Lock()
	s.asleep, s.woken = false, false
	select {
	case <-s.bell:
	default:
	}
	c.endLinger()
	s.mu.Unlock()
}

// readAhead reads once, or waits for the bell if the buffer is full.
func (c *conn) readAhead(until time.Time) {
	if c.end == len(c.in) && len(c.in) < keepInput {
		c.widenInput()
	}
	if c.end < len(c.in) {
		n, err := c.net.Read(c.in[c.end:])
		c.end += n
		c.session.bytesIn.Add(int64(n))
		c.srv.stats.BytesIn.Add(int64(n))
		var timeout net.Error
		if err != nil && (!errors.As(err, &timeout) || !timeout.Timeout()) {
			c.closing = true
		}
		return
	}
	var over <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-c.waitSignal.bell:
	case <-over:
	case <-c.gone:
	case <-c.srv.stop:
	}
}

// markBlocked marks the connection as one that waits in a command, or ends that. A blocking command
// is marked from its first wait until its reply, also while it goes from one node to the next
// or waits for routes.
//
// Invariant: INFO's blocked_clients counts the marked connections, and beside them only paused ones. So CLIENT
// UNBLOCK ends the wait of each client that is counted, but for one whose reply is being
// written. A release that comes between two waits stays noted, and ends the next wait or the
// next round of [conn.runResolved], whichever comes first.
func (c *conn) markBlocked(on bool) {
	if c.blocking == on {
		return
	}
	c.blocking = on
	s := &c.waitSignal
	s.mu.Lock()
	s.blocked, s.unblock = on, waitGoesOn
	s.mu.Unlock()
	c.session.waiting.Store(on)
	c.session.lastUsed.Store(int64(c.srv.clock()))
	if on {
		c.srv.stats.Waiting.Add(1)
		c.srv.stats.Blocked.Add(1)
	} else {
		c.srv.stats.Waiting.Add(-1)
		c.srv.stats.Blocked.Add(-1)
	}
}

// answerReleased answers a request whose wait was ended while it went from one wait to the next. It
// returns false if the request goes on. Nothing was taken for it: a request that has been
// served, or may have been, is not looked at again.
func (c *conn) answerReleased(r *request) bool {
	if !c.blocking {
		return false
	}
	why := dataWaitReason(c, r, time.Time{})
	if why == waitGoesOn {
		return false
	}
	at := len(c.out.Buf)
	c.unserved(r, why)
	c.count(nil, at)
	return true
}

// endWait ends the wait of the connection, as CLIENT UNBLOCK does. It returns false if it does not
// wait.
func (c *conn) endWait(how waitEnd) bool {
	s := &c.waitSignal
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.blocked || s.unblock != waitGoesOn {
		return false
	}
	s.unblock = how
	c.wakeLocked()
	return true
}

// endTimedWaits has commands that wait for data, for some time at most, answer as if that were over,
// the present one and later ones: the client is to go, or the node ends. A client expects this
// reply, but not that its connection ends.
func (c *conn) endTimedWaits() {
	s := &c.waitSignal
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	c.wakeLocked()
}

// dataWaitReason is wakeReason for a request that waits for data.
func dataWaitReason(c *conn, r *request, until time.Time) waitEnd {
	s := &c.waitSignal
	s.mu.Lock()
	leaving := s.leaving
	s.mu.Unlock()
	if leaving && r.progress != nil && !r.progress.until.IsZero() && !c.closing && !c.Closed.Load() {
		return waitTimedOut
	}
	return c.wakeReason(until)
}

// wakeReason returns why the connection does not wait any longer, or waitGoesOn.
func (c *conn) wakeReason(until time.Time) waitEnd {
	s := &c.waitSignal
	s.mu.Lock()
	unblock := s.unblock
	s.mu.Unlock()
	switch {
	case c.closing || c.Closed.Load() || c.srv.closed():
		return waitGone
	case unblock != waitGoesOn:
		return unblock
	case !until.IsZero() && !time.Now().Before(until):
		return waitTimedOut
	}
	select {
	case <-c.srv.hurry:
		return waitTimedOut
	default:
		return waitGoesOn
	}
}
