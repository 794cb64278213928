package resp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// waits waits until so many wait for keys of a server.
func (r *routed) waits(i, n int) {
	r.t.Helper()
	resptest.WaitFor(r.t, fmt.Sprintf("%d to wait at node %d", n, i), func() bool { return r.servers[i].blocked.queued.Load() == int64(n) })
}

// all gives the whole circle to one server.
func (r *routed) all(i int) *ring.Placement {
	r.t.Helper()
	p, err := ring.NewPlacement([]ring.Row{{Primary: fmt.Sprint("n", i), Epoch: uint64(i + 1)}})
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func TestClientsOfAllNodesAreServedInOrder(t *testing.T) {
	for _, proto := range []int{2, 3} {
		r := routedTest(t, 3)
		r.placeAll(r.all(1))
		var waiting []*resptest.Conn
		for i := range 12 {
			o := resptest.Dial(t, r.addrs[i%3], proto)
			switch i % 4 {
			case 0:
				o.Send("BLPOP", "l", "0")
			case 1:
				o.Send("BRPOP", "other", "l", "100")
			case 2:
				o.Send("BLMPOP", "0", "1", "l", "LEFT", "COUNT", "5")
			case 3:
				o.Send("BLMOVE", "l", "{l}2", "LEFT", "RIGHT", "0")
			}
			waiting = append(waiting, o)
			r.waits(1, i+1)
		}
		push := resptest.Dial(t, r.addrs[2], proto)
		for i := range 9 {
			push.Want(":1", "RPUSH", "l", itoa(i))
		}
		push.Want(":3", "RPUSH", "l", "9", "10", "11")
		for i, o := range waiting {
			want := [...]string{fmt.Sprintf("*($l $%d)", i), fmt.Sprintf("*($l $%d)", i), fmt.Sprintf("*($l *($%d))", i), fmt.Sprintf("$%d", i)}[i%4]
			if i == 9 {
				want = "*($l $11)" // from the right
			} else if i == 10 {
				want = "*($l *($9 $10))"
			} else if i == 11 {
				break
			}
			if got := o.Next().String(); got != want {
				t.Errorf("client %d got %s, want %s", i, got, want)
			}
		}
		push.Want(":1", "LPUSH", "l", "last")
		if got := waiting[11].Next().String(); got != "$last" {
			t.Errorf("the last one got %s", got)
		}
		push.Want("*($3 $7 $last)", "LRANGE", "{l}2", "0", "-1")
		r.waits(1, 0)
	}
}

// A command waits behind those that came while its client still waited for another key.
func TestCommandBehindAWaitBeginsToWaitAfterIt(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	for _, addr := range r.addrs {
		a, b, push := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
		if _, err := a.C.Write(wire.AppendRequest(wire.AppendRequest(nil, "BLPOP", "x", "0"), "BLPOP", "y", "0")); err != nil {
			t.Fatal(err)
		}
		r.waits(1, 1)
		b.Send("BLPOP", "y", "0")
		r.waits(1, 2)
		push.Want(":1", "RPUSH", "x", "1")
		if got := a.Next().String(); got != "*($x $1)" {
			t.Error(got)
		}
		r.waits(1, 2)
		push.Want(":1", "RPUSH", "y", "first")
		push.Want(":1", "RPUSH", "y", "second")
		for client, want := range map[*resptest.Conn]string{a: "*($y $second)", b: "*($y $first)"} {
			if got := client.Next().String(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		r.waits(1, 0)
	}
}

func TestForwardedWaitEnds(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(r.all(1))
	o, admin := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	o.Want("_*", "BLPOP", "l", "0.02")
	o.Want("_*", "BLMOVE", "l", "l", "LEFT", "LEFT", "0.02")
	o.Want("-ERR timeout is negative", "BLPOP", "l", "-1")
	id := o.Do("CLIENT", "ID").Text
	admin.Want(":0", "CLIENT", "UNBLOCK", id)
	for _, words := range [][]string{{"_*", "TIMEOUT"}, {"-" + msgUnblocked, "ERROR"}} {
		o.Send("BLPOP", "l", "0")
		r.waits(1, 1)
		awaitBlocked(t, admin, 1) // the owner knows of the client before the client's node counts it
		admin.Want(":1", "CLIENT", "UNBLOCK", id, words[1])
		if got := o.Next().String(); got != words[0] {
			t.Errorf("%s: %s", words[1], got)
		}
		r.waits(1, 0)
	}
	// A client that is gone takes nothing.
	o.Send("BLPOP", "l", "0")
	r.waits(1, 1)
	_ = o.C.Close()
	r.waits(1, 0)
	o = resptest.Dial(t, r.addrs[0], 2)
	o.Send("BLPOP", "l", "0")
	r.waits(1, 1)
	admin.Want(":1", "CLIENT", "KILL", "ID", idOf(o, admin))
	r.waits(1, 0)
	admin.Want(":1", "RPUSH", "l", "x")
	admin.Want("*($l $x)", "BLPOP", "l", "0")
}

// idOf is the number of the connection that was made last, as another sees it.
func idOf(o, admin *resptest.Conn) string {
	o.T.Helper()
	var id, last string
	for _, word := range strings.Fields(admin.Do("CLIENT", "LIST").Text) {
		if len(word) > 3 && word[:3] == "id=" {
			last = word[3:]
		}
		if word == "addr="+o.C.LocalAddr().String() {
			id = last
		}
	}
	return id
}

// The keys change hands while clients of all nodes wait: they wait on where the keys are, in
// their order.
func TestWaitsGoWhereTheKeyGoes(t *testing.T) {
	r := routedTest(t, 3)
	r.placeAll(r.all(0))
	var waiting []*resptest.Conn
	for i := range 6 {
		o := resptest.Dial(t, r.addrs[i%3], 2)
		o.Send("BLPOP", "l", "0")
		waiting = append(waiting, o)
		r.waits(0, i+1)
	}
	for _, to := range []int{1, 2, 0, 2} {
		r.placeAll(r.all(to))
		r.waits(to, 6)
	}
	push := resptest.Dial(t, r.addrs[0], 2)
	for i, o := range waiting {
		push.Want(":1", "RPUSH", "l", itoa(i))
		if got, want := o.Next().String(), fmt.Sprintf("*($l $%d)", i); got != want {
			t.Errorf("client %d got %s", i, got)
		}
	}
	for i := range r.servers {
		if n := len(r.servers[i].blocked.keys) + len(r.servers[i].blocked.remote); n > 0 {
			t.Errorf("node %d keeps %d", i, n)
		}
	}
}

// CLIENT UNBLOCK ends the wait of a client whose key moves between nodes at that moment.
func TestUnblockEndsWaitWhileKeyMoves(t *testing.T) {
	r := routedTestWith(t, 3, patientForwards)
	r.placeAll(r.all(1))
	o, admin := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	id := o.Do("CLIENT", "ID").Text
	over, moved := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(moved)
		for i := 0; ; i++ {
			select {
			case <-over:
				return
			case <-time.After(time.Millisecond):
				r.placeAll(r.all(i % 3))
			}
		}
	}()
	defer func() { // also when the test fails: others look for goroutines that are left
		close(over)
		<-moved
	}()
	for range 100 {
		o.Send("BLPOP", "l", "0")
		awaitBlocked(t, admin, 1)
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		admin.Want(":1", "CLIENT", "UNBLOCK", id)
		if got := o.Next().String(); got != "_*" {
			t.Fatalf("it got %s", got)
		}
		awaitBlocked(t, admin, 0)
	}
}

// patientForwards lets no request of a test run out of time while it waits for other nodes.
func patientForwards(c *Config, _ *store.Config) { c.Settings.ForwardTimeout = time.Hour }

// INFO counts the clients that CLIENT UNBLOCK releases. A blocking command is among them also
// while no node serves its key: its node waits for routes then.
func TestUnblockReleasesEachClientThatInfoCounts(t *testing.T) {
	r := routedTestWith(t, 2, patientForwards)
	o, admin := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	id := o.Do("CLIENT", "ID").Text
	held := func() { r.place(0, r.all(1), map[int]bool{0: true}) }
	refused := func() { // each node takes the other one for the owner
		r.place(0, r.all(1), nil)
		r.place(1, r.all(0), nil)
	}
	for _, tt := range []struct {
		name   string
		before func() // the client sends its command
		after  func() // the client waits; nil: nothing changes
	}{
		{"held", held, nil},
		{"refused by the owner", refused, nil},
		{"held after a wait at the other node", func() { r.placeAll(r.all(1)) }, func() { held(); r.place(1, r.all(0), nil) }},
		{"held after a wait at its own node", func() { r.placeAll(r.all(0)) }, held},
		{"refused after a wait at the other node", func() { r.placeAll(r.all(1)) }, func() { r.place(1, r.all(0), nil) }},
		{"refused after a wait at its own node", func() { r.placeAll(r.all(0)) }, refused},
	} {
		for reason, reply := range map[string]string{"TIMEOUT": "_*", "ERROR": "-" + msgUnblocked} {
			tt.before()
			o.Send("BLPOP", "l", "0")
			awaitBlocked(t, admin, 1)
			if tt.after != nil {
				resptest.WaitFor(t, "the client to wait for the key", func() bool { return r.queued() == 1 })
				awaitBlocked(t, admin, 1)
				tt.after()
				resptest.WaitFor(t, "the client to have left the node", func() bool { return r.queued() == 0 })
			}
			admin.Want(":1", "CLIENT", "UNBLOCK", id, reason)
			if got := o.Next().String(); got != reply {
				t.Fatalf("%s: the client got %s, want %s", tt.name, got, reply)
			}
			awaitBlocked(t, admin, 0)
			o.Want("+PONG", "PING")
		}
	}
	// A command that does not block is not counted, and not released.
	held()
	o.Send("GET", "x")
	resptest.WaitFor(t, "GET to wait for routes", func() bool { return r.servers[0].stats.Waiting.Load() == 1 })
	awaitBlocked(t, admin, 0)
	admin.Want(":0", "CLIENT", "UNBLOCK", id)
	r.placeAll(r.all(0))
	if got := o.Next().String(); got != "_$" {
		t.Fatalf("GET got %s", got)
	}
}

// queued is how many clients wait for keys at all nodes together.
func (r *routed) queued() (n int64) {
	for _, s := range r.servers {
		n += s.blocked.queued.Load()
	}
	return n
}

// Who begins to wait just when the key goes elsewhere has not been seen by those who look for
// such, so he looks himself, be he a client of the node or a remote waiter.
func TestLateWaiterFollowsItsKey(t *testing.T) {
	for client := range 3 {
		r := routedTest(t, 3)
		r.placeAll(r.all(1))
		blpop := r.servers[1].table.ByName["blpop"]
		run, moved := blpop.Run, false
		blpop.Run = func(x *command.Call) {
			if !moved {
				moved = true
				r.placeAll(r.all(2))
			}
			run(x)
		}
		o := resptest.Dial(t, r.addrs[client], 2)
		o.Send("BLPOP", "l", "0")
		r.waits(2, 1)
		r.waits(1, 0)
		resptest.Dial(t, r.addrs[0], 2).Want(":1", "RPUSH", "l", "x")
		if got := o.Next().String(); got != "*($l $x)" {
			t.Errorf("client %d got %s", client, got)
		}
	}
}

func TestWaitingRedirectConnectionIsRedirected(t *testing.T) {
	r := routedSlots(t, 2)
	r.placeAll(r.all(0))
	o := r.redirecting(0)
	o.Send("BLPOP", "l", "0")
	r.waits(0, 1)
	r.placeAll(r.all(1))
	if got, want := o.Next().String(), fmt.Sprintf("-MOVED %d %s", ring.Slot([]byte("l")), r.addrs[1]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBlockingKeysOfSeveralNodes(t *testing.T) {
	r, keys := halves(t)
	for i := range r.servers {
		o := resptest.Dial(t, r.addrs[i], 2)
		o.Want("-"+msgCrossSlot, "BLPOP", keys[0], keys[1], "0")
		o.Want("-"+msgCrossSlot, "BLMOVE", keys[0], keys[1], "LEFT", "LEFT", "0")
	}
}

// Whatever happens to the keys, each element is taken once, and nobody waits while there is
// something.
func TestElementsAreTakenOnceWhileRangesChangeHands(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	now := r.spread(rnd)
	r.placeAll(now)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const keys, each = 5, 150
	var mu sync.Mutex
	taken := make(map[string]int)
	var clients, pushers sync.WaitGroup
	for i := range 9 {
		client := redistest.Client(&redis.Options{Addr: r.addrs[i%3], MaxRetries: -1, ReadTimeout: time.Hour})
		t.Cleanup(func() { _ = client.Close() })
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("{%d}l", (i+n)%keys)
				element, words := "", []any{"BLPOP", key, key + "2", "0.05"}
				switch n % 3 {
				case 1:
					words = []any{"BLMPOP", "0.05", "1", key, "RIGHT"}
				case 2:
					words = []any{"BLMOVE", key, key + "2", "LEFT", "RIGHT", "0.02"}
				}
				got, err := client.Do(context.Background(), words...).Result()
				if err != nil && err != redis.Nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				if of, ok := got.([]any); ok {
					if element, ok = of[1].(string); !ok {
						element = of[1].([]any)[0].(string)
					}
				}
				if element != "" {
					mu.Lock()
					taken[element]++
					mu.Unlock()
				}
			}
		})
	}
	for i := range 3 {
		client := r.client(i)
		pushers.Go(func() {
			for n := range each {
				if err := client.RPush(context.Background(), fmt.Sprintf("{%d}l", n%keys), fmt.Sprintf("%d-%d-a", i, n), fmt.Sprintf("%d-%d-b", i, n)).Err(); err != nil {
					t.Errorf("push: %v", err)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 40 {
			now = r.handOver(rnd, now)
		}
	}()
	pushers.Wait()
	<-over
	resptest.WaitFor(t, "all elements to be taken", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(taken) == 3*each*2
	})
	cancel()
	clients.Wait()
	for element, n := range taken {
		if n != 1 {
			t.Errorf("%s was taken %d times", element, n)
		}
	}
}
