package memconn

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Listener accepts connections of the same process. Its methods may be called from any goroutine.
type Listener struct {
	conns  chan *Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns an open listener.
func Listen() *Listener {
	return &Listener{conns: make(chan *Conn), closed: make(chan struct{})}
}

// Dial connects. It waits until the connection is accepted, the listener is closed or the context is done.
func (l *Listener) Dial(ctx context.Context) (*Conn, error) { return l.DialFor(ctx, nil) }

// DialFor connects for a client outside of the process. The listener sees the client's address, so the connection
// is not local.
func (l *Listener) DialFor(ctx context.Context, remote net.Addr) (*Conn, error) {
	near, far := Pipe()
	far.remote = remote
	err := ctx.Err()
	if err == nil {
		select {
		case l.conns <- far:
			return near, nil
		case <-l.closed:
			err = syscall.ECONNREFUSED
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return nil, &net.OpError{Op: "dial", Net: Addr{}.Network(), Addr: Addr{}, Err: err}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		close(l.closed)
		err = nil
	})
	return err
}

// Addr implements net.Listener.
func (*Listener) Addr() net.Addr { return Addr{} }
