package rounds

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a connection of a [Poller]. It is a [net.Conn] and may be used as one, by its owner for reads. It
// does not tell package net's scheduler when it waits; see package socket for calls without that, too.
type Conn struct {
	fd            int
	p             *Poller
	local, remote net.Addr
	in, out       side
	// refs counts who uses fd. closedBit is set by Close; the last user closes fd.
	refs atomic.Int32

	handler Handler
	parked  atomic.Bool
	arrived atomic.Bool // an event came since the last read began
	ended   atomic.Bool // the end of the stream or an error was reported
}

const closedBit = 1 << 30

// Serve says who serves the connection. It must be called before Park.
func (c *Conn) Serve(h Handler) { c.handler = h }

// Park gives the connection up until something arrives: then its handler is called. It returns
// false, and the caller keeps the connection, if something may have arrived already. The caller
// has read all that there was.
func (c *Conn) Park() bool {
	c.parked.Store(true)
	if !c.mustGoOn() {
		return true
	}
	// If another goroutine has taken it, that one is the owner now.
	return !c.take()
}

func (c *Conn) mustGoOn() bool {
	return c.arrived.Load() || c.ended.Load() || c.in.expired.Load() || c.isClosed()
}

// take makes the caller the owner of a parked connection.
func (c *Conn) take() bool { return c.parked.CompareAndSwap(true, false) }

// resume has a parked connection go on in a goroutine of its own.
func (c *Conn) resume() {
	if c.take() {
		go c.handler.Resume()
	}
}

// noteRead is called by the leader for an event. It returns true if the connection was parked, and is
// the leader's now.
func (c *Conn) noteRead(ended bool) bool {
	if ended {
		c.ended.Store(true)
	}
	c.arrived.Store(true)
	if c.take() {
		return true
	}
	c.in.wake()
	return false
}

func (c *Conn) isClosed() bool { return c.refs.Load()&closedBit != 0 }

// acquire keeps fd open until release. It returns false if the connection is closed.
func (c *Conn) acquire() bool {
	for {
		n := c.refs.Load()
		if n&closedBit != 0 {
			return false
		}
		if c.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (c *Conn) release() {
	if c.refs.Add(-1) == closedBit {
		c.p.forget(c)
	}
}

// Close ends the connection, and every call that waits. A parked connection is resumed.
func (c *Conn) Close() error {
	for {
		n := c.refs.Load()
		if n&closedBit != 0 {
			return net.ErrClosed
		}
		if !c.refs.CompareAndSwap(n, n+1|closedBit) {
			continue
		}
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
		c.release()
		break
	}
	c.in.setDeadline(time.Time{})
	c.out.setDeadline(time.Time{})
	c.in.wake()
	c.out.wake()
	c.resume()
	return nil
}

// sever is Close that drops what has not been sent.
func (c *Conn) sever() {
	if c.acquire() {
		// Sockets that know no such option send nothing late.
		_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		c.release()
	}
	_ = c.Close()
}

// SyscallConn implements [syscall.Conn]. Reads and writes through it wait and heed deadlines as those
// of package net do.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return rawConn{c}, nil }

type rawConn struct{ c *Conn }

func (r rawConn) Control(f func(fd uintptr)) error {
	if !r.c.acquire() {
		return net.ErrClosed
	}
	defer r.c.release()
	f(uintptr(r.c.fd))
	return nil
}

func (r rawConn) Read(f func(fd uintptr) bool) error  { return r.c.try(&r.c.in, f) }
func (r rawConn) Write(f func(fd uintptr) bool) error { return r.c.try(&r.c.out, f) }

// try calls f until it returns true, each time after something has happened on a side.
func (c *Conn) try(s *side, f func(fd uintptr) bool) error {
	for {
		if s.expired.Load() {
			return os.ErrDeadlineExceeded
		}
		if !c.acquire() {
			return net.ErrClosed
		}
		if s == &c.in {
			c.arrived.Store(false)
		}
		done := f(uintptr(c.fd))
		c.release()
		if done {
			return nil
		}
		<-s.ready
	}
}

// Read implements [net.Conn].
func (c *Conn) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	failed := c.try(&c.in, func(fd uintptr) bool {
		n, err = uninterrupted(unix.Read, fd, b)
		return !errors.Is(err, unix.EAGAIN)
	})
	switch {
	case failed != nil:
		return 0, c.opError("read", failed)
	case err != nil:
		return 0, c.opError("read", os.NewSyscallError("read", err))
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements [net.Conn].
func (c *Conn) Write(b []byte) (written int, err error) {
	failed := c.try(&c.out, func(fd uintptr) bool {
		for written < len(b) {
			var n int
			if n, err = uninterrupted(unix.Write, fd, b[written:]); err != nil {
				return !errors.Is(err, unix.EAGAIN)
			}
			written += n
		}
		return true
	})
	switch {
	case failed != nil:
		return written, c.opError("write", failed)
	case err != nil:
		return written, c.opError("write", os.NewSyscallError("write", err))
	}
	return written, nil
}

// uninterrupted repeats a call that a signal has interrupted. The poller reports only what arrives later, so
// waiting for an event could last for ever.
func uninterrupted(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		if n, err := call(int(fd), b); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

func (c *Conn) opError(op string, err error) error {
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}

// LocalAddr implements [net.Conn].
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements [net.Conn].
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements [net.Conn]. A parked connection is resumed when the time is over.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	if c.in.expired.Load() {
		c.resume()
	}
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(t)
	return nil
}

// A side is one direction of a connection: what its reader, or its writer, waits for.
type side struct {
	ready   chan struct{} // capacity 1
	expired atomic.Bool   // the deadline is over
	over    func()        // called when that becomes true by itself
	mu      sync.Mutex
	timer   *time.Timer
}

func (s *side) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *side) setDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	d := time.Until(t)
	s.expired.Store(!t.IsZero() && d <= 0)
	switch {
	case t.IsZero():
	case d <= 0:
		s.wake()
	default:
		var timer *time.Timer
		timer = time.AfterFunc(d, func() { s.expire(&timer) })
		s.timer = timer
	}
}

// expire ends the time of a timer, unless another deadline has been set since.
func (s *side) expire(timer **time.Timer) {
	s.mu.Lock()
	current := s.timer == *timer
	if current {
		s.expired.Store(true)
		s.wake()
	}
	s.mu.Unlock()
	if current && s.over != nil {
		s.over()
	}
}
