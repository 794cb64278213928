package login

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Guesses slow down guessing: each wrong password of an address doubles the time
// that its next one takes. A right one is answered at once, for an application must
// not suffer from another on its host that has the wrong password. Nor does it help
// to hang up and guess again: while slotCount wrong passwords of an address take
// their time, no other one is looked at.
type Guesses struct {
	mu    sync.Mutex
	fails map[string]*failures
}

type failures struct {
	n     int
	last  time.Time
	slots chan struct{} // holds an element for each wrong password that takes its time
}

const (
	slotCount  = 8
	firstDelay = 10 * time.Millisecond
	maxDelay   = 5 * time.Second
	memory     = 10 * time.Minute
	maxAddrs   = 10_000
)

// Check reports whether a password that came from an address is right, after a while if it is wrong. waiting is
// true during that. It returns early once the client is gone or the server stops.
func (l *Guesses) Check(from net.Addr, waiting *atomic.Bool, gone, stop <-chan struct{}, right func() bool) bool {
	addr := hostOf(from)
	if f := l.of(addr, false); f != nil {
		select {
		case f.slots <- struct{}{}:
			defer func() { <-f.slots }()
		case <-gone:
			return false
		case <-stop:
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
	waiting.Store(true)
	defer waiting.Store(false)
	select {
	case <-timer.C:
	case <-stop:
	}
	return false
}

// of returns what is known of an address, with create also if it is nothing.
func (l *Guesses) of(addr string, create bool) *failures {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.fails[addr]
	if f != nil || !create {
		return f
	}
	if l.fails == nil {
		l.fails = make(map[string]*failures)
	}
	if len(l.fails) >= maxAddrs {
		l.expire()
	}
	f = &failures{slots: make(chan struct{}, slotCount)}
	l.fails[addr] = f
	return f
}

// failed notes a wrong password and returns how long to wait before saying so.
func (l *Guesses) failed(addr string) time.Duration {
	f := l.of(addr, true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(f.last) > memory {
		f.n = 0
	}
	f.last = time.Now()
	delay := min(firstDelay<<min(f.n, 10), maxDelay)
	f.n++
	return delay
}

// succeeded forgives an address. What it has under way keeps its slots.
func (l *Guesses) succeeded(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.fails[addr]; f != nil {
		f.n = 0
	}
}

// expire makes room: old failures first, else any.
func (l *Guesses) expire() {
	for addr, f := range l.fails {
		if time.Since(f.last) > memory {
			delete(l.fails, addr)
		}
	}
	for addr := range l.fails {
		if len(l.fails) < maxAddrs {
			return
		}
		delete(l.fails, addr)
	}
}

func hostOf(addr net.Addr) string {
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	return host
}
