package resp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"sync"
	"time"
)

// logins slows down guessing: each wrong password of an address doubles the time
// that its next one takes.
type logins struct {
	mu    sync.Mutex
	fails map[string]*loginFails
}

type loginFails struct {
	n    int
	last time.Time
}

const (
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

// failed notes a wrong password and returns how long to wait before saying so.
func (l *logins) failed(c *conn) time.Duration {
	addr := loginAddr(c)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails == nil {
		l.fails = make(map[string]*loginFails)
	}
	f := l.fails[addr]
	if f == nil {
		if len(l.fails) >= maxLoginAddrs {
			l.expire()
		}
		f = &loginFails{}
		l.fails[addr] = f
	}
	if time.Since(f.last) > loginMemory {
		f.n = 0
	}
	f.last = time.Now()
	delay := min(loginDelay<<min(f.n, 10), maxLoginDelay)
	f.n++
	return delay
}

// succeeded forgets an address.
func (l *logins) succeeded(c *conn) {
	l.mu.Lock()
	delete(l.fails, loginAddr(c))
	l.mu.Unlock()
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

// waitLogin holds the connection back for a while, unless the server closes.
func (c *conn) waitLogin(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.srv.stop:
	}
}
