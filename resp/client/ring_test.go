package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// bubble runs a test against fake servers in virtual time.
func bubble(t *testing.T, n int, test func(t *testing.T, f *fake)) {
	t.Helper()
	fakenet.Bubble(t, func(t *testing.T) {
		f := newFake(t, n)
		f.placement = f.halves(5, "n0", "n1", "n0", "n1", "n2")
		test(t, f)
	})
}

func wantText(t *testing.T, r Reply, want string) {
	t.Helper()
	if got, err := r.Text(); got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestCommandsGoStraightToThePrimary(t *testing.T) {
	for _, name := range []string{"buckets", "vnode", "ketama"} {
		bubble(t, 3, func(t *testing.T, f *fake) {
			f.strategy = name
			r := f.open(nil)
			for i := range 200 {
				key := fmt.Sprint("k", i)
				want := "n0"
				if r.owners.Load().tokenOf([]byte(key)) >= 1<<31 {
					want = "n1"
				}
				wantText(t, r.Do(t.Context(), "SET", key, "v"), want)
				wantText(t, r.DoBytes(t.Context(), []byte("GET"), []byte(key)), want)
			}
			if n := len(f.at(2).commands()); n > 0 {
				t.Errorf("%s: %d commands came to a node that serves nothing", name, n)
			}
		})
	}
}

func TestPushedChangesAreFollowed(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(func(c *Config) { c.Poll = time.Hour })
		key := r.keyIn(false)
		wantText(t, r.Do(t.Context(), "GET", key), "n0")
		f.at(0).push("0000/0001 epoch=6 primary=n2\n")
		synctest.Wait()
		time.Sleep(2 * publishPause)
		wantText(t, r.Do(t.Context(), "GET", key), "n2")
		// A node that is new: its address is asked for.
		f.set(func() {
			s := &fakeServer{f: f, id: "n9", addr: "host9:1", answer: func([]string) string { return "+n9\r\n" }}
			f.servers[s.addr] = s
		})
		defer f.at(9).stop()
		f.at(0).push("0000/0001 epoch=7 primary=n9\n")
		synctest.Wait()
		time.Sleep(2 * publishPause)
		synctest.Wait()
		wantText(t, r.Do(t.Context(), "GET", key), "n9")
		r.Close()
	})
}

func TestMissedChangesAreFoundByPolling(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		key := r.keyIn(false)
		f.set(func() { f.placement = f.halves(6, "n2", "n1") })
		time.Sleep(2 * r.cfg.Poll)
		wantText(t, r.Do(t.Context(), "GET", key), "n2")
	})
}

// Both forms of MOVED: with a slot, and with a token.
func TestRedirectsAreFollowedAndLearnt(t *testing.T) {
	for _, at := range []string{"12182", "4123456789"} {
		bubble(t, 3, func(t *testing.T, f *fake) {
			r := f.open(func(c *Config) { c.Poll = time.Hour })
			f.at(0).answer = func([]string) string { return "-MOVED " + at + " host2:1\r\n" }
			key := r.keyIn(false)
			wantText(t, r.Do(t.Context(), "SET", key, "v"), "n2")
			wantText(t, r.Do(t.Context(), "SET", key, "w"), "n2")
			if got := f.at(0).commands(); len(got) != 1 {
				t.Errorf("the old primary got %v", got)
			}
			replies, err := r.Pipeline().one("GET", key).one("GET", r.keyIn(true)).Exec(t.Context())
			if err != nil || len(replies) != 2 {
				t.Fatal(err)
			}
			wantText(t, replies[1], "n1")
		})
	}
}

func (p *Pipeline) one(args ...string) *Pipeline {
	p.Do(args...)
	return p
}

func TestRedirectToUnknownNode(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.set(func() {
			f.servers["new:1"] = &fakeServer{f: f, id: "new", addr: "new:1", answer: func([]string) string { return "+new\r\n" }}
		})
		f.at(0).answer = func([]string) string { return "-MOVED 1 new:1\r\n" }
		wantText(t, r.Do(t.Context(), "GET", r.keyIn(false)), "new")
		r.Close()
		f.servers["new:1"].stop()
	})
}

// No placement names the address: the command waits for one that does, or that has another primary.
func TestRedirectToStranger(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		dialled := 0
		r := f.open(func(c *Config) {
			c.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
				if addr == "stranger:1" {
					f.set(func() { dialled++ })
				}
				return f.dial(ctx, addr)
			}
		})
		f.at(0).answer = func([]string) string { return "-MOVED 1 stranger:1\r\n" }
		time.AfterFunc(time.Second, func() { f.set(func() { f.placement = f.halves(6, "n2", "n1") }) })
		wantText(t, r.Do(t.Context(), "SET", r.keyIn(false), "v"), "n2")
		if dialled > 0 {
			t.Errorf("the client connected %d times", dialled)
		}
	})
}

// A node that forwards sends no redirect by itself. One comes if the user may not run RING ROUTE.
func TestRedirectIsNotFollowedInForwardMode(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(func(c *Config) { c.Route = Forward })
		f.at(0).answer = func([]string) string { return "-MOVED 1 host2:1\r\n" }
		f.set(func() { f.placement = f.halves(6, "n1", "n1") })
		wantText(t, r.Do(t.Context(), "SET", r.keyIn(false), "v"), "n1")
		if got := f.at(2).commands(); len(got) > 0 {
			t.Errorf("followed: %q", got)
		}
	})
}

// Nodes that do not agree send a client back and forth, until they do, or time is over.
func TestRedirectsInCircles(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).answer = func([]string) string { return "-MOVED 1 host1:1\r\n" }
		f.at(1).answer = func([]string) string { return "-MOVED 1 host0:1\r\n" }
		begin := time.Now()
		err := r.Do(t.Context(), "SET", "k", "v").Err()
		var e *ServerError
		if !errors.As(err, &e) || e.Code != codeMoved {
			t.Errorf("got %v", err)
		}
		if d := time.Since(begin); d < r.cfg.RetryFor || d > 2*r.cfg.RetryFor {
			t.Errorf("it took %s", d)
		}
		if n := len(f.at(0).commands()) + len(f.at(1).commands()); n > 300 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestCommandsWaitWhileNoNodeExecutesThem(t *testing.T) {
	for _, refusal := range []string{"TRYAGAIN the key is changing hands", "CLUSTERDOWN no copy of the key is there", "LOADING Redis is loading the dataset in memory"} {
		bubble(t, 2, func(t *testing.T, f *fake) {
			r := f.open(nil)
			n := 0
			f.at(0).answer = func([]string) string {
				if n++; n < 10 {
					return "-" + refusal + "\r\n"
				}
				return "+OK\r\n"
			}
			key := r.keyIn(false)
			wantText(t, r.Do(t.Context(), "SET", key, "v"), "OK")
			if n != 10 {
				t.Errorf("%d attempts", n)
			}
			n = -1 << 30
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			begin := time.Now()
			err := r.Do(ctx, "SET", key, "v").Err()
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrNotSent) || !strings.Contains(err.Error(), refusal) || time.Since(begin) != time.Second {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
			begin = time.Now()
			if err := r.Do(t.Context(), "SET", key, "v").Err(); err == nil || err.Error() != refusal || time.Since(begin) < r.cfg.RetryFor {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
		})
	}
}

// A write whose connection breaks is never repeated, a read is.
func TestOnlyReadsAreRepeatedWhenTheOutcomeIsUnknown(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).answer = func([]string) string { return closeNow }
		key := r.keyIn(false)
		for _, command := range [][]string{{"SET", key, "v"}, {"INCR", key}, {"SOMETHING", key}} {
			err := r.Do(t.Context(), command...).Err()
			if !errors.Is(err, ErrUnknownOutcome) || errors.Is(err, ErrNotSent) {
				t.Errorf("%v: %v", command, err)
			}
		}
		if got := f.at(0).commands(); len(got) != 3 {
			t.Errorf("it got %v", got)
		}
		if n := len(f.at(1).commands()) + len(f.at(2).commands()); n > 0 {
			t.Errorf("%d were sent elsewhere", n)
		}
		// The backup forwards it, as far as the client can tell.
		wantText(t, r.Do(t.Context(), "GET", key), "n1")
		replies, err := r.Pipeline().one("GET", key).one("GET", key).Exec(t.Context())
		if err != nil || len(replies) != 2 {
			t.Errorf("%v, %v", replies, err)
		}
		// A read that travels with a write is not: it might see it.
		replies, _ = r.Pipeline().one("GET", key).one("SET", key, "v").Exec(t.Context())
		if !errors.Is(replies[0].Err(), ErrUnknownOutcome) || !errors.Is(replies[1].Err(), ErrUnknownOutcome) {
			t.Errorf("%v, %v", replies[0].Err(), replies[1].Err())
		}
	})
}

// A client knows one key of each command. So a read that was sent together with a write of
// another key is not repeated either, once it is not known what became of the write: it
// could see it, though it came before.
func TestReadIsNotRepeatedAfterPipelinedWrite(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).answer = func(args []string) string {
			if args[0] == "GET" {
				return silence
			}
			return closeNow // it may have been executed
		}
		key := r.keyIn(false)
		other := ""
		for i := 0; other == "" || r.owners.Load().tokenOf([]byte(other)) >= 1<<31; i++ {
			other = fmt.Sprint("other", i)
		}
		for _, write := range [][]string{{"RENAME", other, key}, {"FLUSHALL"}} {
			replies, _ := r.Pipeline().one("GET", key).one(write...).Exec(t.Context())
			if !errors.Is(replies[0].Err(), ErrUnknownOutcome) || !errors.Is(replies[1].Err(), ErrUnknownOutcome) {
				t.Errorf("GET, %s: %v, %v", write[0], replies[0], replies[1])
			}
		}
		if got := f.at(1).commands(); len(got) > 0 {
			t.Errorf("repeated: %q", got)
		}
	})
}

// A primary that cannot be reached: a backup is asked, which forwards or advises.
func TestBackupIsAskedWhenPrimaryIsUnreachable(t *testing.T) {
	bubble(t, 4, func(t *testing.T, f *fake) {
		f.placement = f.halves(5, "n3", "n1", "n2")
		r := f.open(nil)
		key := r.keyIn(false)
		wantText(t, r.Do(t.Context(), "SET", key, "v"), "n3")
		f.at(3).stop()
		// What was on its way is lost; from then on the backup is asked.
		wantText(t, r.Do(t.Context(), "GET", key), "n2")
		wantText(t, r.Do(t.Context(), "SET", key, "v"), "n2")
		f.at(2).answer = func([]string) string { return "-MOVED 1 host1:1\r\n" }
		wantText(t, r.Do(t.Context(), "SET", key, "v"), "n1")
		// And so is any other.
		f.at(2).stop()
		f.at(1).stop()
		wantText(t, r.Do(t.Context(), "SET", r.keyIn(true), "v"), "n0")
	})
}

func TestReturningNodeIsUsedAgain(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		key := r.keyIn(true)
		wantText(t, r.Do(t.Context(), "GET", key), "n1")
		f.at(1).stop()
		wantText(t, r.Do(t.Context(), "GET", key), "n0")
		f.at(1).start()
		time.Sleep(2 * r.cfg.MaxBackoff)
		wantText(t, r.Do(t.Context(), "GET", key), "n1")
		// So is the one that tells of the placement.
		f.at(0).stop()
		time.Sleep(time.Minute)
		f.set(func() { f.placement = f.halves(6, "n1", "n1") })
		time.Sleep(2 * r.cfg.Poll)
		wantText(t, r.Do(t.Context(), "GET", r.keyIn(false)), "n1")
	})
}

func TestOpenFailsWithoutNodes(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).stop()
		f.at(1).stop()
		synctest.Wait()
		begin := time.Now()
		err := r.Do(t.Context(), "SET", "k", "v").Err()
		if !errors.Is(err, ErrNotSent) || !errors.Is(err, ErrDown) || time.Since(begin) < r.cfg.RetryFor {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		r.Close()
		if _, err := Open(t.Context(), f.config()); err == nil || !strings.Contains(err.Error(), "host0:1") {
			t.Errorf("got %v", err)
		}
	})
}

// A node that takes everything and says nothing: the connection is given up after Timeout.
func TestSilentNodeIsGivenUp(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).answer = func([]string) string { return silence }
		key := r.keyIn(false)
		begin := time.Now()
		err := r.Do(t.Context(), "SET", key, "v").Err()
		if !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(begin); d < r.cfg.Timeout || d > 2*r.cfg.Timeout {
			t.Errorf("after %s", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		err = r.Do(ctx, "SET", key, "v").Err()
		if !errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		// One that is only slow is waited for, and so are those behind.
		f.set(func() {
			f.at(0).answer = func([]string) string {
				time.Sleep(3 * time.Second)
				return "+slow\r\n"
			}
		})
		time.Sleep(time.Minute)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { wantText(t, r.Do(context.Background(), "SET", key, "v"), "slow") })
		}
		wg.Wait()
	})
}

func TestNodeThatHangsWhenDialled(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.set(func() { f.at(1).hangs = true })
		wantText(t, r.Do(t.Context(), "SET", r.keyIn(true), "v"), "n0")
		begin := time.Now()
		wantText(t, r.Do(t.Context(), "SET", r.keyIn(true), "v"), "n0")
		if d := time.Since(begin); d > r.cfg.DialTimeout {
			t.Errorf("the second time it took %s", d)
		}
	})
}

func TestGarbageEndsTheConnection(t *testing.T) {
	for _, garbage := range []string{"HTTP/1.1 400 Bad Request\r\n\r\n", "+OK\r\n+OK\r\n", "$99999999999999\r\n", "*3\r\n:x\r\n", "\x00\x01\x02\r\n"} {
		bubble(t, 2, func(t *testing.T, f *fake) {
			r := f.open(nil)
			key := r.keyIn(true)
			f.at(1).answer = func([]string) string { return garbage }
			err := r.Do(t.Context(), "SET", key, "v").Err()
			if garbage[0] != '+' && (!errors.Is(err, ErrUnknownOutcome) || !errors.Is(err, ErrReply)) {
				t.Errorf("%q: %v", garbage, err)
			}
			synctest.Wait()
			f.set(func() { f.at(1).answer = func([]string) string { return "+well\r\n" } })
			wantText(t, r.Do(t.Context(), "SET", key, "v"), "well")
		})
	}
}

// What is refused is not sent after what came behind it.
func TestOvertakenCommandsAreNotRepeated(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		key, other := r.keyIn(false), ""
		for i := 0; ; i++ {
			if other = fmt.Sprint("other", i); r.owners.Load().tokenOf([]byte(other)) < 1<<31 {
				break
			}
		}
		first := true
		f.at(0).answer = func(args []string) string {
			if args[2] == "1" && first {
				first = false
				return "-TRYAGAIN the key is changing hands\r\n"
			}
			return "+OK\r\n"
		}
		replies, err := r.Pipeline().one("SET", key, "1").one("SET", key, "2").Exec(t.Context())
		var e *ServerError
		if !errors.As(err, &e) || e.Code != "TRYAGAIN" {
			t.Errorf("got %v", err)
		}
		wantText(t, replies[1], "OK")
		if got := f.at(0).commands(); !slices.Equal(got, []string{"SET " + key + " 1", "SET " + key + " 2"}) {
			t.Errorf("it got %q", got)
		}
		// Where only another key came behind, it is.
		first = true
		if _, err := r.Pipeline().one("SET", key, "1").one("SET", other, "2").Exec(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Redirects that contradict each other do not part the commands on a key.
func TestCommandsOnAKeyStayTogether(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		key := r.keyIn(false)
		f.at(0).answer = func(args []string) string { return "-MOVED 1 host" + args[2] + ":1\r\n" }
		if _, err := r.Pipeline().one("SET", key, "1").one("SET", key, "2").Exec(t.Context()); err != nil {
			t.Error(err)
		}
		if got := f.at(1).commands(); !slices.Equal(got, []string{"SET " + key + " 1", "SET " + key + " 2"}) {
			t.Errorf("it got %q", got)
		}
	})
}

// A node that serves only some of the keys of a command by now: they are sent one by one.
func TestKeysThatDoNotLieTogetherAnyMore(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		f.placement = f.halves(5, "n0", "n0")
		r := f.open(nil)
		low, high := r.keyIn(false), r.keyIn(true)
		f.at(0).answer = func(args []string) string {
			switch {
			case len(args) > 2:
				return "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
			case args[1] == high:
				return "-MOVED 1 host1:1\r\n"
			}
			return "*1\r\n" + bulk("low")
		}
		f.at(1).answer = func([]string) string { return "*1\r\n" + bulk("high") }
		if got, err := r.Do(t.Context(), "MGET", high, low, high).Texts(); err != nil || fmt.Sprint(got) != "[high low high]" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestPasswords(t *testing.T) {
	for _, old := range []bool{false, true} {
		bubble(t, 2, func(t *testing.T, f *fake) {
			f.old, f.password = old, "secret"
			for _, password := range []string{"", "wrong"} {
				cfg := f.config()
				cfg.Password = password
				_, err := Open(t.Context(), cfg)
				if !refusesClient(err) {
					t.Errorf("password %q: %v", password, err)
				}
			}
			r := f.open(func(c *Config) { c.Password = "secret" })
			key := r.keyIn(true)
			wantText(t, r.Do(t.Context(), "GET", key), "n1")
			// It changes: commands fail at once, and say why.
			f.set(func() { f.password = "other" })
			f.at(1).stop()
			f.at(1).start()
			synctest.Wait()
			begin := time.Now()
			if err := r.Do(t.Context(), "SET", key, "v").Err(); !refusesClient(err) || !errors.Is(err, ErrNotSent) || time.Since(begin) > r.cfg.MaxBackoff {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
		})
	}
}

func TestLoneNodeAndRedis(t *testing.T) {
	for _, plain := range []bool{false, true} {
		for _, old := range []bool{false, true} {
			bubble(t, 1, func(t *testing.T, f *fake) {
				f.placement, f.plain, f.old = nil, plain, old
				r := f.open(nil)
				wantText(t, r.Do(t.Context(), "SET", "k", "v"), "n0")
				wantText(t, r.Do(t.Context(), "MGET", "a", "b"), "n0")
				time.Sleep(time.Minute)
				wantText(t, r.Do(t.Context(), "GET", "k"), "n0")
				if got := f.at(0).commands(); slices.Contains(got, "MGET a") {
					t.Errorf("it got %v", got)
				}
			})
		}
	}
}

func TestSomeCommandsNeedAConnectionOfTheirOwn(t *testing.T) {
	bubble(t, 1, func(t *testing.T, f *fake) {
		r := f.open(nil)
		for _, command := range [][]string{{"subscribe", "c"}, {"MULTI"}, {"Client", "Reply", "off"}, {"BLPOP", "k", "0"}, {"ring", "route", "forward"}, {"HELLO", "2"}, {"CLIENT", "TRACKING", "ON"}, {"CLIENT", "SETNAME", "mine"}} {
			if err := r.Do(t.Context(), command...).Err(); !errors.Is(err, ErrUnshared) || !errors.Is(err, ErrNotSent) {
				t.Errorf("%v: %v", command, err)
			}
		}
		for _, command := range []string{
			"XREAD BLOCK 0 STREAMS k $", "xread count 1 block 0 streams k $", "XREADGROUP GROUP g c BLOCK 0 STREAMS k >",
			"XREADGROUP GROUP streams streams NOACK BLOCK 0 STREAMS k >", "XREADGROUP BLOCK 0 GROUP g c STREAMS k >",
		} {
			if err := r.Do(t.Context(), strings.Fields(command)...).Err(); !errors.Is(err, ErrUnshared) {
				t.Errorf("%s: %v", command, err)
			}
		}
		for _, command := range []string{
			"XREAD STREAMS block 0", "XREAD COUNT 1 STREAMS k block 0 0", "XREADGROUP GROUP block c STREAMS k >",
			"XREADGROUP GROUP g block COUNT 1 CLAIM 5 STREAMS block >", "XREADGROUP COUNT 1 GROUP Block Block NOACK STREAMS k >",
		} {
			wantText(t, r.Do(t.Context(), strings.Fields(command)...), "n0")
		}
		for _, command := range [][]string{nil, {""}} {
			if err := r.Do(t.Context(), command...).Err(); !errors.Is(err, ErrNotSent) {
				t.Errorf("%v: %v", command, err)
			}
		}
		replies, err := r.Pipeline().one("GET", "a").one("QUIT").one().one("GET", "b").Exec(t.Context())
		if !errors.Is(err, ErrUnshared) || replies[0].Err() != nil || replies[3].Err() != nil || replies[2].Err() == nil {
			t.Errorf("%v", err)
		}
		wantText(t, r.Do(t.Context(), "CLIENT", "LIST"), "n0")
	})
}

func TestCloseEndsCommandsOnTheirWay(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		f.at(0).answer = func([]string) string { return silence }
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if err := r.Do(context.Background(), "GET", r.keyIn(false)).Err(); !errors.Is(err, ErrClosed) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		r.Close()
		wg.Wait()
		if err := r.Do(t.Context(), "GET", "k").Err(); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrNotSent) {
			t.Errorf("after the end: %v", err)
		}
		r.Close()
	})
}

// Nodes that left are let go of.
func TestNodesThatLeftAreLetGo(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		r := f.open(nil)
		wantText(t, r.Do(t.Context(), "GET", r.keyIn(true)), "n1")
		f.set(func() {
			f.placement = f.halves(6, "n0", "n0")
			delete(f.servers, "host1:1")
		})
		time.Sleep(10 * r.cfg.Timeout)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.remotes["host1:1"] != nil || r.remotes["host0:1"] == nil {
			t.Errorf("nodes: %v", r.remotes)
		}
	})
}

// A proxy comes and goes without a change of the placement.
func TestNodesWithoutDataComeAndGo(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(nil)
		proxy := &fakeServer{f: f, id: "p", addr: "proxy:1", answer: func([]string) string { return "+p\r\n" }}
		defer proxy.stop()
		for _, there := range []bool{true, false} {
			f.set(func() {
				if delete(f.servers, proxy.addr); there {
					f.servers[proxy.addr] = proxy
				}
			})
			time.Sleep(2 * r.cfg.Poll)
			if addrs, _ := r.Nodes(); slices.Contains(addrs, proxy.addr) != there {
				t.Errorf("the proxy is there: %v; the nodes are %q", there, addrs)
			}
		}
	})
}

// Nodes that hang when they are dialled are asked last.
func TestConnectedNodesAreAskedFirst(t *testing.T) {
	bubble(t, 9, func(t *testing.T, f *fake) {
		f.placement = f.halves(5, "n0", "n8")
		r := f.open(nil)
		low := r.keyIn(false)
		wantText(t, r.Do(t.Context(), "GET", r.keyIn(true)), "n8")
		f.set(func() {
			for i := 1; i < 8; i++ {
				f.at(i).hangs = true
			}
			f.placement = f.halves(6, "n8", "n8")
		})
		f.at(0).stop()
		synctest.Wait()
		began := time.Now()
		wantText(t, r.Do(t.Context(), "SET", low, "v"), "n8")
		for w := r.owners.Load(); w.of(w.tokenOf([]byte(low))).primary.addr != "host8:1"; w = r.owners.Load() {
			<-w.next
		}
		if d := time.Since(began); d >= r.cfg.DialTimeout {
			t.Errorf("the client followed the placement after %s", d)
		}
	})
}

func TestLargeAndBinaryValues(t *testing.T) {
	bubble(t, 2, func(t *testing.T, f *fake) {
		r := f.open(func(c *Config) { c.MaxInFlight = 1 << 20 })
		for i := range 2 {
			f.at(i).answer = func(args []string) string { return bulk(args[len(args)-1]) }
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				value := strings.Repeat(fmt.Sprint(i, "\r\n\x00\xff$5\r\n"), 1+i*i*700)
				wantText(t, r.Do(context.Background(), "SET", fmt.Sprint("k", i), value), value)
			})
		}
		wg.Wait()
	})
}

// failOver has the node of both keys fail, and each key have a primary of its own 20 ms later. It returns
// a function that tells the values.
func failOver(t *testing.T, f *fake, r *Ring, low, high string) func() map[string]string {
	t.Helper()
	f.at(0).answer = func([]string) string { return "-CLUSTERDOWN the lease is over\r\n" }
	time.AfterFunc(20*time.Millisecond, func() { f.set(func() { f.placement = f.halves(6, "n1", "n2") }) })
	var mu sync.Mutex
	values := make(map[string]string)
	for i := range 2 {
		own := []string{low, high}[i]
		f.at(1 + i).answer = func(args []string) string {
			for i := 1; i+1 < len(args); i += 2 {
				if args[i] != own {
					time.Sleep(time.Millisecond) // the way to the other node
				}
				mu.Lock()
				values[args[i]] = args[i+1]
				mu.Unlock()
			}
			return "+OK\r\n"
		}
	}
	return func() map[string]string {
		mu.Lock()
		defer mu.Unlock()
		return values
	}
}

// A node with both keys fails; each key has another primary then.
func TestPipelineKeepsOrderOfKeysAfterFailover(t *testing.T) {
	for _, commands := range []string{
		"MSET low 1 high 1; SET high 2; SET low 2",
		"SET low 1; SET high 1; MSET low 2 high 2",
		"SET high 0; MSET low 1 high 1; SET high 1; SET low 1; MSET high 2 low 2",
		"SET low 0; SET high 1; MSET high 1 low 1; SET high 2; SET low 2",
	} {
		bubble(t, 3, func(t *testing.T, f *fake) {
			f.placement = f.halves(5, "n0", "n0", "n1", "n2")
			r := f.open(nil)
			low, high := r.keyIn(false), r.keyIn(true)
			values := failOver(t, f, r, low, high)
			p := r.Pipeline()
			for _, c := range strings.Split(strings.NewReplacer("low", low, "high", high).Replace(commands), "; ") {
				p.Do(strings.Fields(c)...)
			}
			if _, err := p.Exec(t.Context()); err != nil {
				t.Errorf("%s: %v", commands, err)
			}
			if v := values(); v[low] != "2" || v[high] != "2" {
				t.Errorf("%s: all commands succeeded, and the values are %q and %q, want those of the last ones", commands, v[low], v[high])
			}
		})
	}
}

// A command that waits for earlier ones is not given up because they take long.
func TestPipelineWaitsForSlowEarlierCommands(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		f.placement = f.halves(5, "n0", "n0", "n1", "n2")
		r := f.open(func(c *Config) { c.RetryFor = time.Second })
		low, high := r.keyIn(false), r.keyIn(true)
		failOver(t, f, r, low, high)
		f.at(1).answer = func([]string) string {
			time.Sleep(3 * time.Second)
			return "+OK\r\n"
		}
		replies, err := r.Pipeline().one("SET", low, "1").one("SET", high, "1").one("MSET", low, "2", high, "2").Exec(t.Context())
		if err != nil {
			t.Errorf("%v, %v", replies, err)
		}
		if got := f.at(1).commands(); !slices.Equal(got, []string{"SET " + low + " 1", "MSET " + low + " 2 " + high + " 2"}) {
			t.Errorf("the first node got %q", got)
		}
	})
}

// Keys without a primary: a command on several of them and one on the second are in order, too.
func TestPipelineKeepsOrderOfKeysWithoutPrimary(t *testing.T) {
	bubble(t, 3, func(t *testing.T, f *fake) {
		f.placement = f.halves(5, "n0", "n0", "n1", "n2")
		r := f.open(nil)
		low, high := r.keyIn(false), r.keyIn(true)
		w := *r.owners.Load()
		n1, n2 := &owner{backups: []*remote{r.remote("host1:1")}}, &owner{backups: []*remote{r.remote("host2:1")}}
		w.by = slices.Clone(w.by)
		for i := range w.by {
			w.by[i] = n1
		}
		w.by[w.at(w.tokenOf([]byte(high)))] = n2
		r.mu.Lock()
		r.owners.Store(&w)
		r.mu.Unlock()
		if _, err := r.Pipeline().one("MSET", low, "1", high, "1").one("SET", high, "2").Exec(t.Context()); err != nil {
			t.Error(err)
		}
		for i, want := range [][]string{nil, {"MSET " + low + " 1"}, {"MSET " + high + " 1", "SET " + high + " 2"}} {
			if got := f.at(i).commands(); !slices.Equal(got, want) {
				t.Errorf("node %d got %q, want %q", i, got, want)
			}
		}
	})
}
