//go:build unix

package resp

import "golang.org/x/sys/unix"

// directWrites: the settler may write to sockets by itself.
const directWrites = true

// writeOnce is called with the socket's descriptor; it never waits.
func (c *conn) writeOnce(fd uintptr) bool {
	for {
		n, err := unix.Write(int(fd), c.writeBuf)
		switch err {
		case nil:
			c.wrote = n
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		default:
			c.writeErr = err
		}
		return true
	}
}
