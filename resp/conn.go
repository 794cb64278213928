package resp

import (
	"container/list"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/rounds"
	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/footprint"
	"github.com/ringside-kv/ringside/resp/internal/pubsub"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/internal/running"
	"github.com/ringside-kv/ringside/resp/internal/stats"
	"github.com/ringside-kv/ringside/resp/internal/trace"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// conn is one client connection. A goroutine of its own, or one that serves many (conn_turn.go), reads requests
// and runs them, a pipeline at a time (pipeline.go). Replies to a pipeline that wrote, or that read what is not
// durable yet, are sent by the store's settler when the time has come, while the goroutine already waits for
// the next request: so a write costs no more wake-ups than a read.
type conn struct {
	// First what each request needs, which should lie in few lines of memory: between two
	// requests of a client those of many others have taken the processor's caches.
	srv    *Server
	net    net.Conn
	direct *socket.Conn // net, nil where a write may wait (TLS)
	secure *tls.Conn    // net, nil without TLS
	turns
	from  *forwardedConn // of a connection that runs what another node forwards
	unit  *store.Unit
	users *acl.Users // by which rules was looked up; nil if that is to be done
	rules *acl.User  // the rights that are checked; nil if the client may do everything, or is a node

	in     []byte // read buffer
	start  int    // in[start:end] is not run yet
	end    int
	guard  wire.Guard
	limits wire.Limits

	args [][]byte
	reqs []request
	keys []command.KeyRef
	// stored is the database in which the keys of reqs are stored.
	stored int
	out    wire.Writer
	// places are those of the keys of the unit being put together.
	places []store.Place
	every  bool // it is to have all latches
	// subscribed: there are some in subs. The connection's own goroutine looks.
	subscribed bool
	closing    bool // after the replies so far

	// While a unit waits for the settler, pending is true and out belongs to
	// the settler; it comes back through settled. Only the connection's own
	// goroutine looks at pending, and not while it is away.
	pending    bool
	hold       bool // replies stay in out: more are about to follow
	unitFailed bool // the pending unit has, and its replies say so
	settled    chan struct{}
	// The replies of the pending unit, to be replaced if it fails.
	unitStart     int
	unitReplies   int
	running       running.Note  // by which routes a unit runs, and on what
	routes        *Routes       // these, as enter has found them
	touched       []store.Place // of the keys of the unit; it shares c.places' memory
	leased        leased
	servedWaiters []*waiter       // whom the unit has served
	outbox        []scriptMessage // what scripts of the unit have published
	asked         serveAnswers    // before a redirect
	// lately is the time, on the server's clock, at which the unit's last command ended; 0
	// if none has.
	lately       time.Duration
	Pending      stats.Pending
	answers      stats.Answers
	timing       trace.Timing
	multi        multi
	session      session
	call         call
	asyncForward asyncForward // what goes on while its client is listened to

	far   []*batch  // to other nodes, kept for the next pipeline
	local localPart // what runs here meanwhile
	// farEnd is when nobody waits any more for what is forwarded.
	farEnd     time.Time
	waitSignal waitSignal
	// blocking: it waits in a command, or is between two places where it does.
	blocking  bool
	waits     uint64 // counts what has waited at other nodes
	serveCall *call  // with which the unit serves others
	// footprint is where the client has written.
	footprint footprint.Footprint

	subs pubsub.Subscriptions
	pub  *publisher // of a connection that publishes

	// unauthenticated is the connection's place in the list of that name, which guards it; nil
	// outside of the list.
	unauthenticated *list.Element
	tlsDone         atomic.Bool // the TLS handshake is over, if there is one

	write          sync.Mutex // serializes everything sent
	budget.Account            // of buffers that count for the server's budget
	pushes         pushQueue
	gone           chan struct{}    // closed with the connection
	replyBuf       replyBuffer      // what out is in
	unitCharged    int64            // of these, for what the unit's scripts and transactions change
	growsUnit      func(int64) bool // growUnit
	// Since when the client keeps a write, or the rest of a large request,
	// waiting, on the server's clock; 0 when it does not.
	blockedAt atomic.Int64
	stalledAt atomic.Int64
	progress  int // bytes read since stalledAt
}

const (
	keepReply = 64 << 10
	flushSize = 256 << 10 // bytes of replies after which a pipeline is cut
)

func newConn(srv *Server, nc net.Conn) *conn {
	c := &conn{
		srv:     srv,
		guard:   wire.NewGuard(),
		unit:    srv.store.NewUnit(),
		settled: make(chan struct{}, 1),
		gone:    make(chan struct{}),
	}
	c.out.Proto = 2
	c.growsUnit = c.growUnit
	c.unit.CommitTimes = &c.timing.Commit
	c.call.init(c)
	c.call.Writer = &c.out
	c.pushes.c = c
	c.replyBuf.c = c
	c.subs.Client = &c.pushes
	c.asyncForward.init(c)
	c.waitSignal.bell = make(chan struct{}, 1)
	c.net, c.direct = socket.Of(nc)
	if c.polled, _ = nc.(*rounds.Conn); c.polled != nil {
		c.polled.Serve(turnHandler{c})
		c.unit.BeforeDisk = func(brief bool) { beforeDisk(c, brief) }
	}
	c.secure, _ = nc.(*tls.Conn)
	c.tlsDone.Store(c.secure == nil)
	c.session.init(c)
	return c
}

// openConn serves a new connection.
func openConn(c *conn) {
	if c.secure != nil && !c.tlsHandshake() {
		c.finish()
		return
	}
	c.serve()
}

// serve reads and runs requests until the connection is parked or ends.
func (c *conn) serve() {
	for c.asyncForward.on || !c.closing {
		if c.parkIdle() {
			return
		}
		if err := c.fill(); err != nil {
			break
		}
		runInput(c)
	}
	c.finish()
}

// runInput runs the requests that the read buffer has.
func runInput(c *conn) {
	arrived := c.srv.clock()
	c.awaitAsyncForward()
	for c.start < c.end && !c.closing {
		n, err := c.parse()
		if n > 0 {
			c.resumeInput()
		}
		if c.pending {
			c.await()
		}
		c.run(arrived)
		c.endReads()
		if err != nil {
			c.awaitAsyncForward()
			if c.pending {
				c.await() // out is the settler's until then
			}
			c.srv.stats.ProtocolErrors.Add(1)
			if foreign, ok := err.(wire.ForeignError); ok {
				c.srv.foreign.Report(c.srv.clock(), c.srv.log, c.net.RemoteAddr(), foreign)
			} else {
				c.out.Error("ERR " + err.Error())
			}
			c.closing = true
		}
		if n == 0 {
			break
		}
	}
	if !c.asyncForward.on && !c.pending && c.flush() != nil {
		c.closing = true
	}
}

// parse splits the complete requests in the buffer into reqs, up to a limit, and
// returns how many bytes it has taken.
func (c *conn) parse() (int, error) {
	c.reqs = c.reqs[:0]
	c.args = c.args[:0]
	return c.parseMore()
}

func (c *conn) parseMore() (int, error) {
	c.limits = wire.Limits{
		Args:   int(c.srv.settings.MaxArgs.Load()),
		Bulk:   int(c.srv.settings.MaxValue.Load()),
		Authed: c.authorized(),
	}
	taken := 0
	for c.start < c.end && len(c.reqs) < maxPipeline && taken < maxPipelineBytes && len(c.args) < maxPipelineArgs {
		first := len(c.args)
		n, args, err := c.guard.Next(c.in[c.start:c.end], &c.limits, c.args)
		c.args = args
		if n == 0 || err != nil {
			return taken, err
		}
		c.start += n
		taken += n
		if len(c.args) > first {
			c.reqs = append(c.reqs, request{first: first, last: len(c.args), raw: c.in[c.start-n : c.start]})
		}
		if !c.limits.Authed {
			break // AUTH changes what the next request may be
		}
	}
	return taken, nil
}

// await takes out back from the settler.
func (c *conn) await() {
	select {
	case <-c.settled:
	default:
		c.turn.Leave()
		<-c.settled
	}
	c.pending = false
	if c.from != nil {
		c.from.group.begun()
	}
}

// Settled implements store.Waiter: the unit's replies may leave.
func (c *conn) Settled(err error) {
	switch {
	case err != nil:
		c.failUnit(err)
		c.notifyServed(err, "")
	case !c.leased.fine():
		// The settler has others to see to.
		go func() {
			c.awaitLease()
			c.settle()
		}()
		return
	}
	c.settle()
}

// settle has the unit's replies leave.
func (c *conn) settle() {
	c.notifyServed(nil, "")
	if c.from != nil && !c.from.group.awaits() {
		c.from.complete()
		return
	}
	if c.hold || c.direct == nil {
		c.settled <- struct{}{}
		return
	}
	c.sendAsync(c.settled)
}

// sendAsync sends the replies without waiting for the client, and tells when they have
// left: if the client reads more slowly than we write, somebody else has to wait.
func (c *conn) sendAsync(sent chan<- struct{}) {
	locked := sendSome(c)
	if len(c.out.Buf) == 0 {
		sent <- struct{}{}
		return
	}
	go func() {
		if !locked {
			c.write.Lock()
		}
		_ = c.flushLocked()
		sent <- struct{}{}
	}()
}

// failUnit replaces the replies of the pending unit.
func (c *conn) failUnit(err error) {
	c.unitFailed = true
	held := errors.Is(err, store.ErrUnacked)
	c.replaceReplies(func(i int) (string, Status) {
		if held && i < len(c.leased.writes) && !c.leased.writes[i] {
			return command.MsgHeld, StatusRun
		}
		return command.ErrorText(err), statusOf(err)
	})
}

// ends are where it is noted how long each reply is, if it is, and how many bytes of
// earlier ones out does not hold any more.
func (c *conn) ends() (ends *[]int, gone int) {
	switch {
	case c.from != nil:
		return &c.from.ends, len(c.from.buf)
	case c.local.on:
		return &c.local.batch.replies.Ends, 0
	}
	return nil, 0
}

// ended notes where a reply ends.
func (c *conn) ended() {
	if ends, gone := c.ends(); ends != nil {
		*ends = append(*ends, gone+len(c.out.Buf))
		if f := c.from; f != nil && f.status != StatusRun {
			f.statuses = relay.SetStatus(f.statuses, len(*ends)-1, f.status)
			f.status = StatusRun
		}
	}
}

// forgetReplies takes back the replies of the unit, which begin at unitStart.
func (c *conn) forgetReplies() {
	c.out.Buf = c.out.Buf[:c.unitStart]
	if ends, _ := c.ends(); ends != nil {
		*ends = (*ends)[:len(*ends)-c.unitReplies]
		if f := c.from; f != nil {
			f.status = StatusRun
			f.statuses = f.statuses[:min(len(f.statuses), len(*ends))]
		}
	} else {
		c.answers.Drop(c.unitReplies)
	}
}

// flush sends all replies.
func (c *conn) flush() error {
	locked := false
	if c.turn.InRound() && len(c.out.Buf) > 0 {
		if locked = sendSome(c); len(c.out.Buf) > 0 {
			c.leaveTurn()
		}
	}
	if len(c.out.Buf) == 0 {
		return nil
	}
	if !locked {
		c.write.Lock()
	}
	return c.flushLocked()
}

// flushLocked is flush for a caller that holds write, which it gives up.
func (c *conn) flushLocked() error {
	err := c.send(c.out.Buf)
	c.write.Unlock()
	c.replyBuf.reset()
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
	c.srv.stats.BytesOut.Add(int64(n))
}

// close ends the connection from any goroutine, and tells whether it had not been ended
// before.
func (c *conn) close() (first bool) {
	if c.Closed.Swap(true) {
		return false
	}
	close(c.gone)
	_ = c.net.Close()
	c.srv.scripts.Leave(c)
	return true
}

// finish ends the connection after serve.
func (c *conn) finish() {
	c.turn.Leave()
	c.awaitAsyncForward()
	if c.pending {
		c.await()
	}
	_ = c.flush()
	c.close()
	c.pushes.close()
	c.resizeInput(nil)
	c.dropSpareInput()
	c.multi.end()
	c.multi.forget(c)
	c.out.Buf = nil
	c.replyBuf.charge()
	c.srv.remove(c)
	c.srv.done.Done()
}

// clock is the time since the server was made.
func (s *Server) clock() time.Duration { return time.Since(s.started) }
