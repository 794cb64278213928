package bus

import (
	"context"
	"net"
	"sync"
	"time"
)

// vanished is after how long a peer that acknowledges nothing is given up. Probes
// find it while nothing is sent; while something is, there are none, and on Linux
// limitUnacknowledged does.
const vanished = 15 * time.Second

var keepAlive = net.KeepAliveConfig{Enable: true, Idle: vanished * 2 / 5, Interval: vanished / 5, Count: 3}

// tcpConn is a plain connection that the bus closes when it closes. It stays a
// *net.TCPConn in all else, so that vectored and direct writes work.
type tcpConn struct {
	*net.TCPConn
	bus   *Bus
	close sync.Once
	err   error
}

func (c *tcpConn) Close() error {
	c.close.Do(func() {
		c.bus.forget(c)
		c.err = c.TCPConn.Close()
	})
	return c.err
}

// interrupt makes reads and writes of a connection fail once ctx is done. The
// function that it returns ends the watch and tells whether ctx was in time.
func interrupt(ctx context.Context, conn net.Conn) (stop func() (interrupted bool)) {
	undo := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() bool { return !undo() }
}
