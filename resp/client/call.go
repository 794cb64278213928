package client

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
)

// Call is a batch of commands on its way to a peer and back. The zero value is
// ready; a Call that is used again keeps its buffers, and then costs no allocation.
// It belongs to one goroutine at a time, and to the Peer from Send until Wait has
// returned.
type Call struct {
	// Commands are the raw commands in RESP, N of them.
	Commands []byte
	N        int
	// RESP3 asks for replies in RESP3.
	RESP3 bool
	// Early asks for replies to writes as soon as the peer itself has them, before its
	// backups do.
	Early bool
	// Keeps says that clients of this node keep what the commands read: the peer remembers
	// that. Author is which of them writes, if that one is not to be told of it; else 0.
	Keeps  bool
	Author int64
	// NoTouch says that the commands are no use of their keys. Peers of older versions are not told.
	NoTouch bool
	// Known is how much of swaps of databases and of REPLICAOF this node knows of: see resp.Terms. Only nodes of the version
	// bus.SwapsVersion may be sent more than 0.
	Known uint64
	// Atomic says that an error undoes what the commands do. A call to a peer of an older version is not sent.
	Atomic bool
	// Part says that the commands are parts of one that the caller counts. A peer of an older version does not learn it.
	Part bool
	// Trace is the context of a trace that the commands belong to, or nil. Peers of older versions are not told.
	Trace []byte
	// Lane picks the connection: calls of one lane travel on the same one, in the
	// order of their Sends. Give each client a lane.
	Lane uint32
	// Timeout, if above zero, is when Wait gives up, counted from Send. The peer
	// drops the call unexecuted if it gets to it later, by its own clock, of which this side
	// knows how far it is ahead at least.
	Timeout time.Duration
	// Done, if set, is called once when the call has ended, so that Wait returns at
	// once, by a goroutine of the Peer; not if Send has returned an error. It must not
	// wait, and must not send anything. From then on the call may be used again.
	Done func()

	// Reply holds the raw replies end to end, Lens the length of each, in bytes. Marks are
	// empty, or a byte for each of them: see [Batch.Reply]. They are the caller's after Wait,
	// and are overwritten by the next Send.
	Reply []byte
	Lens  []uint32
	Marks []byte
	// Err is what Wait returned.
	Err error
	// Ended is when the call ended.
	Ended time.Time

	state atomic.Uint32
	wake  chan struct{} // capacity 1

	// Guarded by the link's mutex while the call is on its way.
	next     *Call
	size     int    // of the frame, bytes
	deadline int64  // see now; 0 for none
	start    uint64 // offset of the frame's first byte on its connection
	pinned   bool   // the writer is copying Commands: it must not end
}

// The states of a call.
const (
	callIdle    uint32 = iota
	callPending        // on its way
	callWaiting        // on its way, and Wait sleeps
	callDone
)

// Wait returns when the replies are there or the call has failed. It may be called
// again, and returns the same.
func (c *Call) Wait() error {
	if c.state.CompareAndSwap(callPending, callWaiting) {
		<-c.wake
	}
	return c.Err
}

// prepare readies a call for its way, or says why it cannot go.
func (c *Call) prepare(maxFrame int) error {
	if s := c.state.Load(); s == callPending || s == callWaiting {
		return errInUse // and leave it alone
	}
	if c.wake == nil {
		c.wake = make(chan struct{}, 1)
	}
	c.Reply, c.Lens, c.Marks, c.Err = c.Reply[:0], c.Lens[:0], c.Marks[:0], nil
	c.next, c.deadline, c.pinned = nil, 0, false
	c.size = requestHead + len(c.Commands) + deadlineSize
	if c.Keeps {
		c.size += authorSize
	}
	if c.Trace != nil {
		c.size += traceSize
	}
	switch {
	case !countFits(int64(c.N), len(c.Commands)):
		c.Err = errEmpty
	case c.size-lengthSize > maxFrame:
		c.Err = errTooLarge
	}
	if c.Err != nil {
		return c.reject(c.Err)
	}
	if c.Timeout > 0 {
		c.deadline = now() + int64(c.Timeout)
	}
	c.state.Store(callPending)
	return nil
}

// finish gives the call back. Nobody but its owner touches it afterwards.
func (c *Call) finish(err error) {
	done := c.Done
	c.Err, c.Ended = err, time.Now()
	if c.state.Swap(callDone) == callWaiting {
		c.wake <- struct{}{}
	}
	if done != nil {
		done()
	}
}

// reject ends a call that nobody knows of.
func (c *Call) reject(err error) error {
	c.Err = err
	c.state.Store(callDone)
	return err
}

// take copies a reply. Its error means that the peer breaks the rules; the call has
// its own then.
func (c *Call) take(r *replyFrame) error {
	if r.status != statusOK && r.status != statusMarked {
		c.finish(&PeerError{Text: string(r.body[:min(len(r.body), maxText)]), Executed: r.status == statusUnknown})
		return nil
	}
	if len(r.lens) != 4*c.N {
		err := fmt.Errorf("%w: %d replies to %d commands", ErrProtocol, len(r.lens)/4, c.N)
		c.finish(unknown(err))
		return err
	}
	c.Reply = append(c.Reply, r.body...)
	c.Marks = append(c.Marks, r.marks...)
	for i := 0; i < len(r.lens); i += 4 {
		c.Lens = append(c.Lens, binary.BigEndian.Uint32(r.lens[i:]))
	}
	c.finish(nil)
	return nil
}

var clockStart = time.Now()

// now counts nanoseconds on the monotonic clock; it is never 0.
func now() int64 { return int64(time.Since(clockStart)) + 1 }
