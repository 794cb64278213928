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

// A peer that stands still keeps nobody waiting once it is abandoned.
func TestAbandonEndsPendingCalls(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		still := true
		f := newFarEnd(t, func(b *Batch) {
			if !still {
				echo(b)
			}
		})
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: f.pipe})
		start := time.Now()
		calls := []Call{{Commands: []byte("a"), N: 1, Timeout: time.Minute}, {Commands: []byte("b"), N: 1}}
		for i := range calls {
			if err := p.Send(&calls[i]); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		p.Abandon(1)
		for i := range calls {
			if err := calls[i].Wait(); !errors.Is(err, ErrUnknownOutcome) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %s", took)
		}
		still = false
		again := Call{Commands: []byte("c"), N: 1}
		err := ErrNotSent
		for errors.Is(err, ErrNotSent) { // until it has connected anew
			time.Sleep(time.Millisecond)
			_ = p.Send(&again)
			err = again.Wait()
		}
		if err != nil || string(again.Reply) != "c" {
			t.Errorf("%q, %v", again.Reply, err)
		}
	})
}

// A startConn leads to a start of the peer that it names.
type startConn struct {
	net.Conn
	incarnation uint64
}

func (c startConn) PeerIncarnation() uint64 { return c.incarnation }

// What goes to a later start than those that are abandoned is answered.
func TestAbandonSparesALaterStart(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, func(b *Batch) {
			go func() {
				time.Sleep(time.Second)
				echo(b)
			}()
		})
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			conn, err := f.pipe(ctx)
			return startConn{conn, 7}, err
		}})
		for before, want := range map[uint64]error{6: nil, 7: nil, 8: ErrUnknownOutcome} {
			c := Call{Commands: []byte("a"), N: 1}
			if err := p.Send(&c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			p.Abandon(before)
			if err := c.Wait(); !errors.Is(err, want) {
				t.Errorf("abandoned before %d: %v", before, err)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestAbandonEndsTheWaitForAConnection(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done() // the machine is gone
			return nil, ctx.Err()
		}})
		start := time.Now()
		c := Call{Commands: []byte("a"), N: 1, Timeout: time.Minute}
		if err := p.Send(&c); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.Abandon(1)
		if err := c.Wait(); !errors.Is(err, ErrNotSent) || time.Since(start) > 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// Whatever becomes of it, no call is told what is not true.
func TestAbandonUnderLoad(t *testing.T) {
	f := newFarEnd(t, echo)
	p := newTestPeer(t, PeerConfig{Dial: f.tcp(), MinBackoff: time.Microsecond, MaxBackoff: time.Millisecond})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			c := Call{Commands: []byte("x"), N: 1, Lane: uint32(i)}
			_ = p.Send(&c)
			switch err := c.Wait(); {
			case err == nil && string(c.Reply) != "x":
				t.Errorf("%q", c.Reply)
			case err != nil && errors.Is(err, ErrNotSent) == errors.Is(err, ErrUnknownOutcome):
				t.Errorf("%v: no single outcome", err)
			}
		}
		close(stop)
	}()
	for {
		select {
		case <-stop:
			<-done
			return
		default:
			p.Abandon(1)
			time.Sleep(100 * time.Microsecond)
		}
	}
}
