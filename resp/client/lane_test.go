package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// TestWriteIsExecutedAtMostOnce breaks a connection after each byte of a pipeline and of
// its replies: whatever the caller is told, nothing is executed twice, what is said to be
// executed is, and what is said not to be is not.
func TestWriteIsExecutedAtMostOnce(t *testing.T) {
	const far = 1 << 30
	run := func(toWrite, toRead int64) (cut bool) {
		bubble(t, 2, func(t *testing.T, f *fake) {
			var broken *cutConn
			r := f.open(func(c *Config) {
				c.Conns = 1
				c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					conn, err := f.dial(ctx, addr)
					if err == nil && addr == "host1:1" && broken == nil {
						broken = newCutConn(conn, toWrite, toRead)
						return broken, nil
					}
					return conn, err
				}
			})
			key := r.keyIn(true)
			replies, err := r.Pipeline().one("INCR", key, "1").one("INCR", key, "2").one("INCR", key, "3").Exec(t.Context())
			synctest.Wait()
			// What was not sent goes elsewhere.
			got := slices.Concat(f.at(0).commands(), f.at(1).commands())
			what := fmt.Sprintf("cut after %d written, %d read: executed %q, told %v", toWrite, toRead, got, err)
			for i, reply := range replies {
				command := fmt.Sprintf("INCR %s %d", key, i+1)
				n := 0
				for _, c := range got {
					n += bit(c == command)
				}
				switch err := reply.Err(); {
				case err == nil && n != 1, n > 1:
					t.Errorf("%s: %d times", what, n)
				case err == nil:
				case errors.Is(err, ErrNotSent) == errors.Is(err, ErrUnknownOutcome):
					t.Errorf("%s: no single outcome", what)
				case errors.Is(err, ErrNotSent) && n > 0:
					t.Errorf("%s: is said not to be executed", what)
				}
			}
			if !slices.IsSorted(got) {
				t.Errorf("%s: out of order", what)
			}
			cut = broken.toWrite.Load() > 0 && broken.toRead.Load() > 0
		})
		return !cut
	}
	for n := int64(0); run(n, far); n++ {
	}
	for n := int64(1); run(far, n); n++ {
	}
}

// Connections break at any time under load: what is counted is between what callers know
// of and what they may have done besides.
func TestCommandsSurviveBreakageUnderLoad(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const goroutines, commands = 30, 300
	f := newFake(t, 2)
	f.placement = f.halves(5, "n0", "n1")
	var mu sync.Mutex
	executed := make(map[string]int)
	for i := range 2 {
		f.at(i).answer = func(args []string) string {
			mu.Lock()
			defer mu.Unlock()
			executed[args[1]]++
			return "+" + args[1] + "\r\n"
		}
	}
	r := f.open(func(c *Config) { c.MinBackoff, c.MaxBackoff = time.Microsecond, time.Millisecond })
	var lost, running atomic.Int64
	var wg sync.WaitGroup
	running.Store(goroutines)
	for g := range goroutines {
		wg.Go(func() {
			defer running.Add(-1)
			for i := range commands {
				key := fmt.Sprint("k", g, ":", i)
				text, err := r.Do(context.Background(), "INCR", key).Text()
				mu.Lock()
				n := executed[key]
				mu.Unlock()
				switch {
				case err == nil && (text != key || n != 1):
					t.Errorf("%s: reply %q, executed %d times", key, text, n)
				case errors.Is(err, ErrNotSent) && n > 0, n > 1:
					t.Errorf("%s: %v, but executed %d times", key, err, n)
				case errors.Is(err, ErrUnknownOutcome):
					lost.Add(1)
				case err != nil:
					t.Errorf("%s: %v", key, err)
				}
			}
		})
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	for running.Load() > 0 {
		time.Sleep(time.Duration(rnd.IntN(int(5 * time.Millisecond))))
		s := f.at(rnd.IntN(2))
		s.stop()
		s.start()
	}
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	for key, n := range executed {
		if n > 1 {
			t.Errorf("%s was executed %d times", key, n)
		}
	}
	t.Logf("%d commands, %d of unknown outcome", goroutines*commands, lost.Load())
}

// FuzzRing lets a node answer anything to a write and a read: both end, with an outcome.
func FuzzRing(f *testing.F) {
	for _, seed := range []string{"+OK\r\n", "-MOVED 1 host0:1\r\n", "-MOVED x\r\n", "$3\r\nab", ">2\r\n+a\r\n+b\r\n+OK\r\n", "-TRYAGAIN\r\n", "_\r\n", "*1\r\n*1\r\n:1\r\n", "-CROSSSLOT\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if raw == closeNow || strings.Contains(raw, "MOVED") && len(raw) > 100 {
			return
		}
		fakenet.Bubble(t, func(t *testing.T) {
			f := newFake(t, 2)
			f.placement = f.halves(5, "n0", "n1")
			f.at(1).answer = func([]string) string { return raw }
			r := f.open(nil)
			key := r.keyIn(true)
			for _, command := range [][]string{{"SET", key, "v"}, {"GET", key}, {"MGET", key, r.keyIn(false)}} {
				err := r.Do(t.Context(), command...).Err()
				var refusal *ServerError
				if err != nil && !errors.As(err, &refusal) && errors.Is(err, ErrNotSent) == errors.Is(err, ErrUnknownOutcome) {
					t.Errorf("%v: %v: no single outcome", command, err)
				}
			}
		})
	})
}

// A watcher gets anything for a push or a placement: the Ring goes on.
func FuzzPush(f *testing.F) {
	f.Add("0000/0001 epoch=6 primary=n1\n")
	f.Add("x")
	f.Add("0000/FFFF epoch=99999 primary=none backups=n0,n1\n")
	f.Fuzz(func(t *testing.T, text string) {
		fakenet.Bubble(t, func(t *testing.T) {
			f := newFake(t, 2)
			f.placement = f.halves(5, "n0", "n1")
			r := f.open(nil)
			f.at(0).push(text)
			synctest.Wait()
			time.Sleep(time.Second)
			if err := r.Do(t.Context(), "GET", "k").Err(); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestPushesOfOtherKindsAreIgnored(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		key := r.keyIn(true)
		f.at(1).answer = func([]string) string { return ">2\r\n+invalidate\r\n_\r\n+well\r\n" }
		wantText(t, r.Do(t.Context(), "GET", key), "well")
		for _, c := range f.at(0).subs {
			_, _ = io.WriteString(c, ">2\r\n+invalidate\r\n_\r\n")
		}
		time.Sleep(time.Minute)
		wantText(t, r.Do(t.Context(), "GET", key), "well")
	})
}
