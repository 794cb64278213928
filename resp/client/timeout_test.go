package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func TestLateReplyIsDropped(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		held := make(chan *Batch, 10)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1})
		begin := time.Now()
		c := Call{Commands: []byte("late"), N: 1, Timeout: 3 * time.Second}
		_ = p.Send(&c)
		err := c.Wait()
		if !errors.Is(err, ErrTimeout) || !errors.Is(err, ErrUnknownOutcome) || errors.Is(err, ErrNotSent) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begin); took != c.Timeout {
			t.Errorf("gave up after %s", took)
		}
		late := <-held
		// The same Call takes the same slot.
		c.Commands, c.Timeout = []byte("next"), time.Hour
		_ = p.Send(&c)
		next := <-held
		echo(late)
		synctest.Wait()
		echo(next)
		if err := c.Wait(); err != nil || string(c.Reply) != "next" {
			t.Errorf("got %q, %v", c.Reply, err)
		}
	})
}

func TestEachCallHasItsOwnTimeout(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, func(*Batch) {})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		begin := time.Now()
		calls := make([]Call, 50)
		for i := range calls {
			calls[i] = Call{Commands: []byte("x"), N: 1, Lane: uint32(i), Timeout: time.Duration(1+i*37%50) * 10 * time.Millisecond}
			_ = p.Send(&calls[i])
		}
		type end struct {
			i    int
			took time.Duration
		}
		ends := make(chan end)
		for i := range calls {
			go func() {
				_ = calls[i].Wait()
				ends <- end{i, time.Since(begin)}
			}()
		}
		for range calls {
			e := <-ends
			if want := calls[e.i].Timeout; e.took < want || e.took > want+time.Millisecond || !errors.Is(calls[e.i].Err, ErrTimeout) {
				t.Errorf("call %d ended after %s instead of %s: %v", e.i, e.took, want, calls[e.i].Err)
			}
		}
	})
}

func TestUnsentCallTimesOutAsNotSent(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		p := newTestPeer(t, PeerConfig{DialTimeout: time.Hour, Dial: func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		c := Call{Commands: []byte("x"), N: 1, Timeout: time.Second}
		_ = p.Send(&c)
		if err := c.Wait(); !errors.Is(err, ErrTimeout) || !errors.Is(err, ErrNotSent) || errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("got %v", err)
		}
	})
}

// What waits for a peer that takes nothing is not sent once its time is over, and
// the time that it has left counts from when it is.
func TestTimeInTheQueueCounts(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		begin := monotonic()
		gate := make(chan struct{})
		seen := make(chan string, 10)
		f := newFarEnd(t, func(b *Batch) {
			seen <- fmt.Sprint(string(b.Commands), " until ", (b.Deadline - begin + time.Minute/maxDrift).Truncate(time.Minute))
			<-gate
			echo(b)
		})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1, MaxInFlight: 1})
		first := Call{Commands: []byte("first"), N: 1, Timeout: time.Hour}
		late := Call{Commands: []byte("late"), N: 1, Timeout: 2 * time.Second}
		long := Call{Commands: []byte("long"), N: 1, Timeout: time.Minute}
		for _, c := range []*Call{&first, &late, &long} {
			_ = p.Send(c)
		}
		if err := late.Wait(); !errors.Is(err, errTimeoutNotSent) {
			t.Errorf("late: %v", err)
		}
		time.Sleep(10 * time.Second)
		close(gate)
		if err := first.Wait(); err != nil {
			t.Error(err)
		}
		if err := long.Wait(); err != nil {
			t.Error(err)
		}
		for _, want := range []string{"first until 59m0s", "long until 1m0s"} {
			if got := <-seen; got != want {
				t.Errorf("the far end saw %q, want %q", got, want)
			}
		}
	})
}

func TestStalledPeerIsGivenUp(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var far net.Conn
		p := newTestPeer(t, PeerConfig{Dial: func(context.Context) (net.Conn, error) {
			var near net.Conn
			near, far = net.Pipe()
			go func() { _, _ = far.Write(appendClock(nil)) }()
			return near, nil
		}, WriteTimeout: 7 * time.Second, MinBackoff: time.Hour, MaxBackoff: time.Hour})
		begin := time.Now()
		c := Call{Commands: []byte("x"), N: 1}
		_ = p.Send(&c)
		if err := c.Wait(); !errors.Is(err, ErrNotSent) || !errors.Is(err, ErrDown) || time.Since(begin) != 7*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		_ = far.Close()
	})
}

// A slowConn carries a little a second, until it stands still after so many bytes.
type slowConn struct {
	net.Conn
	stop int // bytes that are read until then
}

const slowStep = 64 << 10

func (c *slowConn) Read(b []byte) (int, error) {
	time.Sleep(time.Second)
	if c.stop <= 0 {
		time.Sleep(time.Hour)
	}
	n, err := c.Conn.Read(b[:min(len(b), slowStep)])
	c.stop -= n
	return n, err
}

// What takes longer to travel than its call has time is not given up while it travels, in
// either direction; but if it stands still.
func TestTimeIsForWaitingNotForTravelling(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	for name, c := range map[string]struct {
		sent, received int
		err            error
	}{
		"slow both ways":          {1 << 30, 1 << 30, nil},
		"requests stand still":    {2 << 20, 1 << 30, ErrTimeout},
		"the reply stands still":  {1 << 30, 2 << 20, ErrTimeout},
		"no part of a reply came": {1 << 30, clockFrame, ErrTimeout}, // but the clock, with which a connection begins
	} {
		t.Run(name, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				f := newFarEnd(t, echo)
				var near, far net.Conn
				p := newTestPeer(t, PeerConfig{WriteTimeout: time.Minute, Dial: func(context.Context) (net.Conn, error) {
					near, far = net.Pipe()
					f.serve(&slowConn{far, c.sent})
					return &slowConn{near, c.received}, nil
				}})
				call := Call{Commands: body, N: 1, Timeout: 10 * time.Second}
				begin := time.Now()
				if err := p.Send(&call); err != nil {
					t.Fatal(err)
				}
				err := call.Wait()
				took := time.Since(begin)
				switch {
				case !errors.Is(err, c.err) || err == nil && !bytes.Equal(call.Reply, body):
					t.Errorf("after %v: %v, %d bytes", took, err, len(call.Reply))
				case c.err == nil && took < time.Minute || c.err != nil && took > 2*time.Minute:
					t.Errorf("it took %v", took)
				}
				_ = near.Close()
				_ = far.Close()
			})
		})
	}
}
