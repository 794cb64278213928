package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A cutConn breaks after so many bytes in one direction.
type cutConn struct {
	net.Conn
	toWrite, toRead atomic.Int64
}

func newCutConn(conn net.Conn, toWrite, toRead int64) *cutConn {
	c := &cutConn{Conn: conn}
	c.toWrite.Store(toWrite)
	c.toRead.Store(toRead)
	return c
}

func (c *cutConn) Write(p []byte) (int, error) {
	left := c.toWrite.Load()
	if int64(len(p)) <= left {
		n, err := c.Conn.Write(p)
		c.toWrite.Add(-int64(n))
		return n, err
	}
	n, _ := c.Conn.Write(p[:left])
	_ = c.Conn.Close()
	return n, io.ErrClosedPipe
}

func (c *cutConn) Read(p []byte) (int, error) {
	left := c.toRead.Load()
	if left == 0 {
		_ = c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), left)])
	c.toRead.Add(-int64(n))
	return n, err
}

// checkOutcome compares what a call was told with what happened to it.
func checkOutcome(t *testing.T, what string, err error, executed bool) {
	t.Helper()
	switch {
	case err == nil && !executed:
		t.Errorf("%s: has a reply, but was never executed", what)
	case err != nil && errors.Is(err, ErrNotSent) == errors.Is(err, ErrUnknownOutcome):
		t.Errorf("%s: %v: no single outcome", what, err)
	case errors.Is(err, ErrNotSent) && executed:
		t.Errorf("%s: %v, but was executed", what, err)
	}
}

// TestBreakageAtEveryByte cuts the connection after each byte of three requests,
// and of their replies.
func TestBreakageAtEveryByte(t *testing.T) {
	const far = 1 << 30
	const around = requestHead + deadlineSize // the commands
	sizes := []int{around + 3, around + 5, around + 7}
	requests := int64(sizes[0] + sizes[1] + sizes[2])
	replies := requests + 3*int64(replyHead+4-around) + 4*clockFrame // one first, and one for each write
	run := func(toWrite, toRead int64) {
		fakenet.Bubble(t, func(t *testing.T) {
			executed := make([]atomic.Bool, 3)
			f := newFarEnd(t, func(b *Batch) {
				executed[b.Commands[0]].Store(true)
				echo(b)
			})
			dials := 0
			p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
				if dials++; dials > 1 {
					return nil, errors.New("only once")
				}
				conn, err := f.pipe(ctx)
				return newCutConn(conn, toWrite, toRead), err
			}})
			calls := make([]Call, 3)
			for i := range calls {
				calls[i] = Call{Commands: make([]byte, sizes[i]-around), N: 1}
				calls[i].Commands[0] = byte(i)
				_ = p.Send(&calls[i])
			}
			var start int64
			for i := range calls {
				err := calls[i].Wait()
				what := fmt.Sprintf("cut after %d written, %d read: call %d", toWrite, toRead, i)
				synctest.Wait()
				checkOutcome(t, what, err, executed[i].Load())
				if want := start >= toWrite; toRead == far && errors.Is(err, ErrNotSent) != want {
					t.Errorf("%s: %v; its first byte is number %d", what, err, start)
				}
				start += int64(sizes[i])
			}
		})
	}
	for n := range requests + 1 {
		run(n, far)
	}
	for n := range replies {
		run(far, n+1)
	}
}

// TestCallsSurviveBreakageUnderLoad breaks connections while many goroutines send:
// every call ends, with an outcome that is true, and later ones get through.
func TestCallsSurviveBreakageUnderLoad(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const goroutines, calls = 50, 200
	executed := make([]atomic.Bool, goroutines*calls)
	var served atomic.Int64
	handle := func(b *Batch) {
		var id int
		_, _ = fmt.Sscanf(string(b.Commands), "call %d", &id)
		executed[id].Store(true)
		served.Add(1)
		if id%3 == 0 {
			go echo(b)
		} else {
			echo(b)
		}
	}
	f := newFarEnd(t, handle)
	p := newTestPeer(t, PeerConfig{Dial: f.tcp(), MinBackoff: time.Microsecond, MaxBackoff: time.Millisecond})
	var running atomic.Int64
	running.Store(goroutines)
	var wg sync.WaitGroup
	var lost, unsent atomic.Int64
	for g := range goroutines {
		wg.Go(func() {
			defer running.Add(-1)
			var c Call
			c.N, c.Lane = 1, uint32(g)
			for i := range calls {
				id := g*calls + i
				c.Commands = fmt.Appendf(c.Commands[:0], "call %d", id)
				if id%37 == 0 {
					c.Commands = append(c.Commands, make([]byte, 5*largeCommands)...)
				}
				c.Timeout = time.Duration(i%2) * time.Minute
				for {
					_ = p.Send(&c)
					err := c.Wait()
					// What is lost may still be executed later.
					checkOutcome(t, fmt.Sprintf("call %d", id), err, errors.Is(err, ErrUnknownOutcome) || executed[id].Load())
					if errors.Is(err, ErrNotSent) {
						unsent.Add(1)
						runtime.Gosched()
						continue
					}
					if err != nil {
						lost.Add(1)
					}
					break
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for running.Load() > 0 {
		for next := served.Load() + r.Int64N(500); served.Load() < next && running.Load() > 0; {
			runtime.Gosched()
		}
		f.breakAll()
	}
	wg.Wait()
	f.mu.Lock()
	t.Logf("%d calls, %d lost, %d not sent at first, %d connections", goroutines*calls, lost.Load(), unsent.Load(), f.dialled)
	f.mu.Unlock()

	c := Call{Commands: []byte("call 0"), N: 1}
	for {
		_ = p.Send(&c)
		err := c.Wait()
		if err == nil {
			break
		}
		runtime.Gosched()
	}
}

func TestCallsFailFastWhileThePeerIsDown(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, echo)
		var up atomic.Bool
		refused := errors.New("nobody listens")
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			if !up.Load() {
				return nil, refused
			}
			return f.pipe(ctx)
		}})
		c := Call{Commands: []byte("x"), N: 1}
		if err := p.Send(&c); err != nil {
			t.Errorf("the first call waits for the connection: %v", err)
		}
		if err := c.Wait(); !errors.Is(err, refused) || !errors.Is(err, ErrNotSent) || !errors.Is(err, ErrDown) {
			t.Errorf("got %v", err)
		}
		begin := time.Now()
		if err := p.Send(&c); !errors.Is(err, ErrDown) || c.Wait() != err || time.Since(begin) > 0 {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		up.Store(true)
		time.Sleep(3 * time.Second) // more than the longest pause
		if err := p.Send(&c); err != nil || c.Wait() != nil {
			t.Errorf("the peer is back: %v, %v", err, c.Err)
		}
	})
}

func TestPausesBetweenAttemptsGrow(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var attempts atomic.Int64
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(context.Context) (net.Conn, error) {
			attempts.Add(1)
			return nil, errors.New("nobody listens")
		}})
		c := Call{Commands: []byte("x"), N: 1}
		_ = p.Send(&c)
		_ = c.Wait()
		time.Sleep(time.Minute)
		// Half a second to a second each, after the first few.
		if n := attempts.Load(); n < 60 || n > 130 {
			t.Errorf("%d attempts in a minute", n)
		}
	})
}

func TestCloseEndsCallsOnTheirWay(t *testing.T) {
	for _, conns := range []int{1, 3} {
		eachNetwork(t, func(*Batch) {}, func(t *testing.T, f *farEnd, _ *Peer) {
			p, err := NewPeer(PeerConfig{Dial: f.pipe, Conns: conns})
			if err != nil {
				t.Fatal(err)
			}
			calls := make([]Call, 10)
			for i := range calls {
				calls[i] = Call{Commands: []byte("x"), N: 1, Lane: uint32(i)}
				_ = p.Send(&calls[i])
			}
			p.Close()
			for i := range calls {
				if err := calls[i].Wait(); !errors.Is(err, ErrClosed) {
					t.Errorf("call %d: %v", i, err)
				}
			}
			p.Close()
		})
	}
}

func TestClosedConnectionEndsServingWithMissingAnswers(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, func(*Batch) {}) // never answers
		f.cfg.MaxPending = 1
		dials := 0
		p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(ctx context.Context) (net.Conn, error) {
			if dials++; dials > 1 {
				return nil, errors.New("only once")
			}
			return f.pipe(ctx)
		}})
		calls := make([]Call, 3)
		for i := range calls {
			calls[i] = Call{Commands: []byte("x"), N: 1}
			_ = p.Send(&calls[i])
		}
		synctest.Wait()
		f.breakAll()
		f.served.Wait()
		for i := range calls {
			checkOutcome(t, fmt.Sprintf("call %d", i), calls[i].Wait(), i == 0)
		}
	})
}

func TestAnswersAfterTheConnectionEndedAreDropped(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		held := make(chan *Batch, 1)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		c := Call{Commands: []byte("x"), N: 1}
		_ = p.Send(&c)
		b := <-held
		f.breakAll()
		if err := c.Wait(); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if err := b.Reply([]uint32{1}, nil, []byte("x")); err != nil {
			t.Errorf("late answer: %v", err)
		}
		if err := b.Reply([]uint32{1}, nil, []byte("x")); !errors.Is(err, ErrInUse) {
			t.Errorf("second answer: %v", err)
		}
	})
}
