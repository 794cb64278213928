package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/memconn"
)

// TestPoolKeepsFewConnections runs many commands at once, then one after the other.
func TestPoolKeepsFewConnections(t *testing.T) {
	l := memconn.Listen()
	defer l.Close()
	var dials, open atomic.Int64
	var serving sync.WaitGroup
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			dials.Add(1)
			open.Add(1)
			serving.Go(func() {
				defer open.Add(-1)
				buf := make([]byte, 1024)
				for _, err := conn.Read(buf); err == nil; _, err = conn.Read(buf) {
					_, _ = conn.Write([]byte(">2\r\n+invalidate\r\n_\r\n+OK\r\n")) // a push goes before the reply
				}
				_ = conn.Close()
			})
		}
	}()
	p := NewPool(func(ctx context.Context) (net.Conn, error) { return l.Dial(ctx) })
	var running sync.WaitGroup
	for range 50 {
		running.Go(func() {
			for range 20 {
				if ok, err := p.Do(t.Context(), "SET", "k", "v").Bool(); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		})
	}
	running.Wait()
	before := dials.Load()
	for range 100 {
		if err := p.Do(t.Context(), "GET", "k").Err(); err != nil {
			t.Error(err)
		}
	}
	if n := dials.Load(); n != before || n > 1000 {
		t.Errorf("%d connections, then %d", before, n)
	}
	p.mu.Lock()
	idle := len(p.idle)
	p.mu.Unlock()
	if idle > keepIdle || idle == 0 {
		t.Errorf("%d connections are kept", idle)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := p.Do(t.Context(), "PING").Err(); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrNotSent) {
		t.Error(err)
	}
	serving.Wait()
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
}

// TestPoolTellsOutcomes has a server that breaks connections, or is not there.
func TestPoolTellsOutcomes(t *testing.T) {
	l := memconn.Listen()
	refuse := errors.New("no way")
	broken := []byte("?\r\n")
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			buf := make([]byte, 1024)
			for i := 0; ; i++ {
				if _, err := conn.Read(buf); err != nil {
					break
				}
				if i == 2 { // after HELLO and CLIENT SETNAME
					_, _ = conn.Write(broken)
					break
				}
				_, _ = conn.Write([]byte("+OK\r\n"))
			}
			_ = conn.Close()
		}
	}()
	p := NewPool(func(ctx context.Context) (net.Conn, error) { return l.Dial(ctx) })
	defer p.Close()
	if err := p.Do(t.Context(), "INCR", "k").Err(); !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, ErrReply) {
		t.Errorf("a broken reply: %v", err)
	}
	broken = nil
	if err := p.Do(t.Context(), "INCR", "k").Err(); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("no reply: %v", err)
	}
	_ = l.Close()
	if err := p.Do(t.Context(), "INCR", "k").Err(); !errors.Is(err, ErrNotSent) || !errors.Is(err, ErrDown) {
		t.Errorf("no server: %v", err)
	}
	never := NewPool(func(context.Context) (net.Conn, error) { return nil, refuse })
	if err := never.Do(t.Context(), "INCR", "k").Err(); !errors.Is(err, refuse) || !errors.Is(err, ErrNotSent) {
		t.Errorf("no connection: %v", err)
	}
	_ = never.Close()
}
