package resp

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// redirecting is a connection that redirects.
func (r *routed) redirecting(i int) *resptest.Conn {
	o := resptest.Dial(r.t, r.addrs[i], 2)
	o.Want("+OK", "RING", "ROUTE", "redirect")
	return o
}

// cut is a placement of ranges that cut slices of tokens, the last of which wraps.
func (r *routed) cut(rnd *rand.Rand, n int) *ring.Placement {
	starts := map[ring.Token]bool{}
	for len(starts) < n {
		starts[ring.Token(rnd.Uint32()|1)] = true
	}
	sorted := slices.Sorted(maps.Keys(starts))
	rows := make([]ring.Row, n)
	for i := range rows {
		rows[i] = ring.Row{
			Range:   ring.Range{Start: sorted[i], End: sorted[(i+1)%n]},
			Primary: fmt.Sprint("n", rnd.IntN(len(r.servers))),
		}
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// scanOver goes on with the cursor at whatever node next says, and returns how often
// each key came.
func scanOver(t *testing.T, next func() *resptest.Conn, args ...string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	cursor := "0"
	for range 100000 {
		v := next().Do(append([]string{"SCAN", cursor}, args...)...)
		if len(v.Elems) != 2 {
			t.Fatalf("SCAN %s: %v", cursor, v)
		}
		for _, e := range v.Elems[1].Elems {
			seen[e.Text]++
		}
		if cursor = v.Elems[0].Text; cursor == "0" {
			return seen
		}
	}
	t.Fatal("SCAN does not end")
	return nil
}

func TestCommandsOnAllKeysCoverTheCluster(t *testing.T) {
	randomtest.DrawShort(t, 4)
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	placement := r.cut(rnd, 60)
	r.placeAll(placement)
	var any []*resptest.Conn
	for i := range r.servers {
		any = append(any, resptest.Dial(t, r.addrs[i], 2+i%2))
	}
	want := map[string]int{}
	owners := map[string]int{}
	locator := ring.NewLocator(r.token, placement, nil)
	for i := range 500 {
		key := fmt.Sprint("key:", i)
		any[i%3].Want("+OK", "SET", key, "v")
		want[key] = 1
		owners[locator.Get(key)]++
	}
	for i, o := range any {
		o.Want(":500", "DBSIZE")
		if got := len(o.Do("KEYS", "*").Elems); got != 500 {
			t.Errorf("node %d: KEYS: %d", i, got)
		}
		if got := len(o.Do("KEYS", "key:1?").Elems); got != 10 {
			t.Errorf("node %d: KEYS key:1?: %d", i, got)
		}
	}
	for _, count := range []string{"1", "7", "100", "100000"} {
		if got := scanOver(t, func() *resptest.Conn { return any[rnd.IntN(3)] }, "COUNT", count); !maps.Equal(got, want) {
			t.Errorf("SCAN with COUNT %s: %d keys, want %d, each once", count, len(got), len(want))
		}
	}
	if got := scanOver(t, func() *resptest.Conn { return any[0] }, "MATCH", "key:1*", "TYPE", "string"); len(got) != 111 {
		t.Errorf("SCAN MATCH: %d", len(got))
	}
	if got := scanOver(t, func() *resptest.Conn { return any[0] }, "TYPE", "list"); len(got) != 0 {
		t.Errorf("SCAN TYPE list: %v", got)
	}
	drawn := map[string]bool{}
	for range 300 {
		drawn[locator.Get(any[rnd.IntN(3)].Do("RANDOMKEY").Text)] = true
	}
	if len(drawn) != len(owners) {
		t.Errorf("RANDOMKEY draws from %v of %v", drawn, owners)
	}
	// On a redirect connection each node tells of its own.
	total := map[string]int{}
	for i := range r.servers {
		o := r.redirecting(i)
		id := fmt.Sprint("n", i)
		o.Want(":"+strconv.Itoa(owners[id]), "DBSIZE")
		own := scanOver(t, func() *resptest.Conn { return o }, "COUNT", "11")
		for _, e := range o.Do("KEYS", "*").Elems {
			own[e.Text]++
		}
		for key, n := range own {
			if n != 2 || locator.Get(key) != id {
				t.Errorf("%s tells %d times of %s, which is %s's", id, n, key, locator.Get(key))
			}
			total[key]++
		}
		if key := o.Do("RANDOMKEY").Text; owners[id] > 0 && locator.Get(key) != id {
			t.Errorf("%s draws %q", id, key)
		}
	}
	if len(total) != 500 {
		t.Errorf("%d keys in all", len(total))
	}
	// Each flushes its own, or one has all do so.
	r.redirecting(1).Want("+OK", "FLUSHALL")
	any[2].Want(":"+strconv.Itoa(500-owners["n1"]), "DBSIZE")
	any[0].Want("+OK", "FLUSHDB", "ASYNC")
	any[1].Want(":0", "DBSIZE")
	any[1].Want("_", "RANDOMKEY")
	any[1].Want("-"+command.MsgSyntax, "FLUSHALL", "x")
	if n := r.store.Keys(); n != 0 {
		t.Errorf("%d keys are left in the store", n)
	}
}

// While ranges change hands, keys that are there all the time are counted and listed
// once by each answer.
func TestNothingIsCountedTwiceWhileRangesMove(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	now := r.spread(rnd)
	r.placeAll(now)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const keys = 200
	want := map[string]int{}
	for i := range keys {
		key := fmt.Sprint("k", i)
		want[key] = 1
		if err := r.client(0).Set(ctx, key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var clients sync.WaitGroup
	for i := range r.servers {
		c := r.client(i)
		clients.Go(func() {
			for ctx.Err() == nil {
				if n, err := c.DBSize(context.Background()).Result(); n != keys || err != nil {
					t.Errorf("DBSIZE: %d %v", n, err)
				}
				if list, err := c.Keys(context.Background(), "*").Result(); len(list) != keys || err != nil {
					t.Errorf("KEYS: %d %v", len(list), err)
				}
				seen := map[string]int{}
				iter := c.Scan(context.Background(), 0, "*", 9).Iterator()
				for iter.Next(context.Background()) {
					seen[iter.Val()]++
				}
				if err := iter.Err(); err != nil || !maps.Equal(seen, want) {
					t.Errorf("SCAN: %d keys, %v", len(seen), err)
				}
			}
		})
	}
	for range 40 {
		now = r.handOver(rnd, now)
	}
	cancel()
	clients.Wait()
}

// What was there before FLUSHALL is gone after it, wherever it was meanwhile.
func TestFlushMissesNothingWhileRangesMove(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	now := r.spread(rnd)
	r.placeAll(now)
	ctx := context.Background()
	rounds := randomtest.Length(25, 8)
	for round := range rounds {
		pipe := r.client(round % 3).Pipeline()
		for i := range 60 {
			pipe.Set(ctx, fmt.Sprint("k", i), "v", 0)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		flushed := make(chan error, 2)
		redirecting := r.redirecting(round % 3)
		go func() { flushed <- r.client((round + 1) % 3).FlushAll(ctx).Err() }()
		go func() {
			redirecting.Want("+OK", "FLUSHALL")
			flushed <- nil
		}()
		for range 3 {
			now = r.handOver(rnd, now)
		}
		for range 2 {
			if err := <-flushed; err != nil {
				t.Fatal(err)
			}
		}
		if n := r.store.Keys(); n != 0 {
			t.Fatalf("round %d: %d keys are left", round, n)
		}
	}
}

// handOver changes the owners of all ranges at random: hold, quiesce, hand over.
func (r *routed) handOver(rnd *rand.Rand, now *ring.Placement) *ring.Placement {
	next := r.spread(rnd)
	held := make(map[int]bool)
	for i := range next.Len() {
		held[i] = next.Row(i).Primary != now.Row(i).Primary
	}
	for i := range r.servers {
		r.place(i, now, held)
		if _, err := r.servers[i].Quiesce(context.Background(), ring.Whole); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, i := range rnd.Perm(len(r.servers)) {
		r.place(i, next, nil)
	}
	return next
}

func TestRangesWithoutACopyAreNotEmpty(t *testing.T) {
	r := routedTest(t, 2)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	o := resptest.Dial(t, r.addrs[0], 2)
	for _, command := range [][]string{{"DBSIZE"}, {"KEYS", "*"}, {"RANDOMKEY"}, {"FLUSHALL"}} {
		o.Want("-"+msgNoCopy, command...)
	}
	if got := o.Do("SCAN", strconv.Itoa(1<<52-1)).String(); got != "-"+msgNoCopy {
		t.Error(got)
	}
	o.Want("*($0 *)", "SCAN", strconv.Itoa(1<<53))
	o.Want("-ERR RING PART is what nodes send each other", "RING", "PART", "0", "", "DBSIZE")
}

func TestPipelineAroundCommandsOnAllKeys(t *testing.T) {
	r := routedTest(t, 3)
	r.placeAll(r.spread(rand.New(rand.NewPCG(1, 2))))
	ctx := context.Background()
	pipe := r.client(1).Pipeline()
	var sizes []*redis.IntCmd
	for i := range 30 {
		pipe.Set(ctx, fmt.Sprint("k", i), "v", 0)
		sizes = append(sizes, pipe.DBSize(ctx))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	for i, size := range sizes {
		if size.Val() != int64(i+1) {
			t.Errorf("after %d keys: %d", i+1, size.Val())
		}
	}
}
