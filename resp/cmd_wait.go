package resp

import (
	"errors"
	"math"
	"net"
	"time"
)

// cmdWait: there are no replicas in Redis' sense, so no number of them above 0 is
// ever reached. What a reply says is as safe as --fsync demands before it leaves.
func cmdWait(x *call) {
	replicas, ok := parseInt(x.args[1])
	if !ok {
		x.err(msgNotInteger)
		return
	}
	timeout, msg := parseTimeout(x.args[2])
	if msg != "" {
		x.err(msg)
		return
	}
	if replicas > 0 {
		start := x.srv.clock()
		x.conn.linger(timeout)
		x.waited = x.srv.clock() - start
	}
	x.integer(0)
}

// parseTimeout reads how long a command may wait, in ms; 0 is for ever. It returns
// an error reply, or "".
func parseTimeout(arg []byte) (time.Duration, string) {
	n, ok := parseInt(arg)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case n < 0:
		return 0, "ERR timeout is negative"
	}
	return time.Duration(min(n, int64(math.MaxInt64/time.Millisecond))) * time.Millisecond, ""
}

// linger returns after a while (0: never by itself), or when the client is gone, or
// the server closes. To notice the client it reads on, as far as the buffer goes.
func (c *conn) linger(d time.Duration) {
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	_ = c.net.SetReadDeadline(deadline)
	defer c.endLinger()
	for c.end < len(c.in) && !c.srv.closed() {
		n, err := c.net.Read(c.in[c.end:])
		c.end += n
		c.session.bytesIn.Add(int64(n))
		c.srv.stats.bytesIn.Add(int64(n))
		if err != nil {
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				c.closing = true
			}
			return
		}
	}
	c.lingerDeaf(deadline)
}

// endLinger lets the next read take as long as it likes, unless the server closes:
// then its deadline, which linger may have replaced, has to stay.
func (c *conn) endLinger() {
	_ = c.net.SetReadDeadline(time.Time{})
	if c.srv.closed() {
		_ = c.net.SetReadDeadline(time.Now())
	}
}

// lingerDeaf goes on when the buffer is full, and so nothing tells that the client
// is gone but somebody who closes the connection.
func (c *conn) lingerDeaf(deadline time.Time) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !c.closed.Load() && (deadline.IsZero() || time.Now().Before(deadline)) {
		select {
		case <-tick.C:
		case <-c.srv.stop:
			return
		}
	}
}

// closed reports whether Close has been called.
func (s *Server) closed() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}
