package rounds

import (
	"net"
	"sync"
)

// A Lazy poller is made for the first connection that is a socket of the system. The zero value is ready.
type Lazy struct {
	mu     sync.Mutex
	poller *Poller
	closed bool
}

// Take returns a connection as a [*Conn], or as it is where that is not possible.
func (l *Lazy) Take(nc net.Conn) net.Conn {
	if !isSocket(nc) {
		return nc
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nc
	}
	if l.poller == nil {
		poller, err := New()
		if err != nil {
			return nc
		}
		l.poller = poller
	}
	c, err := l.poller.Take(nc)
	if err != nil {
		return nc
	}
	return c
}

// isSocket reports whether a connection is a bare socket of the system: not one with TLS, nor one within the process.
func isSocket(nc net.Conn) bool {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		return true
	}
	return false
}

// Close ends the poller. All its connections have been closed, and their handlers have returned.
func (l *Lazy) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.poller != nil && !l.closed {
		_ = l.poller.Close()
	}
	l.closed = true
}
