package fakenet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how much of a stream may be on its way, in bytes.
const window = 1 << 20

// A stream is one direction of a connection.
type stream struct {
	net      *Net
	from, to netip.Addr

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, with every change
	pieces  []piece
	size    int
	last    time.Time // when the latest piece arrives
	ended   bool      // nothing more is written
	deaf    bool      // nothing is read any more
	broken  bool
	// Deadlines of the reader and the writer.
	readBy, writeBy time.Time
}

type piece struct {
	text []byte
	at   time.Time
}

// change makes a change known to all who wait.
func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) read(b []byte) (int, error) {
	for {
		open, moved := s.net.way(s.from, s.to)
		s.mu.Lock()
		now := time.Now()
		var due time.Time // of the first piece
		switch {
		case s.deaf:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case expired(s.readBy, now):
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case s.broken:
			s.mu.Unlock()
			return 0, syscall.ECONNRESET
		case len(s.pieces) > 0 && open:
			if due = s.pieces[0].at; !due.After(now) {
				n := copy(b, s.pieces[0].text)
				if s.pieces[0].text = s.pieces[0].text[n:]; len(s.pieces[0].text) == 0 {
					s.pieces = s.pieces[1:]
				}
				s.size -= n
				close(s.changed)
				s.changed = make(chan struct{})
				s.mu.Unlock()
				return n, nil
			}
		case s.ended && len(s.pieces) == 0 && open:
			s.mu.Unlock()
			return 0, io.EOF
		}
		changed, by := s.changed, earlier(due, s.readBy)
		s.mu.Unlock()
		wait(changed, moved, by, now)
	}
}

func (s *stream) write(b []byte) (n int, err error) {
	for len(b) > 0 {
		delay := s.net.latency()
		still, moved := s.net.stands(s.from)
		s.mu.Lock()
		now := time.Now()
		switch {
		case s.ended:
			s.mu.Unlock()
			return n, net.ErrClosed
		case expired(s.writeBy, now):
			s.mu.Unlock()
			return n, os.ErrDeadlineExceeded
		case s.broken || s.deaf:
			s.mu.Unlock()
			return n, syscall.EPIPE
		case !still && s.size < window:
			part := b[:min(len(b), window-s.size)]
			if at := now.Add(delay); at.After(s.last) {
				s.last = at
			}
			s.pieces = append(s.pieces, piece{append([]byte(nil), part...), s.last})
			s.size += len(part)
			close(s.changed)
			s.changed = make(chan struct{})
			s.mu.Unlock()
			b, n = b[len(part):], n+len(part)
			continue
		}
		changed, by := s.changed, s.writeBy
		s.mu.Unlock()
		wait(changed, moved, by, now)
	}
	return n, nil
}

func expired(by, now time.Time) bool { return !by.IsZero() && !by.After(now) }

// earlier is the earlier one of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wait returns when something has happened, or at a time, if that is not zero.
func wait(changed, moved <-chan struct{}, by, now time.Time) {
	var at <-chan time.Time
	if !by.IsZero() {
		t := time.NewTimer(by.Sub(now))
		defer t.Stop()
		at = t.C
	}
	select {
	case <-changed:
	case <-moved:
	case <-at:
	}
}

// A conn is one end of a connection.
type conn struct {
	net         *Net
	in, out     *stream
	near, there net.Addr
	lonely      bool // it will be looked at whether its way is still cut; under Net.mu
}

// connect makes a connection from a host to an address.
func (n *Net) connect(from netip.Addr, to netip.AddrPort) (near, far *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.port++
	here, there := net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, n.port)), net.TCPAddrFromAddrPort(to)
	forth := &stream{net: n, from: from, to: to.Addr(), changed: make(chan struct{})}
	back := &stream{net: n, from: to.Addr(), to: from, changed: make(chan struct{})}
	near = &conn{net: n, in: back, out: forth, near: here, there: there}
	far = &conn{net: n, in: forth, out: back, near: there, there: here}
	n.conns[near], n.conns[far] = struct{}{}, struct{}{}
	return near, far
}

func (c *conn) Read(b []byte) (int, error)  { return c.in.read(b) }
func (c *conn) Write(b []byte) (int, error) { return c.out.write(b) }
func (c *conn) LocalAddr() net.Addr         { return c.near }
func (c *conn) RemoteAddr() net.Addr        { return c.there }

// Close lets what was written arrive.
func (c *conn) Close() error {
	c.net.mu.Lock()
	_, open := c.net.conns[c]
	delete(c.net.conns, c)
	c.net.mu.Unlock()
	if !open {
		return net.ErrClosed
	}
	c.out.change(func() { c.out.ended = true })
	c.in.change(func() { c.in.deaf = true })
	return nil
}

// reset ends both directions at once.
func (c *conn) reset() {
	for _, s := range []*stream{c.in, c.out} {
		s.change(func() { s.broken, s.pieces, s.size = true, nil, 0 })
	}
}

func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.readBy = t })
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.change(func() { c.out.writeBy = t })
	return nil
}
