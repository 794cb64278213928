package resp

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdWait tells how many backups have all that the connection has written, and waits for
// more as long as it is told to. What a reply says is on all backups that are in sync
// before it leaves; so this is their number, where there are fewest.
func cmdWait(x *call) {
	replicas, ok := wire.ParseInt(x.Args[1])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	timeout, msg := parseTimeout(x.Args[2])
	if msg != "" {
		x.Error(msg)
		return
	}
	start := x.srv.clock()
	end := start + timeout
	if x.InTransaction {
		end = start
	} else if timeout == 0 || timeout > command.Forever {
		end = math.MaxInt64
	}
	defer x.conn.markBlocked(false)
	count := 0 // what was found last
	for first := true; ; first = false {
		var next chan struct{}
		look := time.Duration(math.MaxInt64) // until it is asked again, whatever happens
		if routes := x.srv.routes.Load(); routes != nil {
			next = routes.next
			if len(routes.links) > 0 {
				look = waitPause
			}
		}
		left := max(end-x.srv.clock(), time.Millisecond)
		if first {
			left = max(left, waitPause)
		}
		if n, ok := x.backupsOf(&x.conn.footprint, min(left, x.srv.forwardTimeout())); ok {
			count = n
		}
		left = end - x.srv.clock()
		how := waitTimedOut
		if int64(count) < replicas && left > 0 {
			how = x.conn.wakeReason(time.Time{})
		}
		if how != waitGoesOn {
			x.waited = x.srv.clock() - start
			if how == waitUnblocked {
				x.Error(msgUnblocked)
			} else {
				x.Int(int64(count))
			}
			return
		}
		x.conn.markBlocked(true)
		if left = min(left, look); left > command.Forever {
			left = 0
		}
		x.conn.linger(left, next)
	}
}

// waitPause is how long WAIT waits before it asks other nodes again, and how long it waits
// for their first answers at least.
const waitPause = 100 * time.Millisecond

// parseTimeout reads how long a command may wait, in ms; 0 is for ever. It returns
// an error reply, or "".
func parseTimeout(arg []byte) (time.Duration, string) {
	n, ok := wire.ParseInt(arg)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case n < 0:
		return 0, "ERR timeout is negative"
	}
	return time.Duration(min(n, int64(math.MaxInt64/time.Millisecond))) * time.Millisecond, ""
}

// linger returns after a while (0: never by itself), when next is closed, or when there is
// another reason not to wait on, which roused tells.
func (c *conn) linger(d time.Duration, next <-chan struct{}) {
	var until time.Time
	if d > 0 {
		until = time.Now().Add(d)
	}
	var came atomic.Bool
	ends := make(chan struct{})
	var watched sync.WaitGroup
	if next != nil {
		watched.Go(func() {
			select {
			case <-next:
				came.Store(true)
				c.wake()
			case <-ends:
			}
		})
	}
	for !came.Load() && c.wakeReason(until) == waitGoesOn {
		c.sleep(until)
	}
	close(ends)
	watched.Wait()
}

// endLinger lets the next read take as long as it likes, unless the server closes:
// then its deadline, which doze may have replaced, has to stay.
func (c *conn) endLinger() {
	_ = c.net.SetReadDeadline(time.Time{})
	if c.srv.closed() {
		_ = c.net.SetReadDeadline(time.Now())
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
