package socket

import (
	"io"
	"net"
	"syscall"
)

// A Conn is a connection whose reads and writes are not announced to the scheduler. They are
// those of a [net.Conn]: they wait, they heed deadlines, and Close ends them. One goroutine
// at a time may read, and one may write.
type Conn struct {
	net.Conn
	raw      syscall.RawConn
	in, out  transfer
	anything func(fd uintptr) bool // made once each
	now      func(fd uintptr) bool
	all      func(fd uintptr) bool
	some     func(fd uintptr) bool
}

// A transfer is what is read or written, and how it went.
type transfer struct {
	p   []byte
	n   int
	err error
}

// Of returns how to read from a connection and write to it. That is the connection itself,
// and no Conn, if it is no bare socket, such as one that seals what it sends, and on systems
// where sockets are not files.
func Of(c net.Conn) (net.Conn, *Conn) {
	bare, ok := c.(syscall.Conn)
	if !ok || !direct {
		return c, nil
	}
	raw, err := bare.SyscallConn()
	if err != nil {
		return c, nil
	}
	s := &Conn{Conn: c, raw: raw}
	s.anything, s.all, s.some = s.readAnything, s.writeAll, s.writeSome
	s.now = func(fd uintptr) bool { s.readAnything(fd); return true }
	return s, s
}

// Descriptor is the number of the socket's file.
func (c *Conn) Descriptor() int {
	number := -1
	_ = c.raw.Control(func(fd uintptr) { number = int(fd) })
	return number
}

// Read is that of a [net.Conn].
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.in = transfer{p: p}
	err := c.raw.Read(c.anything)
	c.in.p = nil
	if c.in.err != nil {
		err = c.in.err
	}
	return c.in.n, err
}

// ReadSome reads what is there, which may be nothing: it does not wait.
func (c *Conn) ReadSome(p []byte) (int, error) {
	c.in = transfer{p: p}
	err := c.raw.Read(c.now)
	c.in.p = nil
	if c.in.err != nil {
		err = c.in.err
	}
	return c.in.n, err
}

// Write is that of a [net.Conn].
func (c *Conn) Write(p []byte) (int, error) { return c.write(p, c.all) }

// WriteSome writes what there is room for, which may be nothing: it does not wait.
func (c *Conn) WriteSome(p []byte) (int, error) { return c.write(p, c.some) }

func (c *Conn) write(p []byte, how func(fd uintptr) bool) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.out = transfer{p: p}
	err := c.raw.Write(how)
	c.out.p = nil
	if c.out.err != nil {
		err = c.out.err
	}
	return c.out.n, err
}

// readAnything, and the like, are called with the descriptor, again when it is ready for as
// long as they return false.
func (c *Conn) readAnything(fd uintptr) (done bool) {
	n, err := read(fd, c.in.p)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil:
		c.in.err = &net.OpError{Op: "read", Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	case n == 0:
		c.in.err = io.EOF
	default:
		c.in.n = n
	}
	return true
}

func (c *Conn) writeSome(fd uintptr) (done bool) {
	n, err := write(fd, c.out.p[c.out.n:])
	switch {
	case err == nil:
		c.out.n += n
	case err != syscall.EAGAIN:
		c.out.err = &net.OpError{Op: "write", Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	}
	return true
}

func (c *Conn) writeAll(fd uintptr) (done bool) {
	before := c.out.n
	c.writeSome(fd)
	for c.out.err == nil && c.out.n > before && c.out.n < len(c.out.p) {
		before = c.out.n
		c.writeSome(fd)
	}
	return c.out.err != nil || c.out.n == len(c.out.p)
}

// IsLoopback reports whether a peer is on this machine: at a loopback address, or at a Unix socket.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
