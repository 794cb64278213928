package memconn

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Window is how many bytes each direction of a connection holds; a writer waits for the reader
// then. Memory is taken for what is there.
const Window = 4 << 20

// keepBuffer is how much of its memory a direction keeps when all has been read.
const keepBuffer = 64 << 10

// Addr is the address of both ends of every connection.
type Addr struct{}

// Network returns "memory".
func (Addr) Network() string { return "memory" }

// String returns "memory:0".
func (Addr) String() string { return "memory:0" }

// IsLocal reports whether an address is that of a connection within the process.
func IsLocal(addr net.Addr) bool { return addr.Network() == Addr{}.Network() }

// A half is one direction of a connection.
type half struct {
	reading, writing sync.Mutex // one reader, and one writer, at a time

	mu              sync.Mutex
	buf             []byte // buf[start:] has not been read
	start           int
	ended           bool // nothing more will be written
	deaf            bool // nothing more will be read
	readBy, writeBy time.Time

	// Each has room for one message, which wakes the reader, or the writer, to look again.
	wakeReader, wakeWriter chan struct{}
}

func newHalf() *half {
	return &half{wakeReader: make(chan struct{}, 1), wakeWriter: make(chan struct{}, 1)}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// change makes a change, and wakes both ends.
func (h *half) change(f func()) {
	h.mu.Lock()
	f()
	h.mu.Unlock()
	wake(h.wakeReader)
	wake(h.wakeWriter)
}

// wait returns when it is woken, or when a deadline has come that is not zero.
func wait(woken <-chan struct{}, by time.Time) {
	if by.IsZero() {
		<-woken
		return
	}
	timer := time.NewTimer(time.Until(by))
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	}
}

func isOver(by time.Time) bool { return !by.IsZero() && !time.Now().Before(by) }

func (h *half) read(b []byte) (int, error) {
	h.reading.Lock()
	defer h.reading.Unlock()
	for {
		h.mu.Lock()
		switch {
		case h.deaf:
			h.mu.Unlock()
			return 0, net.ErrClosed
		case isOver(h.readBy):
			h.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case h.start < len(h.buf) || len(b) == 0:
			n := copy(b, h.buf[h.start:])
			if h.start += n; h.start == len(h.buf) {
				h.empty()
			}
			h.mu.Unlock()
			wake(h.wakeWriter)
			return n, nil
		case h.ended:
			h.mu.Unlock()
			return 0, io.EOF
		}
		by := h.readBy
		h.mu.Unlock()
		wait(h.wakeReader, by)
	}
}

// empty forgets what has been read. The caller holds mu.
func (h *half) empty() {
	h.start = 0
	if h.buf = h.buf[:0]; cap(h.buf) > keepBuffer {
		h.buf = nil
	}
}

func (h *half) write(b []byte) (n int, err error) {
	h.writing.Lock()
	defer h.writing.Unlock()
	for {
		h.mu.Lock()
		switch {
		case h.ended:
			h.mu.Unlock()
			return n, net.ErrClosed
		case isOver(h.writeBy):
			h.mu.Unlock()
			return n, os.ErrDeadlineExceeded
		case h.deaf:
			h.mu.Unlock()
			return n, syscall.EPIPE
		}
		if room := Window - (len(h.buf) - h.start); room > 0 {
			h.add(b[n:min(len(b), n+room)])
			n = min(len(b), n+room)
		}
		by := h.writeBy
		h.mu.Unlock()
		wake(h.wakeReader)
		if n == len(b) {
			return n, nil
		}
		wait(h.wakeWriter, by)
	}
}

// add appends what there is room for. The caller holds mu.
func (h *half) add(b []byte) {
	if h.start > 0 && len(h.buf)+len(b) > cap(h.buf) { // rather than growing
		h.buf = h.buf[:copy(h.buf, h.buf[h.start:])]
		h.start = 0
	}
	h.buf = append(h.buf, b...)
}

// Conn is one end of a connection. Its methods may be called from any goroutine.
type Conn struct {
	in, out *half
	remote  net.Addr // nil: the process
}

// Pipe returns the two ends of a connection.
func Pipe() (*Conn, *Conn) {
	forth, back := newHalf(), newHalf()
	return &Conn{in: back, out: forth}, &Conn{in: forth, out: back}
}

// Read implements net.Conn.
func (c *Conn) Read(b []byte) (int, error) { return c.in.read(b) }

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) { return c.out.write(b) }

// Close implements net.Conn. What was written before still arrives.
func (c *Conn) Close() error {
	open := false
	c.in.change(func() {
		open = !c.in.deaf
		c.in.deaf, c.in.buf, c.in.start = true, nil, 0
	})
	c.out.change(func() { c.out.ended = true })
	if !open {
		return net.ErrClosed
	}
	return nil
}

// Ended reports whether the other end has been closed.
func (c *Conn) Ended() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return c.in.ended
}

// LocalAddr implements net.Conn.
func (*Conn) LocalAddr() net.Addr { return Addr{} }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr {
	if c.remote != nil {
		return c.remote
	}
	return Addr{}
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.readBy = t })
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.change(func() { c.out.writeBy = t })
	return nil
}
