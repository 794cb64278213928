//go:build unix

package client

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// A directWriter writes to a socket without waiting for it. One goroutine at a time
// uses it.
type directWriter struct {
	raw syscall.RawConn
	try func(fd uintptr) bool // made once
	buf []byte
	n   int
	err error
}

// newDirectWriter returns nil for a connection that is no bare socket, such as one
// that seals what it sends.
func newDirectWriter(conn net.Conn) *directWriter {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	d := &directWriter{raw: raw}
	d.try = d.once
	return d
}

// write returns how much the socket took at once, which may be nothing.
func (d *directWriter) write(p []byte) (int, error) {
	d.buf, d.n, d.err = p, 0, nil
	err := d.raw.Write(d.try)
	d.buf = nil
	if err == nil {
		err = d.err
	}
	return d.n, err
}

func (d *directWriter) once(fd uintptr) bool {
	for {
		n, err := unix.Write(int(fd), d.buf)
		switch err {
		case nil:
			d.n = n
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			d.err = err
		}
		return true
	}
}
