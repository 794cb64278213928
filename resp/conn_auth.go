package resp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"sync"
	"time"
)

// logins slows down guessing: each wrong password of an address doubles the time
// that its next one takes. A right one is answered at once, for an application must
// not suffer from another on its host that has the wrong password. Nor does it help
// to hang up and guess again: while loginSlots wrong passwords of an address take
// their time, no other one is looked at.
type logins struct {
	mu    sync.Mutex
	fails map[string]*loginFails
}

type loginFails struct {
	n     int
	last  time.Time
	slots chan struct{} // holds an element for each wrong password that takes its time
}

const (
	loginSlots    = 8
	loginDelay    = 10 * time.Millisecond
	maxLoginDelay = 5 * time.Second
	loginMemory   = 10 * time.Minute
	maxLoginAddrs = 10_000
)

// passwordIs compares in constant time, whatever the lengths.
func passwordIs(want string, got []byte) bool {
	a, b := sha256.Sum256([]byte(want)), sha256.Sum256(got)
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// check reports whether a password of c is right, after a while if it is wrong.
func (l *logins) check(c *conn, right func() bool) bool {
	addr := loginAddr(c)
	if f := l.of(addr, false); f != nil {
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-c.gone:
			return false
		case <-c.srv.stop:
			return false
		}
	}
	if right() {
		l.succeeded(addr)
		return true
	}
	// Not shorter if the client hangs up.
	timer := time.NewTimer(l.failed(addr))
	defer timer.Stop()
	c.session.waiting.Store(true)
	defer c.session.waiting.Store(false)
	select {
	case <-timer.C:
	case <-c.srv.stop:
	}
	return false
}

// of returns what is known of an address, with create also if it is nothing.
func (l *logins) of(addr string, create bool) *loginFails {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.fails[addr]
	if f != nil || !create {
		return f
	}
	if l.fails == nil {
		l.fails = make(map[string]*loginFails)
	}
	if len(l.fails) >= maxLoginAddrs {
		l.expire()
	}
	f = &loginFails{slots: make(chan struct{}, loginSlots)}
	l.fails[addr] = f
	return f
}

// failed notes a wrong password and returns how long to wait before saying so.
func (l *logins) failed(addr string) time.Duration {
	f := l.of(addr, true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(f.last) > loginMemory {
		f.n = 0
	}
	f.last = time.Now()
	delay := min(loginDelay<<min(f.n, 10), maxLoginDelay)
	f.n++
	return delay
}

// succeeded forgives an address. What it has under way keeps its slots.
func (l *logins) succeeded(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.fails[addr]; f != nil {
		f.n = 0
	}
}

// expire makes room: old failures first, else any.
func (l *logins) expire() {
	for addr, f := range l.fails {
		if time.Since(f.last) > loginMemory {
			delete(l.fails, addr)
		}
	}
	for addr := range l.fails {
		if len(l.fails) < maxLoginAddrs {
			return
		}
		delete(l.fails, addr)
	}
}

func loginAddr(c *conn) string {
	host, _, err := net.SplitHostPort(c.net.RemoteAddr().String())
	if err != nil {
		return c.net.RemoteAddr().String()
	}
	return host
}
