package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/bus"
)

// TestSwapsWhileClientsWrite swaps two databases again and again, through all nodes, while clients of all nodes
// write, pop and run transactions in them. No client sees an error. Each sees the data that its database shows
// at that time, and no write lands in the other data: each counter agrees with the transactions that saw its
// data. All of it is still so after a restart of all nodes.
func TestSwapsWhileClientsWrite(t *testing.T) {
	virtually(t, 3, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		c.order("a", "RING", "DATABASE", "4", "TOGETHER")
		for _, n := range []string{"3", "4"} {
			c.in(n, "SET", "which", n)
		}
		rnd := rand.New(rand.NewPCG(seed, 7))
		ids := []string{"a", "b", "c"}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var clients sync.WaitGroup
		var mu sync.Mutex
		written := map[string]int{} // by data and counter, as transactions have seen them
		pushed, taken := 0, map[string]int{}
		var begun, ended atomic.Int64
		// saw checks the data that database 3 or 4 shows, for a client that has begun after some swaps had ended.
		saw := func(number int, before int64, which string) {
			for swaps := before; swaps <= begun.Load(); swaps++ {
				if want := fmt.Sprint(3 + (int64(number-3)+swaps)%2); want == which {
					return
				}
			}
			t.Errorf("database %d shows the data of %q after %d to %d swaps", number, which, before, begun.Load())
		}
		for i := range 6 {
			number, id := 3+i%2, ids[i%3]
			pause := time.Duration(1+rnd.IntN(30)) * time.Millisecond
			conn, end := c.selected(id, number)
			clients.Go(func() {
				defer end()
				key := fmt.Sprintf("k%d", i)
				for n := 0; ctx.Err() == nil; n++ {
					before := ended.Load()
					which, err := conn.Get(context.Background(), "which").Result()
					if err != nil {
						t.Errorf("GET through %s: %v", id, err)
					}
					saw(number, before, which)
					before = ended.Load()
					pipe := conn.TxPipeline()
					at, count := pipe.Get(context.Background(), "which"), pipe.Incr(context.Background(), "{which}"+key)
					pipe.RPush(context.Background(), "{which}q", fmt.Sprintf("%s/%d", key, n))
					if _, err := pipe.Exec(context.Background()); err != nil {
						t.Errorf("MULTI through %s: %v", id, err)
						return
					}
					saw(number, before, at.Val())
					mu.Lock()
					written[at.Val()+key]++
					pushed++
					if want := written[at.Val()+key]; int(count.Val()) != want {
						t.Errorf("counter %s of data %s is %d, want %d", key, at.Val(), count.Val(), want)
					}
					mu.Unlock()
					time.Sleep(pause)
				}
			})
		}
		for i, id := range ids {
			waiting, end := c.selected(id, 3+i%2)
			clients.Go(func() {
				defer end()
				for {
					got, err := waiting.BLPop(context.Background(), 2*time.Second, "{which}q").Result()
					switch {
					case err == nil:
						mu.Lock()
						taken[got[1]]++
						mu.Unlock()
					case err != redis.Nil:
						t.Errorf("BLPOP through %s: %v", id, err)
						return
					case ctx.Err() != nil:
						return
					}
				}
			})
		}
		for range 24 {
			begun.Add(1)
			c.order(ids[rnd.IntN(3)], "SWAPDB", "3", "4")
			ended.Add(1)
			time.Sleep(time.Duration(rnd.IntN(60)) * time.Millisecond)
		}
		begun.Add(1)
		c.order("b", "SWAPDB", "4", "3")
		ended.Add(1)
		stop()
		clients.Wait()
		for value, n := range taken {
			if n != 1 {
				t.Errorf("%s was popped %d times", value, n)
			}
		}
		for _, id := range ids {
			c.stop(id)
		}
		for _, id := range ids {
			c.start(id, "a", "b", "c")
		}
		for _, id := range ids {
			c.ready(id)
		}
		for _, n := range []string{"3", "4"} {
			if got := fmt.Sprint(c.in(n, "LLEN", "{which}q")); got != "0" {
				t.Errorf("%s elements are left in database %s", got, n)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(taken) != pushed {
			t.Errorf("%d elements were pushed, %d popped", pushed, len(taken))
		}
		for i := range 6 {
			for data, number := range map[string]string{"3": "4", "4": "3"} {
				key := fmt.Sprintf("k%d", i)
				want := fmt.Sprint(written[data+key])
				got, _ := c.in(number, "GET", "{which}"+key).(string)
				if got != want && (got != "" || want != "0") {
					t.Errorf("counter %s of data %s is %q in database %s, want %s", key, data, got, number, want)
				}
			}
		}
		c.close()
	})
}

// in runs a command in a database, through node a.
func (c *virtualCluster) in(number string, args ...any) any {
	c.t.Helper()
	client := c.client("a")
	defer client.Close()
	conn := client.Conn()
	defer conn.Close()
	if err := conn.Do(c.t.Context(), "SELECT", number).Err(); err != nil {
		c.t.Fatal(err)
	}
	reply, err := conn.Do(c.t.Context(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		c.t.Errorf("%v in database %s: %v", args, number, err)
	}
	return reply
}

// TestSwapIsSeenByAllThatKnowsDatabases has one swap seen through another node by clients that watch, wait or
// have queued commands, by counts, scans and key events; policies follow the data, quotas the number.
func TestSwapIsSeenByAllThatKnowsDatabases(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.SwapsVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		if _, err := c.do("a", "SWAPDB", "0", "1"); err == nil || !strings.Contains(err.Error(), "the build of node c cannot swap databases: upgrade it first") {
			t.Errorf("SWAPDB beside an older node: %v", err)
		}
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "DATABASE", "1", "TOGETHER")
		c.order("a", "RING", "DATABASE", "1", "QUOTA", "5gb")
		c.in("0", "MSET", "a", "0", "b", "0")
		c.in("1", "MSET", "a", "1", "b", "1", "c", "1")
		c.in("1", "RPUSH", "list", "x")

		watching, end := c.selected("b", 0)
		defer end()
		untouched, end := c.selected("b", 2)
		defer end()
		queued, end := c.selected("c", 0)
		defer end()
		other, end := c.selected("c", 1)
		defer end()
		waiting, end := c.selected("c", 0)
		defer end()
		do := func(conn *redis.Conn, args ...any) string {
			t.Helper()
			reply, err := conn.Do(t.Context(), args...).Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				t.Errorf("%v: %v", args, err)
			}
			return fmt.Sprint(reply)
		}
		want := func(conn *redis.Conn, want string, args ...any) {
			t.Helper()
			if got := do(conn, args...); got != want {
				t.Errorf("%v: %s, want %s", args, got, want)
			}
		}
		want(watching, "OK", "WATCH", "a")
		want(untouched, "OK", "WATCH", "a")
		want(queued, "OK", "MULTI")
		want(queued, "QUEUED", "APPEND", "a", "+")
		want(other, "OK", "MULTI")
		want(other, "QUEUED", "APPEND", "a", "-")
		popped := make(chan string)
		go func() { popped <- do(waiting, "BLPOP", "list", "0") }()
		time.Sleep(100 * time.Millisecond)

		c.order("a", "SWAPDB", "1", "0")

		if got := <-popped; got != "[list x]" {
			t.Errorf("the client that waited got %s", got)
		}
		want(watching, "OK", "MULTI")
		want(watching, "QUEUED", "PING")
		want(watching, "<nil>", "EXEC")
		want(untouched, "OK", "MULTI")
		want(untouched, "QUEUED", "PING")
		want(untouched, "[PONG]", "EXEC")
		want(queued, "[2]", "EXEC")
		want(other, "[2]", "EXEC")
		for _, id := range []string{"a", "b", "c"} {
			zero, end := c.selected(id, 0)
			want(zero, "[1+ 1 1]", "MGET", "a", "b", "c")
			want(zero, "3", "DBSIZE")
			want(zero, "1+", "EVAL", "return redis.call('GET', KEYS[1])", "1", "a")
			want(zero, "0-", "EVAL", "redis.call('SELECT', 1) return redis.call('GET', 'a')", "0")
			end()
			one, end := c.selected(id, 1)
			want(one, "[0- 0 <nil>]", "MGET", "a", "b", "c")
			want(one, "2", "DBSIZE")
			want(one, "1", "COPY", "b", "b", "DB", "2", "REPLACE")
			want(one, "0", "MOVE", "b", "2")
			end()
			two, end := c.selected(id, 2)
			want(two, "1", "DEL", "b")
			end()

		}
		c.close()
	})
}

// TestSwapsBesideFailures swaps databases while nodes are cut off and the node that has begun a swap is gone. No
// acknowledged write is in other data than its transaction has seen.
func TestSwapsBesideFailures(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		for _, n := range []string{"3", "4"} {
			c.in(n, "MSET", "which", n, "{which}x", n)
		}
		rnd := rand.New(rand.NewPCG(seed, 11))
		ids := []string{"a", "b", "c"}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var clients sync.WaitGroup
		var mu sync.Mutex
		written := map[string]string{} // keys, by the data that their transactions have seen
		for i := range 6 {
			conn, end := c.selected(ids[i%3], 3+i%2)
			clients.Go(func() {
				defer end()
				for n := 0; ctx.Err() == nil; n++ {
					key := fmt.Sprintf("{which}%d/%d", i, n)
					pipe := conn.TxPipeline()
					which := pipe.Get(context.Background(), "which")
					pipe.Set(context.Background(), key, "v", 0)
					if _, err := pipe.Exec(context.Background()); err == nil {
						mu.Lock()
						written[key] = which.Val()
						mu.Unlock()
					}
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
		swapped := 0
		swap := func(times int) {
			for range times {
				if _, err := c.do(ids[rnd.IntN(3)], "SWAPDB", "3", "4"); err == nil {
					swapped++
				}
				time.Sleep(time.Duration(rnd.IntN(200)) * time.Millisecond)
			}
		}
		swap(3)
		for _, id := range ids {
			cut := make(chan struct{})
			go func() { defer close(cut); c.cutOff(id, 4*time.Second) }()
			swap(12)
			<-cut
			swap(2)
		}
		// A node has begun a swap and is gone.
		table := c.nodes["a"].cluster.table
		value := table.State().Values().Of(database.OrderName)
		order, err := database.ParseOrder(value.Body)
		if err != nil || order.Change() != 0 {
			t.Fatalf("%v, %v", order, err)
		}
		begun := order.Begin(database.Swap{A: 4, B: 3, Change: 1})
		if err := c.nodes["a"].cluster.policies.Agree(t.Context(), []agreed.Change{{Name: database.OrderName, Body: begun.Body(), Was: value.Version}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		c.order("b", "SWAPDB", "3", "4")
		swapped++
		stop()
		clients.Wait()
		time.Sleep(10 * time.Second)
		number := map[string]string{}
		for _, n := range []string{"3", "4"} {
			number[fmt.Sprint(c.in(n, "GET", "which"))] = n
		}
		mu.Lock()
		defer mu.Unlock()
		if swapped < 8 || len(written) < 100 || len(number) != 2 {
			t.Errorf("%d swaps, %d writes, %v", swapped, len(written), number)
		}
		for key, data := range written {
			if c.in(number[data], "GET", key) != "v" {
				t.Errorf("%s is not in data %s", key, data)
			}
			if other := number["3"]; other != number[data] && c.in(other, "EXISTS", key) != int64(0) {
				t.Errorf("%s is in the other data than %s", key, data)
			}
		}
		c.close()
	})
}
