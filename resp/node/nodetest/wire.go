package nodetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Wire is one connection to a node, made when it is needed and given up after a command
// without an answer. It repeats nothing. It belongs to one goroutine, but for Close.
type Wire struct {
	Dial func(ctx context.Context) (net.Conn, error)
	// Greeting is sent first on each connection; each must be answered without an error.
	Greeting [][]string

	mu      sync.Mutex // guards conn against Close
	conn    net.Conn
	replies *wire.ReplyReader
	closed  bool
}

// Do is a Doer.
func (w *Wire) Do(ctx context.Context, args ...string) (string, error) {
	if w.conn == nil {
		if err := w.connect(ctx); err != nil {
			w.drop()
			return "", fmt.Errorf("%w: %w", ErrUnsent, err)
		}
	}
	reply, err := w.exchange(ctx, args)
	if err != nil && !errors.As(err, new(wire.ReplyError)) {
		w.drop()
	}
	return reply, err
}

func (w *Wire) connect(ctx context.Context) error {
	conn, err := w.Dial(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.conn, w.replies = conn, wire.NewReplyReader(conn)
	w.replies.Flat = true
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return net.ErrClosed
	}
	for _, args := range w.Greeting {
		if _, err := w.exchange(ctx, args); err != nil {
			return err
		}
	}
	return nil
}

func (w *Wire) exchange(ctx context.Context, args []string) (string, error) {
	by, ok := ctx.Deadline()
	if !ok {
		by = time.Now().Add(time.Minute)
	}
	if err := w.conn.SetDeadline(by); err != nil {
		return "", err
	}
	if _, err := w.conn.Write(wire.AppendRequest(nil, args...)); err != nil {
		return "", err
	}
	reply, err := w.replies.Read()
	if err != nil {
		return "", err
	}
	return reply.Joined()
}

func (w *Wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// Close ends the connection and whatever waits for it, from any goroutine.
func (w *Wire) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.conn != nil {
		_ = w.conn.Close()
	}
}
