package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func TestThousandsOfCallsGetTheirOwnReplies(t *testing.T) {
	eachNetwork(t, echo, func(t *testing.T, _ *farEnd, p *Peer) {
		const goroutines, calls = 1000, 20
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				var c Call
				c.Lane = uint32(g)
				for i := range calls {
					c.N = 1 + r.IntN(5)
					c.Commands = append(c.Commands[:0], fmt.Sprintf("goroutine %d call %d ", g, i)...)
					c.Commands = append(c.Commands, bytes.Repeat([]byte("x"), r.IntN(3000))...)
					c.Timeout = time.Duration(r.IntN(2)) * time.Hour
					if err := p.Send(&c); err != nil {
						t.Error(err)
						return
					}
					if err := c.Wait(); err != nil {
						t.Error(err)
						return
					}
					if !bytes.Equal(c.Reply, c.Commands) || len(c.Lens) != c.N {
						t.Errorf("goroutine %d call %d: got %.60q for %.60q", g, i, c.Reply, c.Commands)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestLaneKeepsItsOrder(t *testing.T) {
	var mu sync.Mutex
	last := map[byte]int{} // by lane
	inOrder := func(b *Batch) {
		mu.Lock()
		lane, n := b.Commands[0], int(b.Commands[1])<<8|int(b.Commands[2])
		if n != last[lane]+1 {
			t.Errorf("lane %d: %d after %d", lane, n, last[lane])
		}
		last[lane] = n
		mu.Unlock()
		if n%2 == 0 {
			echo(b)
			return
		}
		go echo(b) // answers may come in any order
	}
	eachNetwork(t, inOrder, func(t *testing.T, _ *farEnd, p *Peer) {
		mu.Lock()
		clear(last)
		mu.Unlock()
		var wg sync.WaitGroup
		for lane := range 20 {
			wg.Go(func() {
				calls := make([]Call, 300)
				for i := range calls {
					n := i + 1
					calls[i] = Call{Commands: []byte{byte(lane), byte(n >> 8), byte(n)}, N: 1, Lane: uint32(lane)}
					if err := p.Send(&calls[i]); err != nil {
						t.Error(err)
					}
				}
				for i := range calls {
					if err := calls[i].Wait(); err != nil || !bytes.Equal(calls[i].Reply, calls[i].Commands) {
						t.Errorf("lane %d call %d: %q, %v", lane, i, calls[i].Reply, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestLargeFramesPass(t *testing.T) {
	eachNetwork(t, echo, func(t *testing.T, _ *farEnd, p *Peer) {
		var c Call
		for _, size := range []int{readBuffer - replyHead - 4, readBuffer, readBuffer + 1, keptBuffer + 1, 5 << 20, 10} {
			c.Commands, c.N = bytes.Repeat([]byte{byte(size)}, size), 1
			if err := p.Send(&c); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil || !bytes.Equal(c.Reply, c.Commands) {
				t.Fatalf("%d bytes: %d came back, %v", size, len(c.Reply), err)
			}
		}
	})
}

func TestLargeAndSmallCallsShareAConnection(t *testing.T) {
	eachNetwork(t, echo, func(t *testing.T, _ *farEnd, p *Peer) {
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				c := Call{N: 1, Lane: uint32(g), Timeout: time.Hour}
				for i := range 20 {
					size := 10
					if (i+g)%4 == 0 {
						size = 6 * largeCommands
					}
					c.Commands = bytes.Repeat([]byte{byte(g)}, size+i)
					_ = p.Send(&c)
					if err := c.Wait(); err != nil || !bytes.Equal(c.Reply, c.Commands) {
						t.Errorf("goroutine %d: %d bytes for %d, %v", g, len(c.Reply), len(c.Commands), err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestFarEndSeesFlagsAndDeadline(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var seen Batch
		f := newFarEnd(t, func(b *Batch) {
			seen.N, seen.RESP3, seen.Early, seen.Deadline = b.N, b.RESP3, b.Early, b.Deadline
			echo(b)
		})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		c := Call{Commands: []byte("a\r\nb\r\n"), N: 2, RESP3: true, Early: true, Timeout: 1500 * time.Millisecond}
		begin := monotonic()
		_ = p.Send(&c)
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		if seen.N != 2 || !seen.RESP3 || !seen.Early || seen.Deadline > begin+c.Timeout || seen.Deadline < begin+c.Timeout*99/100 {
			t.Errorf("saw %d commands, RESP3 %t, deadline after %s", seen.N, seen.RESP3, seen.Deadline-begin)
		}
		c.RESP3, c.Early, c.Timeout = false, false, 0
		_ = p.Send(&c)
		if err := c.Wait(); err != nil || seen.RESP3 || seen.Early || seen.Deadline != 0 {
			t.Errorf("RESP3 %t, deadline %s, %v", seen.RESP3, seen.Deadline, err)
		}
	})
}

func TestRefusedAndFailedCallsSayWhetherTheyRan(t *testing.T) {
	say := func(b *Batch) {
		if b.Commands[0] == 'r' {
			b.Refuse("moved away")
		} else {
			b.Fail("lease ran out")
		}
	}
	eachNetwork(t, say, func(t *testing.T, _ *farEnd, p *Peer) {
		c := Call{Commands: []byte("r"), N: 1}
		_ = p.Send(&c)
		err := c.Wait()
		if !errors.Is(err, ErrRefused) || !errors.Is(err, ErrNotSent) || errors.Is(err, ErrUnknownOutcome) || !strings.Contains(err.Error(), "moved away") {
			t.Errorf("refused: %v", err)
		}
		c.Commands = []byte("f")
		_ = p.Send(&c)
		err = c.Wait()
		if errors.Is(err, ErrNotSent) || !errors.Is(err, ErrUnknownOutcome) || !strings.Contains(err.Error(), "lease ran out") {
			t.Errorf("failed: %v", err)
		}
		if again := c.Wait(); again != err {
			t.Errorf("waiting again: %v", again)
		}
	})
}

func TestCallsThatCannotGoAreNotSent(t *testing.T) {
	f := newFarEnd(t, echo)
	p := newTestPeer(t, PeerConfig{Dial: f.pipe, MaxFrame: 100})
	for name, test := range map[string]struct {
		c    *Call
		want error
	}{
		"empty":           {&Call{}, ErrEmpty},
		"no command":      {&Call{Commands: []byte("x")}, ErrEmpty},
		"negative":        {&Call{Commands: []byte("x"), N: -1}, ErrEmpty},
		"more than bytes": {&Call{Commands: []byte("x"), N: 2}, ErrEmpty},
		"too large":       {&Call{Commands: make([]byte, 100), N: 1}, ErrTooLarge},
	} {
		if err := p.Send(test.c); !errors.Is(err, test.want) || !errors.Is(err, ErrNotSent) {
			t.Errorf("%s: send: %v", name, err)
		}
		if err := test.c.Wait(); !errors.Is(err, test.want) {
			t.Errorf("%s: wait: %v", name, err)
		}
	}
}

func TestCallInUseIsNotReused(t *testing.T) {
	hold := make(chan struct{})
	eachNetwork(t, func(b *Batch) { <-hold; echo(b) }, func(t *testing.T, _ *farEnd, p *Peer) {
		c := Call{Commands: []byte("x"), N: 1}
		if err := p.Send(&c); err != nil {
			t.Fatal(err)
		}
		if err := p.Send(&c); !errors.Is(err, ErrInUse) {
			t.Errorf("second send: %v", err)
		}
		hold <- struct{}{}
		if err := c.Wait(); err != nil || string(c.Reply) != "x" {
			t.Errorf("%q, %v", c.Reply, err)
		}
	})
}

func TestTooLargeAReplyIsAnUnknownOutcome(t *testing.T) {
	f := newFarEnd(t, func(b *Batch) {
		if err := b.Reply([]uint32{1000}, nil, make([]byte, 1000)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("reply: %v", err)
		}
	})
	f.cfg.MaxFrame = 100
	p := newTestPeer(t, PeerConfig{Dial: f.pipe})
	c := Call{Commands: []byte("x"), N: 1}
	_ = p.Send(&c)
	if err := c.Wait(); !errors.Is(err, ErrUnknownOutcome) {
		t.Errorf("got %v", err)
	}
	// A request that the far end will not take ends the connection.
	c.Commands = make([]byte, 200)
	_ = p.Send(&c)
	if err := c.Wait(); !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, ErrDown) {
		t.Errorf("got %v", err)
	}
}

func TestWrongNumbersOfRepliesEndTheConnection(t *testing.T) {
	for name, reply := range map[string]func(*Batch) error{
		"too few":   func(b *Batch) error { return b.Reply([]uint32{1}, nil, []byte("x")) },
		"wrong sum": func(b *Batch) error { return b.Reply([]uint32{1, 2}, nil, []byte("x")) },
		"few marks": func(b *Batch) error { return b.Reply([]uint32{1, 1}, []byte{1}, []byte("xy")) },
	} {
		f := newFarEnd(t, func(b *Batch) {
			if err := reply(b); !errors.Is(err, ErrProtocol) {
				t.Errorf("%s: reply: %v", name, err)
			}
		})
		p := newTestPeer(t, PeerConfig{Dial: f.pipe})
		c := Call{Commands: []byte("xy"), N: 2}
		_ = p.Send(&c)
		if err := c.Wait(); !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMarksTravelBesideReplies(t *testing.T) {
	marks := []byte{0, 3, 1}
	eachNetwork(t, func(b *Batch) {
		if b.N == 1 {
			_ = b.Reply([]uint32{1}, nil, []byte("x"))
			return
		}
		size := len(b.Commands)
		_ = b.Reply([]uint32{uint32(size), 0, 1}, marks, append(bytes.Clone(b.Commands), 'z'))
	}, func(t *testing.T, _ *farEnd, p *Peer) {
		c := Call{}
		for _, size := range []int{3, writeBatch + 1} {
			c.Commands, c.N = bytes.Repeat([]byte("x"), size), 3
			if err := p.Send(&c); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil || !bytes.Equal(c.Marks, marks) || len(c.Reply) != size+1 || c.Lens[0] != uint32(size) {
				t.Errorf("marks %v of %v lengths, %v", c.Marks, c.Lens, err)
			}
			c.Commands, c.N = []byte("x"), 1
			if err := p.Send(&c); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil || len(c.Marks) != 0 || string(c.Reply) != "x" {
				t.Errorf("%v, %q, %v after a reply with marks", c.Marks, c.Reply, err)
			}
		}
	})
}

func TestBytesInFlightAreBounded(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		held := make(chan *Batch, 100)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1, MaxInFlight: 2 * (requestHead + 10 + deadlineSize)})
		calls := make([]Call, 10)
		for i := range calls {
			calls[i] = Call{Commands: bytes.Repeat([]byte{byte(i)}, 10), N: 1}
			if err := p.Send(&calls[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range calls {
			synctest.Wait()
			if n, want := len(held), min(2, len(calls)-i); n != want {
				t.Fatalf("%d calls are under way, want %d", n, want)
			}
			echo(<-held)
			if err := calls[i].Wait(); err != nil || !bytes.Equal(calls[i].Reply, calls[i].Commands) {
				t.Fatalf("call %d: %q, %v", i, calls[i].Reply, err)
			}
		}
	})
}

func TestFarEndPausesReadingAtManyOpenCalls(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		held := make(chan *Batch, 100)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		f.cfg.MaxPending = 25
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1})
		calls := make([]Call, 10)
		for i := range calls {
			calls[i] = Call{Commands: make([]byte, 10), N: 1}
			_ = p.Send(&calls[i])
		}
		for i := range calls {
			synctest.Wait()
			if n, want := len(held), min(2, len(calls)-i); n != want {
				t.Fatalf("%d calls are under way, want %d", n, want)
			}
			echo(<-held)
			if err := calls[i].Wait(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestConfigsReportEveryFault(t *testing.T) {
	_, err := NewPeer(PeerConfig{Conns: -1, MaxFrame: 1, MaxInFlight: -1, DialTimeout: -1, MinBackoff: 2, MaxBackoff: 1})
	for _, want := range []string{"dial", "connections", "frames", "in flight", "time-out", "pauses"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
	near, far := net.Pipe()
	defer far.Close()
	err = ServeForward(near, ServeConfig{MaxFrame: 1, MaxPending: -1, WriteTimeout: -1}, eachBatch(echo))
	for _, want := range []string{"frames", "pending", "time-out"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("nothing about %s in: %v", want, err)
		}
	}
}

func TestUnusedPeerNeverDials(t *testing.T) {
	p := newTestPeer(t, PeerConfig{Dial: func(context.Context) (net.Conn, error) {
		t.Error("dialled")
		return nil, errors.New("no")
	}})
	p.Close()
	c := Call{Commands: []byte("x"), N: 1}
	if err := p.Send(&c); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrNotSent) {
		t.Errorf("send after close: %v", err)
	}
}

// callOnce sends a call and returns what became of it.
func callOnce(p *Peer) error {
	c := Call{Commands: []byte("a"), N: 1}
	if err := p.Send(&c); err != nil {
		return err
	}
	return c.Wait()
}

// breakLinks ends all connections of a peer.
func breakLinks(p *Peer) {
	for _, l := range p.links {
		l.mu.Lock()
		if l.conn != nil {
			_ = l.conn.Close()
		}
		l.mu.Unlock()
	}
}

// Who waits for a node that is away sees it soon when it is back, however long it was away.
func TestReturningPeerIsFoundSoonByWaiters(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, echo)
		var away atomic.Bool
		var dials atomic.Int64
		away.Store(true)
		p := newTestPeer(t, PeerConfig{Dial: func(ctx context.Context) (net.Conn, error) {
			dials.Add(1)
			if away.Load() {
				return nil, errors.New("it is away")
			}
			return f.pipe(ctx)
		}})
		try := func() error { return callOnce(p) }
		if try() == nil {
			t.Fatal("it is there")
		}
		time.Sleep(time.Minute)
		if n := dials.Load(); n > 130 {
			t.Errorf("%d attempts while nobody asked", n)
		}
		for range 7 { // at various times of a pause
			away.Store(true)
			for try() == nil {
				breakLinks(p)
				synctest.Wait()
			}
			time.Sleep(time.Minute + 333*time.Millisecond)
			away.Store(false)
			began := time.Now()
			for try() != nil {
				time.Sleep(5 * time.Millisecond)
			}
			if took := time.Since(began); took > 25*time.Millisecond {
				t.Errorf("it was found after %v", took)
			}
		}
	})
}

// A node that is said to be back is found at once.
func TestRedialFindsAReturningPeerAtOnce(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFarEnd(t, echo)
		var away atomic.Bool
		away.Store(true)
		p := newTestPeer(t, PeerConfig{Dial: func(ctx context.Context) (net.Conn, error) {
			if away.Load() {
				return nil, errors.New("it is away")
			}
			return f.pipe(ctx)
		}})
		try := func() error { return callOnce(p) }
		for _, before := range []time.Duration{0, time.Millisecond, time.Minute} {
			if try() == nil {
				t.Fatal("it is there")
			}
			time.Sleep(before)
			away.Store(false)
			p.Redial()
			synctest.Wait()
			if err := try(); err != nil {
				t.Errorf("after %v: %v", before, err)
			}
			away.Store(true)
			breakLinks(p)
			synctest.Wait()
			p.Redial() // in vain
			synctest.Wait()
		}
	})
}
