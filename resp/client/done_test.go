package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// Done is called once for each call that was sent, and then Wait returns at once and the
// call may be used for another, from within.
func TestDoneIsCalledWhenACallHasEnded(t *testing.T) {
	eachNetwork(t, echo, func(t *testing.T, _ *farEnd, p *Peer) {
		var all sync.WaitGroup
		for lane := range 50 {
			all.Go(func() {
				c := Call{Lane: uint32(lane)}
				done := make(chan struct{}, 10)
				c.Done = func() {
					if c.state.Load() != callDone {
						t.Error("the call has not ended")
					}
					done <- struct{}{}
				}
				for i := range 20 {
					c.Commands, c.N = fmt.Append(c.Commands[:0], "call ", i), 1
					if err := p.Send(&c); err != nil {
						t.Error(err)
						return
					}
					<-done
					if err := c.Wait(); err != nil || string(c.Reply) != fmt.Sprint("call ", i) {
						t.Errorf("%q, %v", c.Reply, err)
					}
				}
				if len(done) > 0 {
					t.Error("Done is called twice")
				}
			})
		}
		all.Wait()
	})
}

// However a call ends, Done is called once, unless Send has said so.
func TestDoneIsCalledOnceHoweverACallEnds(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		held := make(chan *Batch, 10)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		broken := errors.New("nobody there")
		var dials atomic.Int32
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			if dials.Add(1) > 1 {
				return nil, broken
			}
			return f.pipe(ctx)
		}})
		var done [4]int
		call := func(i int, timeout time.Duration) *Call {
			return &Call{Commands: []byte("x"), N: 1, Timeout: timeout, Done: func() { done[i]++ }}
		}
		answered, late, lost := call(0, 0), call(1, time.Second), call(2, 0)
		for _, c := range []*Call{answered, late, lost} {
			if err := p.Send(c); err != nil {
				t.Fatal(err)
			}
		}
		first := <-held
		echo(first)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if done != [4]int{1, 1, 0, 0} || answered.Wait() != nil || !errors.Is(late.Wait(), ErrTimeout) {
			t.Errorf("Done was called %v times; %v, %v", done, answered.Err, late.Err)
		}
		(<-held).w.abort(broken)
		if err := lost.Wait(); !errors.Is(err, ErrUnknownOutcome) {
			t.Error(err)
		}
		synctest.Wait()
		refused := call(3, 0)
		if err := p.Send(refused); err == nil || !errors.Is(refused.Wait(), ErrNotSent) {
			t.Errorf("%v, %v", err, refused.Err)
		}
		if done != [4]int{1, 1, 1, 0} {
			t.Errorf("Done was called %v times", done)
		}
	})
}
