package resp

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A handClock is a [Config.Clock] that a test moves. It tells so many readings apart.
type handClock struct {
	late     atomic.Bool
	readings atomic.Int32
	// after is called behind a reading that was in time, with its number from 1 on.
	after func(reading int32)
}

const (
	handEarly = time.Hour
	handEnd   = 2 * time.Hour // the deadline of what a test forwards
	handLate  = 3 * time.Hour
)

func (c *handClock) read() time.Duration {
	if c.late.Load() {
		return handLate
	}
	c.after(c.readings.Add(1))
	return handEarly
}

// lateTest is a server of the first half of the circle, with keys of it that share no latch.
func lateTest(t *testing.T) (r *routed, keys []string, clock *handClock) {
	r, _ = halves(t)
	clock = &handClock{after: func(int32) {}}
	r.servers[0].cfg.Clock = clock.read
	var places []store.Place
	u := r.store.NewUnit()
next:
	for i := 0; len(keys) < 8; i++ {
		key := fmt.Sprint("k", i)
		p := u.Place([]byte(key))
		if p.Token()>>31 != 0 {
			continue
		}
		for _, q := range places {
			if store.SameLatch(p, q) {
				continue next
			}
		}
		keys, places = append(keys, key), append(places, p)
	}
	return r, keys, clock
}

// holdLatch takes the latch of a key until release is called.
func holdLatch(r *routed, key string) (release func()) {
	u := r.store.NewUnit()
	u.Begin(0, []store.Place{u.Place([]byte(key))})
	return u.Abort
}

// A forwarded write whose time runs out while it waits is not executed, whatever it waits for:
// each case is in time when the clock is read for the first time, or so many times, and late when
// it may go on.
func TestForwardedWriteIsDroppedWhenItWaitedPastItsDeadline(t *testing.T) {
	const setUndeclared = "for i = 1, #ARGV do redis.call('set', ARGV[i], 'v') end return 1"
	for _, c := range []struct {
		name string
		// words is the request, with names of keys in place of %0, %1 and so on.
		words []string
		latch int   // of which key is held; -1: none is
		at    int32 // the reading behind which the time runs out
	}{
		{"the latch of one key", []string{"SET", "%0", "v"}, 0, 0},
		{"the latch of several keys", []string{"MSET", "%0", "v", "%1", "v"}, 1, 0},
		{"the latch of a transaction", []string{"RING", "EXEC", "0", "3", "SET", "%0", "v", "3", "SET", "%1", "v"}, 1, 0},
		{"the latch of a script", []string{"EVAL", "return redis.call('set', KEYS[1], 'v')", "1", "%0"}, 0, 0},
		{"a latch that a script turns out to need", []string{"EVAL", setUndeclared, "0", "%0"}, 0, 1},
		{"all latches for a script", []string{"EVAL", setUndeclared, "0", "%0", "%1", "%2", "%3", "%4"}, 5, 4},
		{"a pause", []string{"SET", "%0", "v"}, -1, 1},
		{"a range on hold", []string{"SET", "%0", "v"}, -1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, keys, clock := lateTest(t)
			srv := r.servers[0]
			o := resptest.Dial(t, r.addrs[1], 2)
			words := append([]string{}, c.words...)
			for i, w := range words {
				if w[0] == '%' {
					n, _ := strconv.Atoi(w[1:])
					words[i] = keys[n]
				}
			}
			release := func() {}
			switch {
			case c.latch >= 0:
				release = holdLatch(r, keys[c.latch])
			case c.name == "a pause":
				srv.pause.Start(time.Now().Add(time.Hour), true)
				release = srv.pause.Finish
			default:
				p := srv.routes.Load().Placement
				r.place(0, p, map[int]bool{0: true})
				release = func() { r.place(0, p, nil) }
			}
			runOut := func() {
				clock.late.Store(true)
				release()
			}
			clock.readings.Store(0)
			clock.after = func(reading int32) {
				if reading == c.at {
					runOut()
				}
			}
			done := make(chan struct{})
			var status Status
			var text string
			go srv.RunForwarded([]Forwarded{{Batch: wire.AppendRequest(nil, words...), Requests: 1, Deadline: handEnd, Answer: func(r Replies, err error) {
				status, text = r.Status(0), fmt.Sprint(string(r.Bytes), err)
				close(done)
			}}}, nil)
			if c.at == 0 {
				resptest.WaitFor(t, "the request has begun", func() bool { return len(srv.forwards.running()) > 0 })
				runOut()
			}
			<-done
			if !status.HasNotRun() {
				t.Errorf("its status is %d, with %q", status, text)
			}
			clock.late.Store(false)
			clock.after = func(int32) {}
			if n := o.Do(append([]string{"EXISTS"}, keys...)...).String(); n != ":0" {
				t.Errorf("%s keys were written", n)
			}
		})
	}
}

// FLUSHALL looks at the clock when it has all latches.
func TestForwardedFlushIsDroppedWhenItWaitedPastItsDeadline(t *testing.T) {
	for _, whole := range []bool{false, true} {
		r, keys, clock := lateTest(t)
		if whole {
			p, err := ring.NewPlacement([]ring.Row{{Primary: "n0"}})
			if err != nil {
				t.Fatal(err)
			}
			r.placeAll(p)
		}
		srv := r.servers[0]
		o := resptest.Dial(t, r.addrs[0], 2)
		o.Want("+OK", "SET", keys[0], "v")
		release := holdLatch(r, keys[1])
		clock.readings.Store(0)
		clock.after = func(reading int32) {
			if reading == 2 { // before it begins, and for how long it may wait for routes
				clock.late.Store(true)
				release()
			}
		}
		part := wire.AppendRequest(nil, "RING", "PART", strconv.FormatUint(srv.routes.Load().digest, 16), "", "FLUSHALL")
		done := make(chan Status, 1)
		srv.RunForwarded([]Forwarded{{Batch: part, Requests: 1, Deadline: handEnd, Answer: func(r Replies, _ error) { done <- r.Status(0) }}}, nil)
		if got := <-done; got != StatusLate {
			t.Errorf("the whole circle: %v; its status is %d", whole, got)
		}
		o.Want("$v", "GET", keys[0])
	}
}

// What comes behind a late request in its batch is not executed either, and other batches of the
// group are.
func TestLateBatchLeavesOthersOfItsGroupAlone(t *testing.T) {
	r, keys, _ := lateTest(t)
	var g groupAnswers
	g.add([]string{"SET", keys[0], "1"}).Deadline = handEnd
	g.add([]string{"SET", keys[1], "1"}, []string{"INCR", keys[1]}).Deadline = handEarly
	g.add([]string{"INCR", keys[0]})
	g.add([]string{"PUBLISH", "channel", "message"}).Deadline = handEarly
	g.add([]string{"PUBLISH", "channel", "message"}).Deadline = handEnd
	r.servers[0].RunForwarded(g.batches, nil)
	g.want(t, 0, "+OK\r\n")
	g.want(t, 1, "-LATE\r\n", "-LATE\r\n")
	g.want(t, 2, ":2\r\n")
	g.want(t, 3, ":0\r\n") // which undoes nothing
	g.want(t, 4, ":0\r\n")
	if n := r.servers[0].stats.Late.Load(); n != 2 {
		t.Errorf("%d requests are counted as late", n)
	}
}

// A client that still waits when the owner has dropped its write is told that nothing was done.
func TestDroppedWriteAnswersTryAgain(t *testing.T) {
	r, keys, _ := lateTest(t)
	var n atomic.Int32
	r.servers[0].cfg.Clock = func() time.Duration {
		if n.Add(1)%2 == 1 { // for the deadline that n1 gives
			return handEarly
		}
		return handLate
	}
	r.servers[1].settings.ForwardLimit.Store(int64(50 * time.Millisecond))
	o := resptest.Dial(t, r.addrs[1], 2)
	o.Want("-"+msgUnreachable, "SET", keys[0], "v")
	o.Want("-"+msgUnreachable, "MSET", keys[0], "v", keys[1], "v")
	resptest.Dial(t, r.addrs[0], 2).Want(":0", "EXISTS", keys[0], keys[1])
}
