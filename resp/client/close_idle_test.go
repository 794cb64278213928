package client

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func TestCloseIdleWaitsForCalls(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, func(b *Batch) {
			go func() {
				time.Sleep(time.Second)
				echo(b)
			}()
		})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		c := Call{Commands: []byte("a"), N: 1}
		if err := p.Send(&c); err != nil {
			t.Fatal(err)
		}
		for range 2 { // before it is sent, and while it is awaited
			if p.CloseIdle() {
				t.Fatal("closed during a call")
			}
			synctest.Wait()
		}
		if err := c.Wait(); err != nil || string(c.Reply) != "a" {
			t.Errorf("%q, %v", c.Reply, err)
		}
		if !p.CloseIdle() {
			t.Error("not closed without a call")
		}
		if err := p.Send(&c); !errors.Is(err, ErrNotSent) || !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		_ = c.Wait()
	})
}

func TestCloseIdleEndsAnAttemptToConnect(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done() // the machine is gone
			return nil, ctx.Err()
		}})
		c := Call{Commands: []byte("a"), N: 1}
		_ = p.Send(&c)
		if p.CloseIdle() {
			t.Error("closed while a call waits for the connection")
		}
		if err := c.Wait(); !errors.Is(err, ErrNotSent) {
			t.Error(err)
		}
		start := time.Now()
		synctest.Wait() // it tries again
		if !p.CloseIdle() || time.Since(start) > time.Second {
			t.Errorf("not closed at once, but after %s", time.Since(start))
		}
	})
}

// TestCloseIdleDoesNotWait closes during an attempt to connect that does not end at once.
func TestCloseIdleDoesNotWait(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		attempts := 0
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(context.Context) (net.Conn, error) {
			if attempts++; attempts > 1 {
				time.Sleep(time.Minute)
			}
			return nil, errors.New("the machine is gone")
		}})
		c := Call{Commands: []byte("a"), N: 1}
		_ = p.Send(&c)
		_ = c.Wait()
		time.Sleep(10 * time.Second)
		start := time.Now()
		if !p.CloseIdle() || time.Since(start) > 0 {
			t.Errorf("not closed at once, but after %s", time.Since(start))
		}
		if p.Close(); time.Since(start) < 40*time.Second {
			t.Errorf("Close waited for %s only", time.Since(start))
		}
	})
}

// TestCloseIdleLeavesNoUnknownOutcome closes while many calls are sent: each was answered, or was not sent.
func TestCloseIdleLeavesNoUnknownOutcome(t *testing.T) {
	for range 50 {
		f := newFarEnd(t, echo)
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		ended := make(chan error, 4)
		for i := range cap(ended) {
			go func() {
				var err error
				for err == nil {
					c := Call{Commands: []byte("a"), N: 1, Lane: uint32(i)}
					_ = p.Send(&c)
					err = c.Wait()
				}
				ended <- err
			}()
		}
		for !p.CloseIdle() {
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, ErrNotSent) {
				t.Errorf("a call ended with %v", err)
			}
		}
	}
}
