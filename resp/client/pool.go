package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
)

// A Pool sends commands to one node. Each command has a connection for itself until its reply has
// come, so commands that wait for others' writes, such as BLPOP, are possible. Commands that change
// their connection are refused with [ErrUnshared]: subscriptions, transactions, SELECT, CLIENT SETNAME,
// CLIENT TRACKING, RING ROUTE and their like. A command is sent once. A Pool may be used from any number of goroutines.
type Pool struct {
	cfg  Config
	dial func(ctx context.Context) (net.Conn, error)

	mu     sync.Mutex
	closed bool
	idle   []*talk
	busy   map[*talk]struct{}
}

const (
	keepIdle   = 16       // connections that a Pool keeps while no command needs them
	keepOutput = 64 << 10 // bytes of the longest command whose memory is kept
)

// NewPool returns a pool that connects with dial, which must heed its context. Close must be called.
func NewPool(dial func(ctx context.Context) (net.Conn, error)) *Pool {
	p := &Pool{dial: dial, busy: make(map[*talk]struct{})}
	p.cfg = Config{Name: "ringside-pool", Dial: func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }}
	p.cfg.EnsureDefaults()
	return p
}

// Do sends a command and waits for its reply, or until ctx is done: then the outcome is unknown.
// Arguments may be of any bytes. The errors of the reply match [ErrNotSent] or [ErrUnknownOutcome]
// unless they are the server's.
func (p *Pool) Do(ctx context.Context, args ...string) Reply {
	if len(args) == 0 || args[0] == "" {
		return failed(errNothing)
	}
	if isUnshared(args) {
		return failed(notSent(fmt.Errorf("%w: %s", ErrUnshared, clip([]byte(args[0])))))
	}
	t, err := p.take(ctx)
	if err != nil {
		return failed(notSent(err))
	}
	stop := context.AfterFunc(ctx, func() { _ = t.conn.Close() })
	reply, err := t.ask(args)
	p.giveBack(t, stop() && err == nil)
	switch {
	case err == nil:
		return reply
	case ctx.Err() != nil:
		err = ctx.Err()
	case p.isClosed():
		err = ErrClosed
	}
	return failed(unknown(err))
}

// ask is do for a connection that certainly speaks RESP3: there the form of a reply says whether it is a push.
func (t *talk) ask(args []string) (Reply, error) {
	t.out = appendCommand(t.out[:0], args)
	if _, err := t.conn.Write(t.out); err != nil {
		return Reply{}, err
	}
	for {
		if r, err := t.next(); err != nil || !r.push {
			return r, err
		}
	}
}

// isUnshared reports whether a command would change its connection.
func isUnshared(args []string) bool {
	c := builtin[strings.ToLower(args[0])]
	if c != nil && len(args) > 1 {
		if sub := c.subs[strings.ToLower(args[1])]; sub != nil {
			c = sub
		}
	}
	return c != nil && c.unshared
}

// take returns a connection that no other command has.
func (p *Pool) take(ctx context.Context) (*talk, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var t *talk
	p.mu.Lock()
	for t == nil && len(p.idle) > 0 {
		last := len(p.idle) - 1
		t, p.idle = p.idle[last], p.idle[:last]
		if e, ok := t.conn.(interface{ Ended() bool }); ok && e.Ended() {
			_ = t.conn.Close()
			t = nil
		}
	}
	closed := p.closed
	if t != nil {
		p.busy[t] = struct{}{}
	}
	p.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case t != nil:
		return t, nil
	}
	t, err := p.cfg.greet(ctx, "the node")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDown, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = t.conn.Close()
		return nil, ErrClosed
	}
	p.busy[t] = struct{}{}
	return t, nil
}

// giveBack keeps a connection for the next command, if it is whole.
func (p *Pool) giveBack(t *talk, whole bool) {
	t.pushes = nil
	if cap(t.out) > keepOutput {
		t.out = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, t)
	if whole && !p.closed && len(p.idle) < keepIdle {
		p.idle = append(p.idle, t)
		return
	}
	_ = t.conn.Close()
}

func (p *Pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Close ends all connections. Commands that wait for their replies fail.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("close: %w", ErrClosed)
	}
	p.closed = true
	var errs []error
	for _, t := range p.idle {
		errs = append(errs, ignoreClosed(t.conn.Close()))
	}
	for t := range p.busy {
		errs = append(errs, ignoreClosed(t.conn.Close()))
	}
	p.idle = nil
	return errors.Join(errs...)
}

// ignoreClosed returns err, unless the connection had been closed before.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
