package resp

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// How a connection waits for what another one brings: its goroutine reads on, so that it
// notices when the client is gone, until somebody wakes it. What it reads stays in the buffer
// for later; once that is full, only CLIENT KILL and the like tell.

// A waitSignal is a connection that waits, or may.
type waitSignal struct {
	mu     sync.Mutex
	asleep bool
	woken  bool // something has happened since it looked last
	// blocked: it waits in a command that CLIENT UNBLOCK ends; unblock is how.
	blocked bool
	unblock waitEnd
	bell    chan struct{} // capacity 1: woken, for who does not read
	// came: the reply of another node is there.
	came atomic.Bool
}

// longAgo is a deadline that ends a read at once.
var longAgo = time.Unix(1, 0)

// wake has the connection look what has happened. It does not wait.
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
	if c.srv.closed() { // whose deadline was replaced
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

// readAhead reads once, or waits where there is no room.
func (c *conn) readAhead(until time.Time) {
	if c.end == len(c.in) && len(c.in) < keepInput {
		c.widenInput()
	}
	if c.end < len(c.in) {
		n, err := c.net.Read(c.in[c.end:])
		c.end += n
		c.session.bytesIn.Add(int64(n))
		c.srv.stats.bytesIn.Add(int64(n))
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
// Invariant: INFO's blocked_clients counts the marked connections, and only those. So CLIENT
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
		c.srv.stats.waiting.Add(1)
		c.srv.stats.blocked.Add(1)
	} else {
		c.srv.stats.waiting.Add(-1)
		c.srv.stats.blocked.Add(-1)
	}
}

// answerReleased answers a request whose wait was ended while it went from one wait to the next. It
// returns false if the request goes on. Nothing was taken for it: a request that has been
// served, or may have been, is not looked at again.
func (c *conn) answerReleased(r *request) bool {
	if !c.blocking {
		return false
	}
	why := c.wakeReason(time.Time{})
	if why == waitGoesOn {
		return false
	}
	at := len(c.out.Buf)
	c.unserved(r, why)
	c.count(at)
	return true
}

// endWait ends the wait of another connection, as CLIENT UNBLOCK does. It returns false if
// that does not wait.
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

// wakeReason is why the connection does not wait any longer, if it does not.
func (c *conn) wakeReason(until time.Time) waitEnd {
	s := &c.waitSignal
	s.mu.Lock()
	unblock := s.unblock
	s.mu.Unlock()
	switch {
	case c.closing || c.closed.Load() || c.srv.closed():
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
