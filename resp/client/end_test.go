package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A far end that ends on purpose, at any moment, answers what it has executed, and whoever
// sent the rest knows that it was not.
func TestEndReportsUnreadCallsAsNotSent(t *testing.T) {
	for round := range 40 {
		end := make(chan struct{})
		var mu sync.Mutex
		executed := map[string]int{}
		f := newFarEnd(t, func(b *Batch) {
			mu.Lock()
			executed[string(b.Commands)]++
			mu.Unlock()
			if b.Commands[0]%2 == 0 {
				echo(b)
				return
			}
			go func() {
				time.Sleep(time.Duration(b.Commands[0]) * 100 * time.Microsecond)
				echo(b)
			}()
		})
		f.cfg.End = end
		dial := f.tcp()
		if round%4 == 0 {
			dial = f.pipe
		}
		p := newTestPeer(t, PeerConfig{Dial: dial, Conns: 1 + round%2})
		var done, refused atomic.Int64
		var all sync.WaitGroup
		for g := range 20 {
			all.Go(func() {
				for i := 0; ; i++ {
					c := Call{Commands: fmt.Appendf([]byte{byte(i)}, "%d:%d", g, i), N: 1, Lane: uint32(g)}
					err := p.Send(&c)
					if err == nil {
						err = c.Wait()
					}
					mu.Lock()
					times := executed[string(c.Commands)]
					mu.Unlock()
					switch {
					case err == nil && times == 1:
						done.Add(1)
						continue
					case errors.Is(err, ErrNotSent) && times == 0:
						refused.Add(1)
					default:
						t.Errorf("round %d, %d of %d: %v, executed %d times", round, i, g, err, times)
					}
					return
				}
			})
		}
		for done.Load() < int64(50*(round%5)) {
			time.Sleep(50 * time.Microsecond)
		}
		close(end)
		all.Wait()
		p.Close()
		if refused.Load() != 20 {
			t.Errorf("round %d: %d of 20 are refused", round, refused.Load())
		}
	}
}

// While a far end that ends still owes an answer it does not end, unless it is closed.
func TestEndWaitsForReadCalls(t *testing.T) {
	for _, answered := range []bool{true, false} {
		end, held := make(chan struct{}), make(chan *Batch, 1)
		f := newFarEnd(t, func(b *Batch) { held <- b })
		f.cfg.End = end
		p := newTestPeer(t, PeerConfig{Dial: f.pipe, Conns: 1})
		c := Call{Commands: []byte("x"), N: 1}
		if err := p.Send(&c); err != nil {
			t.Fatal(err)
		}
		b := <-held
		close(end)
		if answered {
			time.AfterFunc(20*time.Millisecond, func() { echo(b) })
		} else {
			time.AfterFunc(20*time.Millisecond, f.breakAll)
		}
		if err := c.Wait(); answered != (err == nil) || !answered && !errors.Is(err, ErrUnknownOutcome) {
			t.Errorf("answered: %v, %v", answered, err)
		}
		p.Close()
	}
}

// A closedConn is one whose other end has said that it ends, and has closed: the word is still
// on its way when a write finds that out.
type closedConn struct {
	net.Conn
	said []byte
}

func (c *closedConn) Write([]byte) (int, error) { return 1, syscall.EPIPE }

func (c *closedConn) Read(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	if err := c.SetDeadline(time.Time{}); err != nil {
		return 0, err // closed meanwhile
	}
	n := copy(b, c.said)
	if c.said = c.said[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func TestEndArrivesAfterFailedWrite(t *testing.T) {
	for _, last := range []struct {
		said []byte
		want error
	}{
		{appendReplyHead(nil, 0, statusEnd, 0, 0), ErrNotSent},
		{nil, ErrUnknownOutcome},
	} {
		fakenet.Bubble(t, func(t *testing.T) {
			p := newTestPeer(t, PeerConfig{Conns: 1, Dial: func(context.Context) (net.Conn, error) {
				near, _ := net.Pipe()
				return &closedConn{Conn: near, said: append(appendClock(nil), last.said...)}, nil
			}})
			c := Call{Commands: []byte("a"), N: 1}
			if err := p.Send(&c); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); !errors.Is(err, last.want) {
				t.Errorf("%v instead of %v", err, last.want)
			}
		})
	}
}
