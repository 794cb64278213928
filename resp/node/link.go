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
	peer *client.Peer
	lane atomic.Uint32
}

// NewLink returns a way to another node for [resp.Routes]. The peer is the caller's to
// close.
func NewLink(peer *client.Peer) resp.Link { return &link{peer: peer} }
// Forward implements resp.Link.
func (l *link) Forward(batch []byte, requests int, resp3 bool, timeout time.Duration) (func() (resp.Replies, error), error) {
	call := &client.Call{Commands: batch, N: requests, RESP3: resp3, Timeout: timeout, Lane: l.lane.Add(1)}
	if err := l.peer.Send(call); err != nil {
		return nil, linkError(err)
	}
	return func() (resp.Replies, error) {
		if err := call.Wait(); err != nil {
			return resp.Replies{}, linkError(err)
		}
		replies := resp.Replies{Bytes: call.Reply, Ends: make([]int, len(call.Lens))}
		at := 0
		for i, n := range call.Lens {
			at += int(n)
			replies.Ends[i] = at
		}
		return replies, nil
	}, nil
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
