package resp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// learning is a placement of two ranges: n0's first one is being copied to n1, or has
// been handed over.
func learning(t *testing.T, over bool) *ring.Placement {
	t.Helper()
	first := ring.Row{Range: ring.Range{End: 1 << 31}, Primary: "n0", Epoch: 1, Learners: []string{"n1"}}
	if over {
		first = ring.Row{Range: first.Range, Primary: "n1", Epoch: 2}
	}
	p, err := ring.NewPlacement([]ring.Row{first, {Range: ring.Range{Start: 1 << 31}, Primary: "n0", Epoch: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inFirst are keys of the first of two ranges.
func (r *routed) inFirst(n int) (keys []string) {
	for i := 0; len(keys) < n; i++ {
		if key := fmt.Sprint("key:", i); r.token([]byte(key)) < 1<<31 {
			keys = append(keys, key)
		}
	}
	return keys
}

// A node that was handed a range, and has not heard of it yet, does not send clients back
// to the node that sent them here: they wait for the news.
func TestNewOwnerDoesNotRedirectToTheOldOne(t *testing.T) {
	r := routedSlots(t, 2)
	before, after := learning(t, false), learning(t, true)
	key := r.inFirst(1)[0]
	r.placeAll(before)
	r.redirecting(0).Want("+OK", "SET", key, "v")
	r.place(0, after, nil)
	old, fresh := r.redirecting(0), r.redirecting(1)
	moved := fmt.Sprintf("-MOVED %d %s", ring.Slot([]byte(key)), r.addrs[1])
	old.Want(moved, "GET", key)
	fresh.Send("GET", key)
	fresh.Send("MGET", key, key)
	resptest.WaitFor(t, "the old primary to be asked", func() bool {
		return r.servers[0].stats.NotMine.Load() > 2 || r.servers[1].stats.Redirected.Load() > 0
	})
	old.Want(moved, "GET", key)
	r.place(1, after, nil)
	if got := fresh.Next().String(); got != "$v" {
		t.Errorf("at the new primary: %s", got)
	}
	if got := fresh.Next().String(); got != "*($v $v)" {
		t.Errorf("at the new primary: %s", got)
	}
	if n := r.servers[1].stats.Redirected.Load(); n > 0 {
		t.Errorf("%d redirects back", n)
	}
}

// While the range is where it was, a node that is receiving it sends clients there, and
// asks once for a pipeline.
func TestLearnerRedirects(t *testing.T) {
	r := routedSlots(t, 2)
	r.placeAll(learning(t, false))
	o := r.redirecting(1)
	keys := r.inFirst(50)
	var want []string
	pipe := ""
	for _, key := range keys {
		pipe += fmt.Sprintf("GET %s\r\n", key)
		want = append(want, fmt.Sprintf("-MOVED %d %s", ring.Slot([]byte(key)), r.addrs[0]))
	}
	if _, err := o.C.Write([]byte(pipe)); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if got := o.Next().String(); got != want[i] {
			t.Fatalf("reply %d: %s, want %s", i, got, want[i])
		}
	}
	if n := r.asked(0); n < 1 || n > 10 {
		t.Errorf("n0 was asked %d times for a pipeline of 50", n)
	}
	// Whoever has no copy has nothing to ask.
	r.place(1, learning(t, true), nil)
	before := r.asked(0)
	r.place(0, learning(t, false), nil)
	r.redirecting(0).Want("_$", "GET", keys[0])
	if n := r.asked(0) - before; n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// Who had the range does not serve it any more, and the news of who does never comes: the
// client is told to try again.
func TestWaitingForNewsEnds(t *testing.T) {
	r := routedSlots(t, 2)
	for _, srv := range r.servers {
		srv.settings.ForwardLimit.Store(int64(50 * time.Millisecond))
	}
	key := r.inFirst(1)[0]
	r.place(1, learning(t, false), nil)
	r.place(0, learning(t, true), nil)
	unreachable := *r.servers[1].routes.Load()
	o := r.redirecting(1)
	o.Want("-"+command.MsgMoving, "GET", key)
	o.Want("+PONG", "PING")
	unreachable.links = []*Route{{ID: "n0", Addr: r.addrs[0]}}
	r.servers[1].routes.Store(&unreachable)
	o.Want("-"+msgUnreachable, "GET", key)
}

// Clients that follow three redirects without a pause get along with nodes that learn of
// each change in any order, and one after the other.
func TestClusterClientsWhileNodesDisagree(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedSlots(t, 3)
	now := r.spread(rnd)
	r.placeAll(now)
	for _, srv := range r.servers {
		srv.settings.Redirect.Store(true)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var clients sync.WaitGroup
	for w := range 4 {
		client := redistest.ClusterClient(&redis.ClusterOptions{Addrs: []string{r.addrs[w%3]}})
		t.Cleanup(func() { _ = client.Close() })
		random := rand.New(rand.NewPCG(seed, uint64(w+1)))
		clients.Go(func() {
			for n := int64(1); ctx.Err() == nil; n++ {
				key := fmt.Sprint("count:", w, ":", random.IntN(40))
				if err := client.Incr(context.Background(), key).Err(); err != nil {
					t.Errorf("client %d, command %d: %v", w, n, err)
					return
				}
			}
		})
	}
	for range 40 {
		now = r.handOverLate(rnd, now)
	}
	cancel()
	clients.Wait()
}

// handOverLate is handOver for which the nodes learn of the receivers, and of what has
// changed hands, with pauses between them.
func (r *routed) handOverLate(rnd *rand.Rand, now *ring.Placement) *ring.Placement {
	next := r.spread(rnd)
	var rows []ring.Row
	for row := range now.Rows() {
		copying := *row
		if to := next.Row(len(rows)).Primary; to != row.Primary {
			copying.Learners = []string{to}
		}
		rows = append(rows, copying)
	}
	learning, err := ring.NewPlacement(slices.Clone(rows))
	if err != nil {
		r.t.Fatal(err)
	}
	r.placeAll(learning)
	for from := range r.servers { // each hands over what it has
		held := make(map[int]bool)
		for i := range rows {
			held[i] = rows[i].Primary == fmt.Sprint("n", from) && len(rows[i].Learners) > 0
		}
		r.place(from, learning, held)
		if _, err := r.servers[from].Quiesce(context.Background(), ring.Whole); err != nil {
			r.t.Fatal(err)
		}
		for i := range rows {
			if held[i] {
				rows[i] = *next.Row(i)
			}
		}
		if learning, err = ring.NewPlacement(slices.Clone(rows)); err != nil {
			r.t.Fatal(err)
		}
		for _, i := range rnd.Perm(len(r.servers)) {
			r.place(i, learning, nil)
			time.Sleep(time.Duration(rnd.IntN(6)) * time.Millisecond) // so late is the next
		}
	}
	return next
}

// asked is how often a server was asked what it serves.
func (r *routed) asked(i int) int64 {
	cmd := r.servers[i].table.ByName["ring|serves"]
	return r.servers[i].stats.Commands[cmd.ID].Calls.Load()
}
