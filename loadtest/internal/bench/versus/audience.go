package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/wire"
)

// An audience is the clients that are subscribed to one channel, on which the same message comes
// again and again. A load without subscribers has an empty one.
type audience struct {
	conns   []*cluster.Conn
	message []byte // as it comes over the wire
	faults  []error
	done    sync.WaitGroup
}

const (
	audienceBuffer = 64 << 10
	// lastWait is how long a message too many may come after the last one.
	lastWait = 5 * time.Millisecond
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
	a.faults = make([]error, l.do.Audience)
	for i := range a.faults {
		c, err := cluster.DialContext(ctx, l.addr)
		if err != nil {
			return err
		}
		a.conns = append(a.conns, c)
		if got, err := c.Do("SUBSCRIBE", channel); err != nil {
			return fmt.Errorf("SUBSCRIBE: %w", err)
		} else if got != "subscribe,"+channel+",1" {
			return errors.New("SUBSCRIBE is not confirmed")
		}
		a.done.Go(func() { a.faults[i] = a.listen(c, l.requests) })
	}
	return nil
}

// listen reads so many messages. It compares all bytes with the message, whole reads at a time: 50 of
// these share the machine with the server.
func (a *audience) listen(c *cluster.Conn, messages int) error {
	size := len(a.message)
	pattern := bytes.Repeat(a.message, audienceBuffer/size+2)
	buf := make([]byte, audienceBuffer)
	for got, want := 0, messages*size; got < want; {
		n, err := c.Read(buf)
		if !bytes.Equal(buf[:n], pattern[got%size:][:n]) || got+n > want {
			return errOtherMessage
		}
		if got += n; err != nil && got < want {
			return fmt.Errorf("%w: %d of %d bytes: %w", errNotDelivered, got, want, err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(lastWait))
	if n, _ := c.Read(buf); n > 0 {
		return errOtherMessage
	}
	return nil
}

// await returns once all have got all messages, or the first error of one.
func (a *audience) await() error {
	late := time.AfterFunc(deliverLimit, a.hangUp)
	defer late.Stop()
	a.done.Wait()
	return cmp.Or(a.faults...)
}

func (a *audience) hangUp() {
	for _, c := range a.conns {
		c.Close()
	}
}

// dismiss ends the subscriptions.
func (a *audience) dismiss() {
	a.hangUp()
	a.done.Wait()
}
