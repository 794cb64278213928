package resp

import (
	"bytes"
	"errors"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Forwarded is a batch of requests that another node forwards.
type Forwarded struct {
	// Batch is whole RESP requests, so many of them. It must stay as it is until the
	// answer.
	Batch    []byte
	Requests int
	RESP3    bool
	// Early: replies to writes need not wait for backups.
	Early bool
	// Keeper is the node that forwards the batch, if its clients keep what is read. Author is
	// which of its clients writes, if that one is not to be told; else 0.
	Keeper string
	Author int64
	// NoTouch: the requests are no use of their keys.
	NoTouch bool
	// Known is as in [Terms].
	Known uint64
	// Atomic: an error undoes the transaction or script that it has.
	Atomic bool
	// Part is as in [Terms].
	Part bool
	// From is the node that forwards it; empty: this one. Trace is as in [Terms].
	From  string
	Trace []byte
	// Deadline, unless it is 0, is when the asking node gives the batch up, on [Config.Clock]: a
	// request that would begin later is not run, also if it has waited for a latch, a range on
	// hold or a pause meanwhile.
	Deadline time.Duration
	// Answer is called once, from any goroutine, when the replies may leave. It must
	// not wait, nor keep the replies. A request that has not run, since the node
	// does not serve its keys, has [StatusNotRun], or for want of time [StatusLate]. The
	// error matches [ErrNotSent] if nothing of the batch has run.
	Answer func(Replies, error)
}

// A group is batches that are run together: they share units, so that many small
// batches do not cost as many commits.
type group struct {
	batches []Forwarded
	first   []int // of each batch, its first request
	replied int   // batches that have their answer
	writes  bool  // some of them may write
	// refused is the batch of which a request was not run, so that none behind it is
	// either: it will come again, and must not come after them. -1 if there is none.
	refused int32
	// release, if not nil, lets somebody else go on behind so many of the batches.
	release func(n int)
	// settling says who completes the group when its last unit is durable.
	settling atomic.Int32
}

// In group.settling.
const (
	runnerWaits  = iota // or runs: the settler tells it
	settlerTold         // it has
	runnerIsGone        // the settler completes the group
)

// begun says that there is no unit that the settler has told of.
func (g *group) begun() { g.settling.Store(runnerWaits) }

// awaits tells the settler whether somebody waits for it.
func (g *group) awaits() bool { return g.settling.CompareAndSwap(runnerWaits, settlerTold) }

const (
	maxGroupBytes = 32 << 10 // requests that run together
	// heldTimeout is how long a forwarded request waits at a node that cannot run it
	// for the moment. After that it is the turn of the one that forwards it, who knows
	// how long the client waits.
	heldTimeout = 200 * time.Millisecond
)

const errNotRequests wire.ProtocolError = "the batch is not the requests that it says"

var (
	// errReplyMemory ends a batch whose replies are too much for the server.
	errReplyMemory = errors.New("no memory for the replies")
)

// RunForwarded runs batches that other nodes have forwarded. It returns when all have
// run; answers may come later.
//
// If something takes long, or waits, it calls release, once at most: it will see to the
// first n batches only, and the others are for whoever called. A nil release is never
// called.
func (s *Server) RunForwarded(batches []Forwarded, release func(n int)) {
	for i := 0; i < len(batches); {
		if batches[i].Requests < 1 {
			batches[i].Answer(Replies{}, errNotRequests)
			i++
			continue
		}
		c := s.forwards.take(s)
		released := false
		var before func(int)
		if release != nil {
			before = func(n int) {
				released = true
				release(i + n)
			}
		}
		i += c.from.run(batches[i:], before)
		if released {
			return
		}
	}
}

// like tells whether batches can run together.
func (b *Forwarded) like(other *Forwarded) bool {
	return b.RESP3 == other.RESP3 && b.Early == other.Early && b.Keeper == other.Keeper && b.Author == other.Author && b.NoTouch == other.NoTouch && b.Known == other.Known && b.Atomic == other.Atomic && b.Part == other.Part && b.Trace == nil && other.Trace == nil
}

// late tells whether the batch is given up at a time on [Config.Clock].
func (b *Forwarded) late(now time.Duration) bool { return b.Deadline != 0 && now >= b.Deadline }

// run runs the first batches together, or the first alone. It returns how many. The
// connection is given back by complete.
func (f *forwardedConn) run(batches []Forwarded, release func(n int)) int {
	c, g := f.conn, &f.group
	f.buf, f.ends = f.buf[:0], f.ends[:0]
	f.statuses, f.status = f.statuses[:0], StatusRun
	g.first, g.replied, g.refused, g.release = g.first[:0], 0, -1, release
	g.begun()
	arrived := c.srv.clock()
	c.timing.Begin(arrived)
	c.timing.Sampled = c.srv.cfg.Traces.Join(batches[0].Trace)
	c.out.Proto, c.closing = 2, false
	f.enqueued, f.parked = remoteEnqueue{}, nil
	if batches[0].RESP3 {
		c.out.Proto = 3
	}
	c.session.early, f.atomic, f.part = batches[0].Early, batches[0].Atomic, batches[0].Part
	f.keeper, f.known = batches[0].Keeper, batches[0].Known
	c.unit.SetAuthor(c.srv.tracking.authorAt(f.keeper, batches[0].Author))
	c.unit.SetNoTouch(batches[0].NoTouch)
	c.reqs, c.args = c.reqs[:0], c.args[:0]
	size, writes := 0, false
	n := 0
	for ; n < len(batches); n++ {
		b := &batches[n]
		if size += len(b.Batch); size > maxGroupBytes || b.Requests < 1 || n > 0 && !b.like(&batches[0]) || len(c.reqs)+b.Requests > maxPipeline {
			break
		}
		reqs, args := len(c.reqs), len(c.args)
		quick, write := f.read(b, int32(n))
		// Who only reads need not wait for what others write.
		if !quick || n > 0 && write != writes {
			c.reqs, c.args = c.reqs[:reqs], c.args[:args]
			break
		}
		writes = write
		g.first = append(g.first, reqs)
	}
	if n == 0 {
		g.batches, g.first, g.writes = append(g.batches[:0], batches[0]), append(g.first, 0), true
		f.releaseBatches(&request{})
		f.runAlone(&batches[0])
		return 1
	}
	g.batches, g.writes = append(g.batches[:0], batches[:n]...), writes
	c.session.lastUsed.Store(int64(arrived))
	c.session.commands.Add(int64(len(c.reqs)))
	c.runResolved()
	n = len(g.batches)
	c.in, c.start, c.end = nil, 0, 0
	f.end()
	return n
}

// read takes in the requests of a batch. It is not quick if one of them may take long,
// or if it is not the requests that it says.
func (f *forwardedConn) read(b *Forwarded, part int32) (quick, write bool) {
	c := f.conn
	first := len(c.reqs)
	c.in, c.start, c.end = b.Batch, 0, len(b.Batch)
	_, err := c.parseMore()
	if err != nil || c.start < c.end || len(c.reqs)-first != b.Requests {
		c.guard = wire.NewGuard()
		return false, false
	}
	for i := first; i < len(c.reqs); i++ {
		r := &c.reqs[i]
		c.resolve(r, c.alike(i))
		r.part = part
		if r.msg != "" {
			continue
		}
		if !r.cmd.Quick {
			return false, false
		}
		write = write || r.cmd.MayWrite
	}
	return true, write
}

// runAlone runs a batch of any size.
func (f *forwardedConn) runAlone(b *Forwarded) {
	c := f.conn
	c.in, c.start, c.end = b.Batch, 0, len(b.Batch)
	guest := asksEnqueue(b.Batch) // who may keep its arguments
	if guest {
		c.in, c.args = bytes.Clone(b.Batch), nil
	}
	var err error
	for c.start < c.end && err == nil && !c.closing {
		if c.pending {
			c.await()
		}
		var n int
		if n, err = c.parse(); n == 0 {
			break
		}
		c.run(c.srv.clock())
	}
	if c.start < c.end || err != nil {
		c.guard = wire.NewGuard() // it may be in the middle of a request that does not go on
		c.closing = true
	}
	if c.in, c.start, c.end = nil, 0, 0; guest {
		c.args = nil
	}
	f.end()
}

// end completes the group, or leaves that to the settler.
func (f *forwardedConn) end() {
	c := f.conn
	if c.pending {
		c.pending = false
		if f.group.settling.CompareAndSwap(runnerWaits, runnerIsGone) {
			return // c is the settler's
		}
		<-c.settled
	}
	f.complete()
}

// complete answers all batches that have no answer and gives the connection back.
func (f *forwardedConn) complete() {
	c, g := f.conn, &f.group
	_ = c.flush()
	endForwarded(c)
	if parked := f.parked; parked != nil {
		// Somebody else may have the connection by then.
		answer := g.batches[0].Answer
		g.batches[0].Answer = func(Replies, error) {}
		defer parked(answer)
	}
	f.answer(len(g.batches))
	clear(g.batches)
	g.batches, g.release = g.batches[:0], nil
	if cap(f.buf) > keepReply {
		f.buf = nil
	}
	c.srv.budget.Release(&c.Account, f.charged)
	f.charged = 0
	if c.Closed.Load() {
		c.out.Buf = nil
		c.replyBuf.charge()
	}
	c.srv.forwards.giveBack(c)
}

// answer answers the batches up to one.
func (f *forwardedConn) answer(to int) {
	g := &f.group
	for ; g.replied < to; g.replied++ {
		b := &g.batches[g.replied]
		first := g.first[g.replied]
		last := first + b.Requests
		var err error
		switch {
		case f.conn.Closed.Load():
			err = errReplyMemory
		case len(f.ends) < last, len(g.batches) == 1 && len(f.ends) != last, f.conn.closing:
			err = errNotRequests
		}
		if err != nil {
			b.Answer(Replies{}, err)
			continue
		}
		start := 0
		if first > 0 {
			start = f.ends[first-1]
		}
		statuses := f.statuses[min(first, len(f.statuses)):min(last, len(f.statuses))]
		if start == 0 {
			b.Answer(Replies{Bytes: f.buf[:f.ends[last-1]], Ends: f.ends[first:last], Statuses: statuses}, nil)
			continue
		}
		ends := f.shifted[:0]
		for _, end := range f.ends[first:last] {
			ends = append(ends, end-start)
		}
		f.shifted = ends
		b.Answer(Replies{Bytes: f.buf[start:f.ends[last-1]], Ends: ends, Statuses: statuses}, nil)
	}
}
