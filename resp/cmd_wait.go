package resp

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// cmdWait tells how many backups have all that the connection has written, and waits for more as long as it is
// told to: the backups in sync of the range with the fewest. A script gets 0: no copy has its writes before it ends.
func cmdWait(x *call) {
	replicas, ok := wire.ParseInt(x.Args[1])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	count := 0 // what was found last
	x.waitFor(x.Args[2], func(patience time.Duration) bool {
		if n, ok := x.backupsOf(&x.conn.footprint, patience); ok {
			count = n
		}
		return int64(count) >= replicas
	}, func() { x.Int(int64(count)) })
}

// cmdWaitaof is of Redis 7.2. It is WAIT for what has reached stable storage: the first number of its reply
// is 1 if the primaries have all that the connection has written there, the second how many backups have.
func cmdWaitaof(x *call) {
	local, ok := wire.ParseInt(x.Args[1])
	if ok && (local < 0 || local > 1) {
		x.Error("ERR value is out of range, value must between 0 and 1")
		return
	}
	replicas, okReplicas := wire.ParseInt(x.Args[2])
	switch {
	case !ok || !okReplicas:
		x.Error(command.MsgNotInteger)
		return
	case replicas < 0:
		x.Error("ERR value is out of range, must be positive")
		return
	}
	primaries, backups := 0, 0 // what was found last
	x.waitFor(x.Args[3], func(patience time.Duration) bool {
		if _, ok := x.backupsOf(&x.conn.footprint, patience); ok {
			primaries, backups = x.syncCopies(&x.conn.footprint, patience)
		}
		return int64(primaries) >= local && int64(backups) >= replicas
	}, func() {
		x.Array(2)
		x.Int(int64(primaries))
		x.Int(int64(backups))
	})
}

// waitFor is what WAIT and its like have in common: it looks, with some patience for other nodes, until what
// the client waits for has come or its time is over, and then replies.
func (x *call) waitFor(ms []byte, look func(patience time.Duration) (came bool), reply func()) {
	timeout, msg := command.ParseTimeout(ms)
	if msg != "" {
		x.Error(msg)
		return
	}
	if x.InScript {
		reply()
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
	for first := true; ; first = false {
		var next chan struct{}
		again := time.Duration(math.MaxInt64) // until it is asked again, whatever happens
		if routes := x.srv.routes.Load(); routes != nil {
			next = routes.next
			if len(routes.links) > 0 {
				again = waitPause
			}
		}
		left := max(end-x.srv.clock(), time.Millisecond)
		if first {
			left = max(left, waitPause)
		}
		came := look(min(left, x.srv.forwardTimeout()))
		left = end - x.srv.clock()
		how := waitTimedOut
		if !came && left > 0 {
			how = x.conn.wakeReason(time.Time{})
		}
		if how != waitGoesOn {
			x.waited = x.srv.clock() - start
			if how == waitUnblocked {
				x.Error(msgUnblocked)
			} else {
				reply()
			}
			return
		}
		x.conn.markBlocked(true)
		if left = min(left, again); left > command.Forever {
			left = 0
		}
		x.conn.linger(left, next)
	}
}

// waitPause is how long WAIT waits before it asks other nodes again, and how long it waits
// for their first answers at least.
const waitPause = 100 * time.Millisecond

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
