package node

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/client"
)

// link forwards requests to another node over the bus.
type link struct {
	peer     *client.Peer
	lastLane atomic.Uint32
}

// NewLink returns a way to another node for [resp.Routes]. The peer is the caller's to
// close.
func NewLink(peer *client.Peer) resp.Link { return &link{peer: peer} }

// Way implements resp.Link.
func (l *link) Way() resp.Way {
	// All that a client forwards there goes by one connection.
	return &way{peer: l.peer, lane: l.lastLane.Add(1)}
}

// A way is what one client's batches need, which it keeps.
type way struct {
	peer *client.Peer
	call client.Call
	lane uint32
	ends []int

	statuses []resp.Status
}

// Send implements resp.Way.
func (w *way) Send(batch []byte, requests int, terms resp.Terms, timeout time.Duration, arrived func()) error {
	c := &w.call
	if cap(c.Reply) > keepReplies {
		c.Reply = nil
	}
	if c.Lane = w.lane; terms.InOrder {
		c.Lane = 0
	}
	c.Commands, c.N, c.RESP3, c.Early = batch, requests, terms.RESP3, terms.Early
	c.Keeps, c.Author, c.NoTouch, c.Known = terms.Keeps, terms.Author, terms.NoTouch, terms.Known
	c.Trace, c.Atomic, c.Part = terms.Trace, terms.Atomic, terms.Part
	c.Timeout, c.Done = timeout, arrived
	if err := w.peer.Send(c); err != nil {
		return linkError(err)
	}
	return nil
}

// keepReplies is how much memory for replies a way keeps, in bytes.
const keepReplies = 16 << 10

// Wait implements resp.Way.
func (w *way) Wait() (resp.Replies, error) {
	err := w.call.Wait()
	w.call.Commands = nil
	if err != nil {
		return resp.Replies{}, linkError(err)
	}
	w.ends, w.statuses = w.ends[:0], w.statuses[:0]
	for _, mark := range w.call.Marks {
		w.statuses = append(w.statuses, resp.Status(mark))
	}
	at := 0
	for _, n := range w.call.Lens {
		at += int(n)
		w.ends = append(w.ends, at)
	}
	return resp.Replies{Bytes: w.call.Reply, Ends: w.ends, Statuses: w.statuses, At: w.call.Ended}, nil
}

// linkError says in resp's words what became of a batch.
func linkError(err error) error {
	switch {
	case errors.Is(err, client.ErrNotSent):
		return fmt.Errorf("%w: %w", resp.ErrNotSent, err)
	case errors.Is(err, client.ErrTimeout):
		return fmt.Errorf("%w: %w", resp.ErrTimeout, err)
	}
	return fmt.Errorf("%w: %w", resp.ErrUnknownOutcome, err)
}
