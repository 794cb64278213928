package node

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/table"
)

// A lag holds back what a node hears of the table.
type lag struct {
	mu   sync.Mutex
	held chan struct{} // nil: nothing is held back
}

func (l *lag) wait() {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held != nil {
		<-held
	}
}

// begin holds back all entries until end is called.
func (l *lag) begin() (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := make(chan struct{})
	l.held = held
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = nil
		close(held)
	})
}

// withLateProxy starts three stores and a proxy p, which hears of the table as late as the lag says.
func withLateProxy(t *testing.T, seed uint64) (*virtualCluster, *lag) {
	late := new(lag)
	c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
		if cfg.ID == "p" {
			cfg.Role = RoleProxy
			cfg.env.Table = table.Hooks{Applying: late.wait}
		}
	})
	c.three()
	c.backups(1)
	c.settled()
	c.start("p", "a")
	c.ready("p")
	return c, late
}

// TestFlushThroughANodeThatHasNotHeardOfAMove has FLUSHDB and FLUSHALL sent to a proxy that does not know that keys
// of the database move: nothing is left.
func TestFlushThroughANodeThatHasNotHeardOfAMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c, late := withLateProxy(t, seed)
		rnd := rand.New(rand.NewPCG(seed, 21))
		for round := range 12 {
			policy := []string{"TOGETHER", "SPREAD"}[round%2]
			flush := []string{"FLUSHDB", "FLUSHALL"}[rnd.IntN(2)]
			if rnd.IntN(2) == 0 {
				c.in("0", "SET", "other", "v") // so that FLUSHDB removes keys one by one
			}
			c.fillDatabase(3, 3000)
			conn, end := c.selected("p", 3)
			heard := late.begin()
			c.order("b", "RING", "DATABASE", "3", policy)
			time.Sleep(time.Duration(rnd.IntN(300_000)) * time.Microsecond)
			flushed := make(chan error, 1)
			go func() { flushed <- conn.Do(context.Background(), flush).Err() }()
			time.Sleep(time.Duration(rnd.IntN(1500)) * time.Millisecond)
			heard()
			if err := <-flushed; err != nil {
				t.Errorf("%s through p: %v", flush, err)
			}
			if keys := c.in("3", "KEYS", "*").([]any); len(keys) != 0 {
				t.Errorf("round %d: %d keys are left after %s through p, as %v", round, len(keys), flush, keys[0])
			}
			c.moved("a", 3, map[string]string{"TOGETHER": "together", "SPREAD": "spread"}[policy])
			if size := c.in("3", "DBSIZE"); size != int64(0) {
				t.Errorf("round %d: %v keys after the move", round, size)
			}
			end()
		}
		c.close()
	})
}

// TestFlushOutlivesItsPause has FLUSHDB sent to a proxy that does not reach one of the stores until the leader has ended
// the pause, and does not hear of that: keys that were written before are gone, wherever they lie by then.
func TestFlushOutlivesItsPause(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c, late := withLateProxy(t, seed)
		rnd := rand.New(rand.NewPCG(seed, 24))
		outlived := 0
		for round := range 10 {
			policy := []string{"together", "spread"}[round%2]
			c.fillDatabase(3, 2000)
			conn, end := c.selected("p", 3)
			c.order("p", "RING", "THROTTLE", "20000")
			c.order("p", "RING", "DATABASE", "3", policy)
			time.Sleep(300 * time.Millisecond)
			flushed := make(chan error, 1)
			go func() { flushed <- conn.Do(context.Background(), "FLUSHDB").Err() }()
			for c.pausedAt("p", 3) == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			time.Sleep(time.Duration(1500+rnd.IntN(2500)) * time.Microsecond)
			victim := c.nodes[[]string{"a", "b", "c"}[rnd.IntN(3)]].ip
			c.net.Mute(c.nodes["p"].ip, victim, true)
			heard := late.begin()
			c.within(time.Minute, "the leader ends the pause", func() bool { return c.pausedAt("a", 3) == 0 })
			c.order("a", "RING", "THROTTLE", "0")
			c.moved("a", 3, policy)
			c.net.Mute(c.nodes["p"].ip, victim, false)
			time.Sleep(time.Second)
			if len(flushed) == 0 {
				outlived++
			}
			heard()
			err := <-flushed
			if keys := c.in("3", "KEYS", "*").([]any); err == nil && len(keys) != 0 {
				t.Errorf("round %d: %d keys are left, as %v", round, len(keys), keys[0])
			}
			if err != nil && !strings.HasPrefix(err.Error(), "TRYAGAIN ") && !strings.HasPrefix(err.Error(), "UNKNOWN ") {
				t.Errorf("round %d: FLUSHDB through p: %v", round, err)
			}
			c.say("round %d: FLUSHDB through p: %v", round, err)
			end()
		}
		if outlived < 2 {
			t.Errorf("%d requests have outlived their pause", outlived)
		}
		c.close()
	})
}

// pausedAt returns the pause of a move that a node knows of; 0 if there is none.
func (c *virtualCluster) pausedAt(id string, data int) uint64 {
	kept, err := database.ParseKept(c.nodes[id].cluster.table.State().Values().Of(database.PolicyName(data)).Body)
	if err != nil || kept.Move == nil {
		return 0
	}
	return kept.Move.Paused
}

// TestListsThroughANodeThatHasNotHeardOfAMove has SCAN, KEYS, DBSIZE and RANDOMKEY sent to a proxy that does not know
// that keys of the database move, nor, before a scan ends, that they move back. Each key that is there throughout is listed.
func TestListsThroughANodeThatHasNotHeardOfAMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c, late := withLateProxy(t, seed)
		rnd := rand.New(rand.NewPCG(seed, 22))
		const keys = 2000
		c.fillDatabase(3, keys)
		for round := range 6 {
			policy := []string{"together", "spread"}[round%2]
			heard := late.begin()
			var lists sync.WaitGroup
			for i := range 4 {
				conn, end := c.selected("p", 3)
				pause := time.Duration(rnd.IntN(20)) * time.Millisecond
				count := int64(20 + rnd.IntN(300))
				lists.Go(func() {
					defer end()
					for until := time.Now().Add(3 * time.Second); time.Now().Before(until); {
						if i < 2 {
							seen, err := c.scanAll(conn, count, pause)
							if err != nil || len(seen) != keys {
								t.Errorf("round %d: SCAN: %d keys, want %d, %v", round, len(seen), keys, err)
							}
							continue
						}
						all, err := conn.Keys(context.Background(), "k*").Result()
						slices.Sort(all)
						if all = slices.Compact(all); err != nil || len(all) != keys {
							t.Errorf("round %d: KEYS: %d keys, %v", round, len(all), err)
						}
						if n, err := conn.DBSize(context.Background()).Result(); err != nil || n < 1 {
							t.Errorf("round %d: DBSIZE: %d, %v", round, n, err)
						}
						if key, err := conn.RandomKey(context.Background()).Result(); err != nil || conn.Exists(context.Background(), key).Val() != 1 {
							t.Errorf("round %d: RANDOMKEY: %q, %v", round, key, err)
						}
						time.Sleep(pause)
					}
				})
			}
			time.Sleep(time.Duration(rnd.IntN(200)) * time.Millisecond)
			c.order("b", "RING", "DATABASE", "3", policy)
			for until := time.Now().Add(time.Duration(rnd.IntN(2000)) * time.Millisecond); time.Now().Before(until); {
				slow := c.nodes[[]string{"a", "b", "c"}[rnd.IntN(3)]].ip // gets its part later than the others
				c.net.Mute(c.nodes["p"].ip, slow, true)
				time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
				c.net.Mute(c.nodes["p"].ip, slow, false)
			}
			heard()
			c.moved("a", 3, policy)
			lists.Wait()
		}
		c.close()
	})
}

// TestScanOverTwoChangesOfAPolicy begins a scan, also during a move, changes the policy and changes it back: the rest of the
// scan returns each key that is there throughout.
func TestScanOverTwoChangesOfAPolicy(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 23))
		const keys = 2000
		c.fillDatabase(3, keys)
		conn, end := c.selected("b", 3)
		defer end()
		policies, changed := []string{"spread", "together"}, 0
		for round := range 8 {
			seen, calls := map[string]bool{}, 0
			for cursor, changes := uint64(0), 0; calls == 0 || cursor != 0; calls++ {
				for calls > 0 && changes < 2 && rnd.IntN(3) == 0 {
					c.moved("b", 3, policies[changed%2])
					changes++
					changed++
					c.order([]string{"a", "b", "c"}[rnd.IntN(3)], "RING", "DATABASE", "3", policies[changed%2])
					time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
				}
				found, next, err := conn.Scan(t.Context(), cursor, "k*", int64(100+rnd.IntN(300))).Result()
				if err != nil || calls > 2*keys {
					t.Fatalf("call %d of SCAN: %v", calls, err)
				}
				for _, key := range found {
					seen[key] = true
				}
				cursor = next
			}
			if len(seen) != keys {
				t.Errorf("round %d: the scan has returned %d keys, want %d", round, len(seen), keys)
			}
		}
		c.close()
	})
}
