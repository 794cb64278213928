package resp

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// How a connection waits for what another one brings: its goroutine reads on, so that it
// notices when the client is gone, until somebody wakes it. What it reads stays in the buffer
// for later; once that is full, only CLIENT KILL and the like tell.

// A sleeper is a connection that waits, or may.
type sleeper struct {
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
	s := &c.sleeper
	s.mu.Lock()
	defer s.mu.Unlock()
	c.wakeLocked()
}

func (c *conn) wakeLocked() {
	s := &c.sleeper
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

// doze returns when the connection was woken, when the client has sent something or is gone,
// or at a time (zero: never by itself); or without a reason.
func (c *conn) doze(until time.Time) {
	s := &c.sleeper
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
	c.listen(until)
	s.mu.Lock()
	s.asleep, s.woken = false, false
	select {
	case <-s.bell:
	default:
	}
	c.endLinger()
	s.mu.Unlock()
}

// listen reads once, or waits where there is no room.
func (c *conn) listen(until time.Time) {
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
	case <-c.sleeper.bell:
	case <-over:
	case <-c.gone:
	case <-c.srv.stop:
	}
}

// blocks marks the connection as one that waits in a command.
func (c *conn) blocks(on bool) {
	s := &c.sleeper
	s.mu.Lock()
	s.blocked, s.unblock = on, waitGoesOn
	s.mu.Unlock()
	c.session.waiting.Store(on)
	c.session.lastUsed.Store(int64(c.srv.clock()))
	if on {
		c.srv.stats.waiting.Add(1)
	} else {
		c.srv.stats.waiting.Add(-1)
	}
}

// release ends the wait of another connection, as CLIENT UNBLOCK does. It returns false if
// that does not wait.
func (c *conn) release(how waitEnd) bool {
	s := &c.sleeper
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.blocked || s.unblock != waitGoesOn {
		return false
	}
	s.unblock = how
	c.wakeLocked()
	return true
}

// roused is why the connection does not wait any longer, if it does not.
func (c *conn) roused(until time.Time) waitEnd {
	s := &c.sleeper
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

// A stay is what a command that waits remembers from one place to the next.
type stay struct {
	ticket uint64
	until  time.Time // zero: for ever
	memo   []byte
}

// starts notes for how long the command waits, when it begins to.
func (r *request) starts(timeout time.Duration) *stay {
	if r.stay == nil {
		r.stay = &stay{}
		if timeout > 0 && timeout < maxLinger {
			r.stay.until = time.Now().Add(timeout)
		}
	}
	return r.stay
}

// waitHere waits with a command whose unit has just run. It returns how many requests it
// has answered: 0 if the command is to be looked at again.
func (c *conn) waitHere(r *request) int {
	w := c.call.waiter
	c.call.waiter = nil
	c.finishUnit()
	if c.flush() != nil {
		c.closing = true
	}
	c.leave()
	r.until = time.Time{}
	c.park(w, r.stay.until)
	return c.waited(r, w)
}

// park returns when the waiter has ended.
func (c *conn) park(w *waiter, until time.Time) {
	c.blocks(true)
	defer c.blocks(false)
	for {
		select {
		case <-w.ended:
			return
		default:
		}
		if why := c.roused(until); why != waitGoesOn {
			if c.srv.blocked.withdraw(w) {
				w.how = why
			} else {
				<-w.ended
			}
			return
		}
		c.doze(until)
	}
}

// msgUnblocked is what CLIENT UNBLOCK ERROR has a client told.
const msgUnblocked = "UNBLOCKED client unblocked via CLIENT UNBLOCK"

// waited replies with what a wait has brought.
func (c *conn) waited(r *request, w *waiter) int {
	if w.how == waitAgain {
		r.stay.ticket, r.stay.memo = w.ticket, w.memo
		return 0
	}
	at := len(c.out.buf)
	switch w.how {
	case waitServed:
		c.out.buf = append(c.out.buf, w.out.buf...)
	case waitFailed:
		c.reject(r.cmd, w.msg)
	default:
		c.unserved(r, w.how)
	}
	c.count(at)
	return 1
}

// unserved replies to a command that has got nothing.
func (c *conn) unserved(r *request, how waitEnd) {
	switch how {
	case waitUnblocked:
		c.reject(r.cmd, msgUnblocked)
	case waitGone:
		c.closing = true
	default:
		c.out.nullArray()
	}
}

// block has the client wait for what the command has not found. Where it cannot, the time is
// over at once.
func (x *call) block(want want) {
	c := x.conn
	if x.inside || c.from != nil && c.from.visit.id == "" {
		x.nullArray()
		return
	}
	if !x.unit.Latched() { // it is looked at again, with the latches
		x.waiter = &waiter{}
		return
	}
	also := make([][]byte, len(want.also)) // which others look at though it may wait no more
	for i, key := range want.also {
		also[i] = bytes.Clone(key)
	}
	want.also = also
	w := &waiter{want: want, cmd: x.cmd, args: x.args, out: reply{proto: x.proto}, ended: make(chan struct{}), told: c.wake}
	if c.from != nil {
		c.from.host(x, w)
		return
	}
	p := x.req.starts(want.timeout)
	w.ticket = p.ticket
	w.place(x)
	x.waiter = w
	if x.srv.blocked.register(w) {
		w.checkRoutes(x.srv)
		return
	}
	w.state = waitOver // the connection ends
	w.how = waitGone
	close(w.ended)
}

// memo is what the command has noted when it was to wait before.
func (x *call) memo() []byte {
	switch c := x.conn; {
	case c.from != nil:
		return c.from.visit.memo
	case x.req != nil && x.req.stay != nil:
		return x.req.stay.memo
	}
	return nil
}

// place notes where the keys lie.
func (w *waiter) place(x *call) {
	for _, key := range w.keys {
		w.places = append(w.places, x.unit.Place(key))
	}
	for _, key := range w.also {
		w.beside = append(w.beside, x.unit.Place(key))
	}
}

// checkRoutes sends a waiter away that was registered while its keys changed hands.
func (w *waiter) checkRoutes(s *Server) {
	if !w.at(s.routes.Load()) && s.blocked.withdraw(w) {
		w.end(waitAgain, "")
	}
}
