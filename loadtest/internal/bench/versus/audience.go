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

// An audience is the clients that are subscribed to one channel, on which the same message comes
// again and again. A load without subscribers has an empty one.
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
	// deliverLimit is how long after the last reply to PUBLISH messages may come.
	deliverLimit = 30 * time.Second
)

var (
	errNotDelivered = errors.New("not all messages were delivered")
	errOtherMessage = errors.New("a subscriber got something else than the message")
)

// gather subscribes the audience of a load, if it has one. The caller dismisses it, also with an error.
func (a *audience) gather(ctx context.Context, l *load) error {
	if l.do.Audience == 0 {
		return nil
	}
	channel := l.do.Request[1]
	a.message = wire.AppendRequest(nil, "message", channel, l.value())
	a.got = make([]atomic.Int64, l.do.Audience)
	for i := range a.got {
		c, err := dial(ctx, l.addr)
		if err != nil {
			return err
		}
		a.conns = append(a.conns, c)
		if got, err := c.Do("SUBSCRIBE", channel); err != nil {
			return fmt.Errorf("SUBSCRIBE: %w", err)
		} else if got != "subscribe,"+channel+",1" {
			return errors.New("SUBSCRIBE is not confirmed")
		}
		a.done.Go(func() { a.listen(c, &a.got[i]) })
	}
	return nil
}

// listen compares all bytes with the message, whole reads at a time, and counts them: 50 of these
// share the machine with the server.
func (a *audience) listen(c *conn, got *atomic.Int64) {
	size := len(a.message)
	pattern := bytes.Repeat(a.message, audienceBuffer/size+2)
	buf := make([]byte, audienceBuffer)
	for at := 0; ; { // of the message, what comes next
		n, err := c.raw.Read(buf)
		if !bytes.Equal(buf[:n], pattern[at:at+n]) {
			err = errOtherMessage
		}
		if err != nil {
			a.failed.CompareAndSwap(nil, &err)
			return
		}
		at = (at + n) % size
		got.Add(int64(n))
	}
}

// await returns once each has got so many messages, and fails if one gets more.
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

// dismiss ends the subscriptions.
func (a *audience) dismiss() {
	for _, c := range a.conns {
		c.Close()
	}
	a.done.Wait()
}
