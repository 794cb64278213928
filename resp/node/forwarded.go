package node

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/client"
)

// forwardConns are the connections on which other nodes forward requests.
type forwardConns struct {
	over chan struct{} // closed once no more requests are taken

	mu      sync.Mutex
	ended   bool
	serving sync.WaitGroup // those that began before
}

// begin registers a connection. The caller calls done when the connection has ended.
func (f *forwardConns) begin() (done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return func() {} // nothing of it will be taken
	}
	f.serving.Add(1)
	return f.serving.Done
}

// end takes no more requests. Connections that begin later are not waited for.
func (f *forwardConns) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	close(f.over)
}

// wait waits, after the end, until all that was taken is answered and the others know that
// nothing else was.
func (f *forwardConns) wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.serving.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// endForwards accepts no more forwarded requests, and refuses new connections: on a connection that
// ends with this node, the sender would not know whether a request was read.
func (c *cluster) endForwards() {
	c.bus.Handle(bus.Forward, nil)
	c.forwardConns.end()
}

// serveForward runs what another node forwards on a connection.
func (c *cluster) serveForward(peer bus.Peer, conn net.Conn) {
	defer c.forwardConns.begin()()
	err := client.ServeForward(conn, client.ServeConfig{End: c.forwardConns.over, Clock: c.n.ownClock}, func(batches []*client.Batch, release func(int)) {
		c.runForwarded(peer.ID, batches, release)
	})
	if err != nil && c.ctx.Err() == nil {
		c.n.cfg.Logger.Debug("a connection with forwarded requests has failed", "node", peer.ID, "err", err)
	}
}

var bursts = sync.Pool{New: func() any { return new([]resp.Forwarded) }}

func (c *cluster) runForwarded(from string, batches []*client.Batch, release func(int)) {
	burst := bursts.Get().(*[]resp.Forwarded)
	for _, b := range batches {
		a := newBatchReply(b)
		f := resp.Forwarded{Batch: b.Commands, Requests: b.N, RESP3: b.RESP3, Early: b.Early, Author: b.Author, NoTouch: b.NoTouch, Known: b.Known, Deadline: b.Deadline, From: from, Trace: b.Trace, Atomic: b.Atomic, Part: b.Part, Answer: a.fn}
		if b.Keeps {
			f.Keeper = from
		}
		*burst = append(*burst, f)
	}
	c.n.server.RunForwarded(*burst, release)
	clear(*burst)
	*burst = (*burst)[:0]
	bursts.Put(burst)
}

// A batchReply returns the replies of one batch to the node that forwarded it.
type batchReply struct {
	batch *client.Batch
	lens  []uint32
	marks []byte
	fn    func(resp.Replies, error) // made once
}

var batchReplies sync.Pool

func newBatchReply(b *client.Batch) *batchReply {
	a, ok := batchReplies.Get().(*batchReply)
	if !ok {
		a = new(batchReply)
		a.fn = a.deliver
	}
	a.batch = b
	return a
}

func (a *batchReply) deliver(r resp.Replies, err error) {
	switch {
	case errors.Is(err, resp.ErrNotSent):
		a.batch.Refuse(err.Error())
	case err != nil:
		a.batch.Fail(err.Error())
	default:
		a.lens = a.lens[:0]
		at := 0
		for _, end := range r.Ends {
			a.lens = append(a.lens, uint32(end-at))
			at = end
		}
		a.marks = a.marks[:0]
		if len(r.Statuses) > 0 {
			for i := range r.Ends {
				a.marks = append(a.marks, byte(r.Status(i)))
			}
		}
		_ = a.batch.Reply(a.lens, a.marks, r.Bytes)
	}
	a.batch = nil
	batchReplies.Put(a)
}
