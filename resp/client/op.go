package client

import (
	"context"
	"sync"
	"sync/atomic"
)

// An op is some commands on their way to a node and back: those that one caller sends
// there together. It belongs to its caller, and to the lane from send until wait has
// returned. If the caller does not wait until the end, it stays the lane's.
type op struct {
	body    []byte // commands in RESP
	marks   []int  // of a line, for a caller that has one command
	n       int
	replies []Reply // as many as came, in order

	state atomic.Uint32 // as of a Call, and opLeft
	wake  chan struct{} // capacity 1
	err   error         // why there are fewer than n replies

	// Guarded by the lane's mutex while the op is on its way.
	next  *op
	start uint64 // offset of its first byte on its connection
	sent  bool   // it has been taken from the queue
}

// opLeft: nobody waits any more.
const opLeft = callDone + 1

// ops keeps those that are used again.
type ops struct{ free sync.Pool }

// take returns an op without commands.
func (p *ops) take() *op {
	o, _ := p.free.Get().(*op)
	if o == nil {
		return &op{wake: make(chan struct{}, 1)}
	}
	o.body, o.marks, o.n = o.body[:0], o.marks[:0], 0
	o.replies, o.err, o.next, o.sent = o.replies[:0], nil, nil, false
	o.state.Store(callIdle)
	return o
}

// ReleaseTaken gives up an op that has ended. One that was left is still its lane's.
func (p *ops) giveBack(o *op) {
	if o.left() || cap(o.body) > readBuffer || cap(o.replies) > 1024 || cap(o.marks) > 1024 {
		return
	}
	clear(o.replies)
	p.free.Put(o)
}

// finish gives the op back to who waits for it.
func (o *op) finish(err error) {
	o.err = err
	for {
		switch s := o.state.Load(); s {
		case callPending:
			if o.state.CompareAndSwap(s, callDone) {
				return
			}
		case callWaiting:
			if o.state.CompareAndSwap(s, callDone) {
				o.wake <- struct{}{}
				return
			}
		default:
			return
		}
	}
}

// wait returns when the replies are there, the op has failed, or ctx is done. Then the
// op must be left alone if it has not ended: its error says what became of it.
func (o *op) wait(ctx context.Context, l *lane) error {
	if !o.state.CompareAndSwap(callPending, callWaiting) {
		return o.err
	}
	if ctx.Done() == nil {
		<-o.wake
		return o.err
	}
	select {
	case <-o.wake:
		return o.err
	case <-ctx.Done():
	}
	if !o.state.CompareAndSwap(callWaiting, opLeft) {
		<-o.wake
		return o.err
	}
	if l.sent(o) {
		return unknown(context.Cause(ctx))
	}
	return notSent(context.Cause(ctx))
}

// left tells that the caller waits no more.
func (o *op) left() bool { return o.state.Load() == opLeft }
