package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// An audience are clients that are subscribed to one channel, on which the same message
// comes again and again.
type audience struct {
	conns   []*conn
	message []byte // as it comes over the wire
	got     []atomic.Int64
	failed  atomic.Pointer[error]
	done    sync.WaitGroup
}

const (
	audienceBuffer = 64 << 10
	audiencePoll   = 5 * time.Millisecond
	// deliverLimit is how long after the last reply to who publishes messages may come.
	deliverLimit = 30 * time.Second
)

var (
	errNotDelivered = errors.New("not all messages were delivered")
	errOtherMessage = errors.New("a subscriber got something else than the message")
)

// gather returns when all are subscribed. The caller dismisses it, also with an error.
func gather(ctx context.Context, addr, channel, text string, n int) (*audience, error) {
	a := &audience{got: make([]atomic.Int64, n)}
	a.message = wire.AppendRequest(nil, "message", channel, text)
	for range n {
		c, err := dial(ctx, addr)
		if err != nil {
			return a, err
		}
		a.conns = append(a.conns, c)
		if got, err := c.do("SUBSCRIBE", channel); err != nil {
			return a, fmt.Errorf("SUBSCRIBE: %w", err)
		} else if got != "subscribe,"+channel+"," {
			return a, errors.New("SUBSCRIBE is not confirmed")
		}
		if err := c.SetDeadline(time.Time{}); err != nil {
			return a, err
		}
	}
	for i := range a.conns {
		a.done.Go(func() { a.listen(i) })
	}
	return a, nil
}

// listen compares all that comes with the message, whole reads at a time: 50 of these
// share the machine with the server.
func (a *audience) listen(i int) {
	size := len(a.message)
	pattern := bytes.Repeat(a.message, audienceBuffer/size+2)
	buf := make([]byte, audienceBuffer)
	for at := 0; ; { // of the message, what comes next
		n, err := a.conns[i].Read(buf)
		if !bytes.Equal(buf[:n], pattern[at:at+n]) {
			err = errOtherMessage
		}
		if err != nil {
			a.failed.CompareAndSwap(nil, &err)
			return
		}
		at = (at + n) % size
		a.got[i].Add(int64(n))
	}
}

// await returns once all have got so many messages each, and fails if they get more.
func (a *audience) await(ctx context.Context, messages int) error {
	want := int64(messages) * int64(len(a.message))
	ctx, cancel := context.WithTimeoutCause(ctx, deliverLimit, errNotDelivered)
	defer cancel()
	poll := time.NewTicker(audiencePoll)
	defer poll.Stop()
	for {
		waiting := 0
		for i := range a.got {
			switch got := a.got[i].Load(); {
			case got > want:
				return errOtherMessage
			case got < want:
				waiting++
			}
		}
		if waiting == 0 {
			return nil
		}
		if err := a.failed.Load(); err != nil {
			return fmt.Errorf("subscriber: %w", *err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d subscribers: %w", waiting, len(a.got), context.Cause(ctx))
		case <-poll.C:
		}
	}
}

// dismiss returns when nobody listens any more.
func (a *audience) dismiss() {
	for _, c := range a.conns {
		c.Close()
	}
	a.done.Wait()
}
