package bus

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged ends the connection when what was sent is not acknowledged in
// time. Without it, TCP goes on for a quarter of an hour.
func limitUnacknowledged(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	// Where it cannot be set, things are as on other systems.
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(vanished/time.Millisecond))
	})
}
