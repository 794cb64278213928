package resp

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// conn is one client connection. A goroutine of its own reads requests and runs
// them, a pipeline at a time (pipeline.go). Replies to a pipeline that wrote, or
// that read what is not durable yet, are sent by the store's settler when the
// time has come, while the goroutine already waits for the next request: so a
// write costs no more wake-ups than a read.
type conn struct {
	srv     *Server
	net     net.Conn
	raw     syscall.RawConn // nil where only net.Conn may write (TLS)
	session session

	in     []byte // read buffer
	start  int    // in[start:end] is not run yet
	end    int
	guard  guard
	limits limits

	args [][]byte
	reqs []request
	keys []keyRef
	out  reply
	call call
	unit *store.Unit
	// places are those of the keys of the unit being put together.
	places []store.Place
	// term is that of the routes by which a unit runs, 0 while none does.
	term atomic.Uint64
	far  []*batch   // to other nodes, kept for the next pipeline
	near near       // what runs here meanwhile
	from *forwarder // of a connection that runs what another node forwards

	// While a unit waits for the settler, pending is true and out belongs to
	// the settler; it comes back through settled. Only the connection's own
	// goroutine looks at pending.
	pending bool
	settled chan struct{}
	hold    bool // replies stay in out: more are about to follow
	// The replies of the pending unit, to be replaced if it fails.
	unitStart   int
	unitReplies int

	write        sync.Mutex // serializes everything sent
	writeFn      func(fd uintptr) bool
	writeBuf     []byte // argument and results of writeFn
	wrote        int
	writeErr     error
	pushes       pushQueue
	closing      bool // after the replies so far
	closed       atomic.Bool
	gone         chan struct{} // closed with the connection
	charged      int64         // bytes of buffers that count for the server's budget; under its lock
	replyCharged int64         // of these, for out
	// Since when the client keeps a write, or the rest of a large request,
	// waiting, on the server's clock; 0 when it does not.
	blockedAt atomic.Int64
	stalledAt atomic.Int64
	progress  int // bytes read since stalledAt
}

const (
	minInput  = 1 << 10  // bytes of a fresh read buffer
	freeInput = 4 << 10  // of one that need not wait for memory
	keepInput = 64 << 10 // of one that is kept for the next request
	keepReply = 64 << 10
	flushSize = 256 << 10 // bytes of replies after which a pipeline is cut
)

func newConn(srv *Server, nc net.Conn) *conn {
	c := &conn{
		srv:     srv,
		net:     nc,
		guard:   newGuard(),
		unit:    srv.store.NewUnit(),
		settled: make(chan struct{}, 1),
		gone:    make(chan struct{}),
	}
	c.out.proto = 2
	c.call = call{reply: &c.out, unit: c.unit, srv: srv, conn: c}
	c.writeFn = c.writeOnce
	if sc, ok := nc.(syscall.Conn); ok && directWrites {
		if raw, err := sc.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	c.session.init(c)
	return c
}

// serve reads and runs requests until the connection ends.
func (c *conn) serve() {
	defer c.finish()
	for !c.closing {
		if err := c.fill(); err != nil {
			return
		}
		for c.start < c.end && !c.closing {
			n, err := c.parse()
			if n > 0 {
				c.goOn()
			}
			if c.pending {
				c.await()
			}
			c.run()
			if err != nil {
				if c.pending {
					c.await() // out is the settler's until then
				}
				c.srv.stats.protocolErrors.Add(1)
				c.out.err("ERR " + err.Error())
				c.closing = true
			}
			if n == 0 {
				break
			}
		}
		if !c.pending {
			if err := c.flush(); err != nil {
				return
			}
		}
	}
}

// fill reads more into the buffer, which it makes larger when a request does not
// fit.
func (c *conn) fill() error {
	if c.start == c.end {
		c.start, c.end = 0, 0
		if len(c.in) > keepInput {
			c.resizeInput(nil)
		}
	}
	if c.end == len(c.in) {
		switch {
		case c.start > 0:
			copy(c.in, c.in[c.start:c.end])
			c.end -= c.start
			c.start = 0
		case !c.growInput():
			return errBudget
		}
	}
	n, err := c.read(c.in[c.end:])
	if n == 0 && err != nil {
		return err
	}
	c.end += n
	c.session.bytesIn.Add(int64(n))
	c.srv.stats.bytesIn.Add(int64(n))
	return nil
}

// read is a Read that shows since when a client keeps a large request waiting
// half-way: a few bytes now and then are no progress. Nor is such a client idle.
func (c *conn) read(b []byte) (int, error) {
	if c.end-c.start < keepInput {
		return c.net.Read(b)
	}
	if c.stalledAt.Load() == 0 || c.progress >= keepInput {
		c.stalledAt.Store(int64(c.srv.clock()))
		c.progress = 0
	}
	n, err := c.net.Read(b)
	c.progress += n
	c.session.lastUsed.Store(int64(c.srv.clock()))
	return n, err
}

// goOn notes that it is not the client who keeps its request waiting.
func (c *conn) goOn() {
	if c.stalledAt.Load() != 0 {
		c.stalledAt.Store(0)
	}
}

// growInput doubles the read buffer, or waits until there is memory for it. Small
// requests do not wait.
func (c *conn) growInput() bool {
	size := max(2*len(c.in), minInput)
	if c.guard.need > size && c.guard.need < 2*size {
		size = c.guard.need
	}
	c.goOn()
	if n := int64(size - len(c.in)); size <= freeInput {
		c.srv.budget.take(c, n)
	} else if !c.srv.budget.acquire(c, n) {
		return false
	}
	in := make([]byte, size)
	copy(in, c.in[c.start:c.end])
	c.in = in
	return true
}

func (c *conn) resizeInput(in []byte) {
	c.srv.budget.release(c, int64(len(c.in)-len(in)))
	c.in = in
}

// parse splits the complete requests in the buffer into reqs, up to a limit, and
// returns how many bytes it has taken.
func (c *conn) parse() (int, error) {
	c.reqs = c.reqs[:0]
	c.args = c.args[:0]
	return c.parseMore()
}

func (c *conn) parseMore() (int, error) {
	c.limits = limits{
		args:   int(c.srv.settings.maxArgs.Load()),
		bulk:   int(c.srv.settings.maxValue.Load()),
		authed: c.authorized(),
	}
	taken := 0
	for c.start < c.end && len(c.reqs) < maxPipeline && taken < maxPipelineBytes && len(c.args) < maxPipelineArgs {
		n, err := c.guard.frame(c.in[c.start:c.end], &c.limits)
		if n == 0 || err != nil {
			return taken, err
		}
		first := len(c.args)
		c.args, err = split(c.in[c.start:c.start+n:c.start+n], c.args)
		c.start += n
		taken += n
		if err != nil {
			return taken, err
		}
		if len(c.args) > first {
			c.reqs = append(c.reqs, request{first: first, last: len(c.args), from: c.start - n, to: c.start})
		}
		if !c.limits.authed {
			break // AUTH changes what the next request may be
		}
	}
	return taken, nil
}

// await takes out back from the settler.
func (c *conn) await() {
	<-c.settled
	c.pending = false
	if c.from != nil {
		c.from.group.begun()
	}
}

// Settled implements store.Waiter: the unit's replies may leave.
func (c *conn) Settled(err error) {
	if err != nil {
		c.failUnit(err)
	}
	if c.from != nil && !c.from.group.awaits() {
		c.from.complete()
		return
	}
	if c.hold || c.raw == nil {
		c.settled <- struct{}{}
		return
	}
	locked := len(c.out.buf) > 0 && c.write.TryLock()
	if locked {
		n, err := c.writeNonblocking(c.out.buf)
		c.sent(n)
		if err != nil {
			c.close()
			n = len(c.out.buf)
		}
		c.out.buf = append(c.out.buf[:0], c.out.buf[n:]...)
	}
	if len(c.out.buf) == 0 {
		if locked {
			c.write.Unlock()
		}
		c.settled <- struct{}{}
		return
	}
	// The client reads more slowly than we write: somebody else has to wait. The
	// lock stays with the rest of the reply, lest a push lands in its middle.
	go func() {
		if !locked {
			c.write.Lock()
		}
		_ = c.flushLocked()
		c.settled <- struct{}{}
	}()
}

// failUnit replaces the replies of the pending unit.
func (c *conn) failUnit(err error) {
	c.out.buf = c.out.buf[:c.unitStart]
	if ends, _ := c.ends(); ends != nil {
		*ends = (*ends)[:len(*ends)-c.unitReplies]
	}
	for range c.unitReplies {
		c.out.err(errorText(err))
		c.ended()
	}
}

// ends are where it is noted how long each reply is, if it is, and how many bytes of
// earlier ones out does not hold any more.
func (c *conn) ends() (ends *[]int, gone int) {
	switch {
	case c.from != nil:
		return &c.from.ends, len(c.from.buf)
	case c.near.on:
		return &c.near.batch.replies.Ends, 0
	}
	return nil, 0
}

// ended notes where a reply ends.
func (c *conn) ended() {
	if ends, gone := c.ends(); ends != nil {
		*ends = append(*ends, gone+len(c.out.buf))
	}
}

// writeNonblocking sends what fits into the socket's buffer. The caller holds
// write.
func (c *conn) writeNonblocking(b []byte) (int, error) {
	c.writeBuf, c.wrote, c.writeErr = b, 0, nil
	if err := c.raw.Write(c.writeFn); err != nil {
		return 0, err
	}
	c.writeBuf = nil
	return c.wrote, c.writeErr
}

// flush sends all replies.
func (c *conn) flush() error {
	if len(c.out.buf) == 0 {
		return nil
	}
	c.write.Lock()
	return c.flushLocked()
}

// flushLocked is flush for a caller that holds write, which it gives up.
func (c *conn) flushLocked() error {
	err := c.send(c.out.buf)
	c.write.Unlock()
	c.out.buf = c.out.buf[:0]
	if cap(c.out.buf) > keepReply {
		c.out.buf = nil
	}
	if c.replyCharged > 0 {
		c.chargeReply()
	}
	return err
}

// send writes b, however long the client takes. The caller holds write.
func (c *conn) send(b []byte) error {
	c.blockedAt.Store(int64(c.srv.clock()))
	n, err := c.net.Write(b)
	c.blockedAt.Store(0)
	c.sent(n)
	if err != nil {
		c.close()
	}
	return err
}

func (c *conn) sent(n int) {
	c.session.bytesOut.Add(int64(n))
	c.srv.stats.bytesOut.Add(int64(n))
}

// close ends the connection from any goroutine.
func (c *conn) close() {
	if !c.closed.Swap(true) {
		close(c.gone)
		_ = c.net.Close()
	}
}

// finish ends the connection after serve.
func (c *conn) finish() {
	if c.pending {
		c.await()
	}
	_ = c.flush()
	c.close()
	c.closePushes()
	c.resizeInput(nil)
	c.out.buf = nil
	c.chargeReply()
	c.srv.remove(c)
}

// clock is the time since the server was made.
func (s *Server) clock() time.Duration { return time.Since(s.started) }
