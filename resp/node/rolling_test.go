package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
)

// rounds lets clients write and read keys of all nodes through some of them, until stop is
// called, which returns how often and how long the slowest took.
func (c *virtualCluster) rounds(through ...string) (stop func() (slowest time.Duration, times int)) {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var slowest time.Duration
	var clients sync.WaitGroup
	times := 0
	for i, id := range through {
		client := c.client(id)
		clients.Go(func() {
			defer func() { _ = client.Close() }()
			for round := 0; ctx.Err() == nil; round++ {
				key := fmt.Sprintf("%s%d:%d", id, i, round%200)
				began := time.Now()
				err := client.Set(context.Background(), key, round, 0).Err()
				if err == nil {
					var got int
					if got, err = client.Get(context.Background(), key).Int(); err == nil && got != round {
						err = fmt.Errorf("%d instead of %d", got, round)
					}
				}
				if err != nil {
					c.t.Errorf("%s at %s: %v", key, id, err)
					return
				}
				mu.Lock()
				slowest = max(slowest, time.Since(began))
				times++
				mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	return func() (time.Duration, int) {
		cancel()
		clients.Wait()
		return slowest, times
	}
}

// ready waits until probes would say that a node is.
func (c *virtualCluster) ready(id string) {
	c.t.Helper()
	why := error(nil)
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, why = c.nodes[id].health.Ready(); why == nil {
			return
		}
	}
	c.t.Fatalf("%s does not get ready: %v", id, why)
}

// sent is how much copies have cost on the network.
func (c *virtualCluster) sent() (bytes int64) {
	for _, id := range c.running() {
		bytes += c.nodes[id].cluster.engine.Totals().Traffic
	}
	return bytes
}

// Each node in turn is stopped and started again, the next one once probes say that it
// may go: no command of a client of the others fails or waits long, and hardly any data moves.
func TestRollingRestartFailsNothing(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		client := c.client("a")
		const keys, size = 2000, 1000
		pipe := client.Pipeline()
		for i := range keys {
			pipe.Set(context.Background(), fmt.Sprint("key", i), strings.Repeat("x", size), 0)
		}
		if _, err := pipe.Exec(context.Background()); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		ids := c.running()
		for i, id := range ids {
			others := []string{ids[(i+1)%3], ids[(i+2)%3]}
			c.settled()
			stop := c.rounds(others...)
			time.Sleep(time.Second)
			before := c.sent() - c.nodes[id].cluster.engine.Totals().Traffic
			began := time.Now()
			c.stop(id)
			stopped := time.Since(began)
			time.Sleep(3 * time.Second)
			c.start(id, others[0])
			c.ready(id)
			slowest, times := stop()
			travelled := c.sent() - before
			c.say("%s stopped in %v and is back; %d rounds, the slowest %v; copies cost %d bytes", id, stopped, times, slowest, travelled)
			// Two commands, of which one may wait until the nodes agree on a change: no timer, such as one of 50 ms
			// for a lease or of 10 ms for a connection, holds them up.
			if slowest > 25*time.Millisecond || times < 100 {
				t.Errorf("%s restarts: %d rounds, the slowest took %v", id, times, slowest)
			}
			if travelled > keys*size/10 {
				t.Errorf("%s restarts: copies sent %d bytes", id, travelled)
			}
		}
		c.settled()
		for _, id := range ids { // who had the time to lead since its last start
			if n := c.nodes[id].cluster.engine.LeaseStats().Failovers; n > 0 {
				t.Errorf("%s has replaced others %d times", id, n)
			}
		}
		client = c.client("b")
		for i := range keys {
			if got, err := client.StrLen(context.Background(), fmt.Sprint("key", i)).Result(); err != nil || got != size {
				t.Fatalf("key%d: %d, %v", i, got, err)
			}
		}
		_ = client.Close()
		c.close()
	})
}

// fill writes keys of a size, through one node.
func (c *virtualCluster) fill(id string, keys, size int) {
	c.t.Helper()
	client := c.client(id)
	defer func() { _ = client.Close() }()
	pipe := client.Pipeline()
	for i := range keys {
		pipe.Set(context.Background(), fmt.Sprint("key", i), strings.Repeat("x", size), 0)
	}
	if _, err := pipe.Exec(context.Background()); err != nil {
		c.t.Fatal(err)
	}
}

// Who was replaced after a crash finds most of what it had when it comes back: little has
// to travel, whatever was written meanwhile.
func TestReturningNodeCopiesLittle(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		const keys, size = 2000, 1000
		c.fill("a", keys, size)
		time.Sleep(time.Second)
		before := c.sent() - c.nodes["b"].cluster.engine.Totals().Traffic
		c.crash("b")
		time.Sleep(8 * time.Second) // its backups have taken over
		c.fill("a", keys/100, size)
		c.start("b", "a")
		c.ready("b")
		c.settled()
		travelled := c.sent() - before
		c.say("copies cost %d bytes", travelled)
		if travelled > keys*size/10 {
			t.Errorf("a node came back: copies sent %d bytes of %d", travelled, keys*size)
		}
		c.alike()
		c.close()
	})
}

// alike compares all copies of all ranges, byte by byte as digests do.
func (c *virtualCluster) alike() {
	c.t.Helper()
	time.Sleep(time.Second)
	for row := range c.nodes[c.running()[0]].cluster.table.State().Rows() {
		var first []byte
		for node := range row.Copies() {
			d, err := c.nodes[node].store.Digest(row.Range, nil, 1<<20)
			if err != nil {
				c.t.Fatal(err)
			}
			text := d.Append(nil)
			if first == nil {
				first = text
			} else if string(first) != string(text) {
				c.t.Errorf("%v is not the same at %s and at %s", row.Range, row.Primary, node)
			}
		}
	}
}

// The number of backups is raised and lowered while clients write, and nodes leave that
// have copies: all copies that there are in the end are the same, and nowhere is more.
func TestBackupsAreRaisedAndLowered(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.start("d", "a")
		c.settled()
		all, keys := []int{2, 0, 3, 1}, 2000
		if isBrief() {
			all, keys = []int{2, 0, 1}, 500
		}
		c.fill("a", keys, 1000)
		stop := c.rounds("a", "c")
		for _, copies := range all {
			client := c.client("c")
			if err := client.Do(context.Background(), "RING", "BACKUPS", copies).Err(); err != nil {
				t.Fatal(err)
			}
			_ = client.Close()
			time.Sleep(2 * time.Second)
			c.settled()
			for row := range c.nodes["a"].cluster.table.State().Rows() {
				if len(row.Backups) != copies {
					t.Errorf("%d backups are wanted: %+v", copies, row)
					break
				}
			}
		}
		client := c.client("b")
		if err := client.Do(context.Background(), "RING", "LEAVE").Err(); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		c.nodes["b"].leaves = true
		<-c.nodes["b"].Done()
		c.stop("b")
		delete(c.nodes, "b")
		c.settled()
		slowest, times := stop()
		c.say("%d rounds, the slowest took %v", times, slowest)
		c.alike()
		time.Sleep(time.Minute)
		for _, id := range c.running() {
			cl := c.nodes[id].cluster
			for row := range cl.table.State().Rows() {
				if load, err := c.nodes[id].store.RangeLoad(row.Range); err != nil || !row.Holds(id) && load.Keys > 0 {
					t.Errorf("%s still has %d keys of %+v (%v)", id, load.Keys, row, err)
				}
			}
		}
		c.close()
	})
}

// Whose clock was set back while it was stopped comes back as a later start than the one
// before, and so does one that was killed.
func TestNodeIsBackThoughItsClockWasSetBack(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		var back time.Duration
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			by := back
			cfg.env.Date = func() time.Time { return time.Now().Add(-by) }
		})
		c.three()
		for i, end := range []func(string){c.stop, c.crash} {
			end("c")
			back = time.Duration(i+1) * time.Hour
			c.start("c", "a")
			c.ready("c")
			c.settled()
		}
		c.close()
	})
}

// Who was told to leave, and was killed or stopped before it had handed over everything,
// goes on with that when it is started again, and ends.
func TestLeaveContinuesAfterRestart(t *testing.T) {
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
				c.three()
				c.fill("a", 2000, 1000)
				c.settled()
				ring := func(through string, args ...any) {
					t.Helper()
					client := c.client(through)
					defer func() { _ = client.Close() }()
					if err := client.Do(context.Background(), append([]any{"RING"}, args...)...).Err(); err != nil {
						t.Fatal(err)
					}
				}
				ring("b", "THROTTLE", 1000)
				ring("b", "LEAVE")
				time.Sleep(2 * time.Second)
				if how == "killed" {
					c.crash("b")
				} else {
					c.stop("b")
				}
				time.Sleep(time.Second)
				b := c.start("b", "a")
				b.leaves = true
				ring("a", "THROTTLE", 0)
				select {
				case <-b.Done():
				case <-time.After(3 * time.Minute):
					t.Fatal("it goes on to be there")
				}
				c.stop("b")
				delete(c.nodes, "b")
				c.settled()
				client := c.client("a")
				if n, err := client.DBSize(context.Background()).Result(); err != nil || n != 2000 {
					t.Errorf("%d keys are there, %v", n, err)
				}
				_ = client.Close()
				c.close()
			})
		})
	}
}

// Who is being stopped is not told to leave: it would do so when it is started again.
func TestStoppingNodeDoesNotBeginToLeave(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		b := c.nodes["b"].cluster
		b.departure.endLeaves() // as when it begins to stop
		if err := b.departure.leaveAndEnd(context.Background()); !errors.Is(err, errStopping) {
			t.Errorf("it leaves: %v", err)
		}
		if n, _ := b.table.State().Node("b"); n.State != table.Member {
			t.Errorf("it is %v", n.State)
		}
		c.close()
	})
}

// Who was not told whether it leaves, and does, goes away all the same: it gets no ranges any more.
func TestNodeLeavesWhenReplyIsLost(t *testing.T) {
	virtually(t, 4, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		lead := c.leader()
		victim := map[bool]string{true: "b", false: "a"}[lead == "a"]
		n := c.nodes[victim]
		// For as long as the order needs to arrive, and the answer would not be back: with most
		// seeds there is such a time among these.
		for patience := time.Millisecond; ; patience += time.Millisecond / 4 {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			err := n.cluster.departure.leaveAndEnd(ctx)
			if cancel(); err == nil || errors.Is(err, errLeaderLost) {
				t.Logf("after %v: %v", patience, err)
				break
			}
		}
		select {
		case <-n.Done():
		case <-time.After(3 * time.Minute):
			self, _ := n.cluster.table.State().Node(victim)
			t.Fatalf("it is there, and %v", self.State)
		}
		c.stop(victim)
		delete(c.nodes, victim)
		c.settled()
		c.close()
	})
}

// Nobody waits longer than usual for a command while each node in turn is stopped and started again, clients of that
// node included, which have the defaults of their library. Virtual time shows what nodes wait for, since processors and
// disks take none of it: 0.2 ms between hosts is all that a command costs.
func TestRollingRestartKeepsLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 200*time.Microsecond, 0, func(*Config) {})
		c.three()
		c.settled()
		var mu sync.Mutex
		var took []time.Duration
		ctx, cancel := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for i, id := range slices.Repeat(c.running(), 3) {
			client := c.movingClient(id)
			clients.Go(func() {
				defer func() { _ = client.Close() }()
				for round := 0; ctx.Err() == nil; round++ {
					key, began := fmt.Sprintf("%d:%d", i, round/2%300), time.Now()
					err := error(nil)
					if round%2 == 0 {
						err = client.Set(context.Background(), key, round, 0).Err()
					} else {
						err = client.Get(context.Background(), key).Err()
					}
					if err != nil {
						t.Errorf("%s at %s: %v", key, id, err)
						return
					}
					mu.Lock()
					took = append(took, time.Since(began))
					mu.Unlock()
					time.Sleep(2 * time.Millisecond)
				}
			})
		}
		// measured returns how long the slowest in a thousand took since the call before.
		measured := func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(took)
			p999 := took[len(took)*999/1000]
			c.say("%d commands, of which one in a thousand took more than %v, one %v", len(took), p999, took[len(took)-1])
			took = nil
			return p999
		}
		time.Sleep(3 * time.Second)
		quiet := measured()
		for _, id := range c.running() {
			others := slices.DeleteFunc(c.running(), func(other string) bool { return other == id })
			c.stop(id)
			time.Sleep(time.Second)
			c.start(id, others[0])
			c.ready(id)
			c.settled()
			if p999 := measured(); p999 > 2*quiet {
				t.Errorf("while %s restarts, one command in a thousand takes more than %v; %v when nothing happens", id, p999, quiet)
			}
		}
		cancel()
		clients.Wait()
		c.close()
	})
}

// Workers that wait for jobs, with the defaults of their library, get no error while each node in turn is stopped and
// started again, and each job once: what waits for some time at most is answered as if that were over, so nodes do not
// wait for it either.
func TestRollingRestartReleasesWorkers(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 200*time.Microsecond, 0, func(*Config) {})
		c.three()
		c.settled()
		ctx, cancel := context.WithCancel(context.Background())
		var mu sync.Mutex
		got := make(map[string]int)
		var workers sync.WaitGroup
		for _, id := range slices.Repeat(c.running(), 2) {
			client := c.movingClient(id)
			workers.Go(func() {
				defer func() { _ = client.Close() }()
				for ctx.Err() == nil {
					job, err := client.BLPop(context.Background(), 5*time.Second, "jobs").Result()
					if err != nil && !errors.Is(err, redis.Nil) {
						t.Errorf("at %s: %v", id, err)
						return
					}
					if err == nil {
						mu.Lock()
						got[job[1]]++
						mu.Unlock()
					}
				}
			})
		}
		pushed := 0
		for _, id := range c.running() {
			others := slices.DeleteFunc(c.running(), func(other string) bool { return other == id })
			time.Sleep(time.Second)
			began := time.Now()
			c.stop(id)
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s stopped after %v", id, took)
			}
			client := c.client(others[0])
			for range 20 {
				if err := client.RPush(context.Background(), "jobs", pushed).Err(); err != nil {
					t.Error(err)
				}
				pushed++
				time.Sleep(10 * time.Millisecond)
			}
			_ = client.Close()
			c.start(id, others[0])
			c.ready(id)
			c.settled()
		}
		time.Sleep(time.Second)
		mu.Lock()
		for i := range pushed {
			if n := got[fmt.Sprint(i)]; n != 1 {
				t.Errorf("job %d was done %d times", i, n)
			}
		}
		mu.Unlock()
		cancel()
		workers.Wait()
		c.close()
	})
}

// movingClient talks to one node as go-redis does by itself: it goes where notices of maintenance send it. It has one
// connection: over this network it cannot see whether an idle one is still there, before it uses that.
func (c *virtualCluster) movingClient(id string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: c.nodes[id].ip + ":6379", PoolSize: 1, ReadTimeout: time.Minute, ContextTimeoutEnabled: true, MaxRetries: -1,
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return c.net.Host("10.0.1.1").Dial(ctx, addr)
		},
	})
}
