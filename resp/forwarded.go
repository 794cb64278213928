package resp

import (
	"net"
	"sync"
	"time"
)

// What other nodes forward runs on connections of its own, which have no socket: a
// free one takes a batch, runs it as any client's pipeline, and hands back the replies.

// forwardedConns are these connections.
type forwardedConns struct {
	mu   sync.Mutex
	free []*conn
	used map[*conn]struct{}
}

// A forwardedConn is the other end of such a connection: it collects what is written.
type forwardedConn struct {
	net.Conn // none: a batch is there as a whole
	addr     net.Addr
	conn     *conn
	buf      []byte
	ends     []int
	statuses []Status // of the first of ends; see Replies
	status   Status   // of the reply that ends next
	// ahead is by how much [Config.Clock] is ahead of the server's clock; see startClock.
	ahead    time.Duration
	charged  int64 // bytes of buf that count for the server's budget
	group    group
	shifted  []int         // ends of a batch behind others
	known    uint64        // what the node that forwards knows of; see Terms
	atomic   bool          // see isAtomic
	part     bool          // as in Terms
	keeper   string        // the node whose clients keep what is read, if one's do
	enqueued remoteEnqueue // the RING ENQUEUE in front of the command that runs next
	// parked, if set by a request that is alone, answers it, later perhaps.
	parked func(answer func(Replies, error))
}

// Write takes in replies. It fails where there is no memory for them: the connection
// ends then.
func (f *forwardedConn) Write(b []byte) (int, error) {
	if n := int64(len(f.buf) + len(b)); n > f.charged+keepReply {
		more := n - f.charged
		f.charged += more
		if !f.conn.srv.budget.Charge(&f.conn.Account, more) {
			return 0, errReplyMemory
		}
	}
	f.buf = append(f.buf, b...)
	return len(b), nil
}

// full tells that the replies of a batch are enough: what is left of it is not run,
// and asked for once more by itself.
func (f *forwardedConn) full() bool { return len(f.buf)+len(f.conn.out.Buf) >= maxForwardedReplies }

// maxForwardedReplies is how many bytes of replies a batch may have, but for the last
// one.
const maxForwardedReplies = 4 << 20

func (f *forwardedConn) RemoteAddr() net.Addr { return f.addr }
func (f *forwardedConn) LocalAddr() net.Addr  { return f.addr }
func (f *forwardedConn) Close() error         { return nil }

type forwardedAddr struct{}

func (forwardedAddr) Network() string { return "forwarded" }
func (forwardedAddr) String() string  { return "forwarded" }

// most connections that are kept while nobody needs them.
const keepForwards = 256

func (f *forwardedConns) take(s *Server) *conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used == nil {
		f.used = make(map[*conn]struct{})
	}
	var c *conn
	if n := len(f.free); n > 0 {
		c, f.free = f.free[n-1], f.free[:n-1]
	} else {
		from := &forwardedConn{addr: forwardedAddr{}}
		c = newConn(s, from)
		c.hold = true // replies are for Answer
		c.from, c.session.authed = from, true
		from.conn = c
	}
	f.used[c] = struct{}{}
	return c
}

func (f *forwardedConns) giveBack(c *conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.used, c)
	if len(f.free) < keepForwards && !c.Closed.Load() {
		f.free = append(f.free, c)
	}
}

// running are those that run something.
func (f *forwardedConns) running() []*conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	conns := make([]*conn, 0, len(f.used))
	for c := range f.used {
		conns = append(conns, c)
	}
	return conns
}
