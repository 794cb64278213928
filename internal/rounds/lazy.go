package rounds

import (
	"net"
	"sync"
)

// A Lazy poller is made for the first connection that is a socket of the system. The zero value is ready, nil
// takes nothing. The methods may be called from any goroutine.
type Lazy struct {
	mu       sync.Mutex
	poller   *Poller
	severed  bool
	isClosed bool
}

// Take returns a connection as a [*Conn], or as it is where that is not possible.
func (l *Lazy) Take(nc net.Conn) net.Conn {
	if l == nil || socketOf(nc) == nil {
		return nc
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.severed || l.isClosed {
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

// A Wrapper is a connection that adds nothing to the bytes of a socket.
type Wrapper interface{ Socket() net.Conn }

// socketOf returns the bare socket of the system that a connection is or wraps. It returns nil for others, such as
// one with TLS or one within the process.
func socketOf(nc net.Conn) net.Conn {
	if w, ok := nc.(Wrapper); ok {
		nc = w.Socket()
	}
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		return nc
	}
	return nil
}

// Sever closes all connections that have been taken, drops what they have not sent, and takes no more.
func (l *Lazy) Sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.severed = true
	if l.poller != nil && !l.isClosed {
		l.poller.sever()
	}
}

// Close ends the poller. All its connections have been closed, and their handlers have returned.
func (l *Lazy) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.poller != nil && !l.isClosed {
		_ = l.poller.Close()
	}
	l.isClosed = true
}
