package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
)

// A moveLoad is clients of a virtual cluster that count in one database while its keys move.
type moveLoad struct {
	c       *virtualCluster
	number  int
	stop    context.CancelFunc
	clients sync.WaitGroup

	mu      sync.Mutex
	counted map[string]int
	unsure  map[string]int // counts that may have been made
	rounds  int
}

// count starts clients of some nodes. away tells that a node may be gone, so that its clients may see errors.
func (c *virtualCluster) count(number int, ids []string, each int, away func(id string) bool) *moveLoad {
	ctx, stop := context.WithCancel(context.Background())
	l := &moveLoad{c: c, number: number, stop: stop, counted: map[string]int{}, unsure: map[string]int{}}
	for i, id := range ids {
		for j := range each {
			l.clients.Go(func() {
				rnd := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				client := c.client(id)
				defer client.Close()
				for ctx.Err() == nil {
					l.session(ctx, client, id, rnd, fmt.Sprintf("%d-%d", i, j), away)
				}
			})
		}
	}
	return l
}

// session counts on one connection, until an error.
func (l *moveLoad) session(ctx context.Context, client *redis.Client, id string, rnd *rand.Rand, name string, away func(id string) bool) {
	conn := client.Conn()
	defer conn.Close()
	bg := context.Background()
	failed := func(what string, err error) {
		if !away(id) && !away("") {
			l.c.t.Errorf("%s through %s: %v", what, id, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err := conn.Select(bg, l.number).Err(); err != nil {
		failed("SELECT", err)
		return
	}
	for ctx.Err() == nil {
		key := fmt.Sprintf("n%s-%d", name, rnd.IntN(40))
		n, err := conn.Incr(bg, key).Result()
		l.mu.Lock()
		if err != nil {
			l.unsure[key]++
		} else {
			l.counted[key]++
		}
		low, high := l.counted[key], l.counted[key]+l.unsure[key]
		l.rounds++
		l.mu.Unlock()
		if err != nil {
			failed("INCR "+key, err)
			return
		}
		if int(n) < low || int(n) > high {
			l.c.t.Errorf("%s is %d through %s, want %d to %d", key, n, id, low, high)
		}
		pipe := conn.TxPipeline()
		tagged := pipe.Incr(bg, "{"+key+"}a")
		pipe.Set(bg, "{"+key+"}b", n, time.Hour)
		if _, err := pipe.Exec(bg); err != nil {
			failed("MULTI of {"+key+"}", err)
			return
		}
		_ = tagged
		time.Sleep(time.Duration(5+rnd.IntN(30)) * time.Millisecond)
	}
}

// check ends the clients, and compares all counters.
func (l *moveLoad) check() {
	l.c.t.Helper()
	l.stop()
	l.clients.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, low := range l.counted {
		var n int
		if text, ok := l.c.in(fmt.Sprint(l.number), "GET", key).(string); ok {
			_, _ = fmt.Sscan(text, &n)
		}
		if n < low || n > low+l.unsure[key] {
			l.c.t.Errorf("%s is %d at the end, want %d to %d", key, n, low, low+l.unsure[key])
		}
	}
	if l.rounds < 50 {
		l.c.t.Errorf("clients have counted %d times", l.rounds)
	}
}

// moved waits until no key of a database moves.
func (c *virtualCluster) moved(id string, number int, policy string) {
	c.t.Helper()
	c.within(5*time.Minute, "the keys to have moved", func() bool {
		about, err := c.do(id, "RING", "DATABASE", fmt.Sprint(number))
		text := fmt.Sprint(about)
		return err == nil && strings.Contains(text, "policy:"+policy) && !strings.Contains(text, "moved_percent")
	})
}

// fill writes keys in a database.
func (c *virtualCluster) fillDatabase(number, keys int) {
	c.t.Helper()
	conn, end := c.selected("a", number)
	defer end()
	for from := 0; from < keys; from += 500 {
		pipe := conn.Pipeline()
		for i := from; i < min(from+500, keys); i++ {
			switch key := fmt.Sprintf("k%d", i); i % 4 {
			case 0:
				pipe.HSet(c.t.Context(), key, "f", i)
			case 1:
				pipe.RPush(c.t.Context(), key, i, i+1)
			default:
				pipe.Set(c.t.Context(), key, i, 0)
			}
		}
		if _, err := pipe.Exec(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
	}
}

// scanAll returns how often SCAN returns each key.
func (c *virtualCluster) scanAll(conn *redis.Conn, count int64, pause time.Duration) (seen map[string]int, err error) {
	seen = map[string]int{}
	for cursor := uint64(0); ; {
		var keys []string
		if keys, cursor, err = conn.Scan(context.Background(), cursor, "k*", count).Result(); err != nil {
			return seen, err
		}
		for _, key := range keys {
			seen[key]++
		}
		if cursor == 0 {
			return seen, nil
		}
		if cursor >= 1<<53 {
			return seen, errors.New("a cursor that a double does not hold")
		}
		time.Sleep(pause)
	}
}

func never(string) bool { return false }

// TestKeysMoveWhileClientsCount changes the policy of a database with keys to together and back, while clients of all nodes
// count, scan and list. No client sees an error, each counter is exact, and each key that is there throughout is listed.
func TestKeysMoveWhileClientsCount(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		const keys = 3000
		c.fillDatabase(3, keys)
		c.in("0", "SET", "other", "v")
		load := c.count(3, []string{"a", "b", "c"}, 2, never)
		ctx, stop := context.WithCancel(context.Background())
		var scans sync.WaitGroup
		for i, id := range []string{"b", "c"} {
			conn, end := c.selected(id, 3)
			scans.Go(func() {
				defer end()
				for ctx.Err() == nil {
					seen, err := c.scanAll(conn, int64(50+200*i), time.Duration(10+40*i)*time.Millisecond)
					if err != nil || len(seen) != keys {
						t.Errorf("SCAN through %s: %d keys, want %d, %v", id, len(seen), keys, err)
					}
					all, err := conn.Keys(context.Background(), "k*").Result()
					if err != nil || len(all) != keys {
						t.Errorf("KEYS through %s: %d keys, %v", id, len(all), err)
					}
					if key, err := conn.RandomKey(context.Background()).Result(); err != nil || conn.Exists(context.Background(), key).Val() != 1 {
						t.Errorf("RANDOMKEY through %s: %q, %v", id, key, err)
					}
				}
			})
		}
		for round, policy := range []string{"TOGETHER", "SPREAD", "TOGETHER"} {
			began := time.Now()
			c.order([]string{"a", "b", "c"}[round%3], "RING", "DATABASE", "3", policy)
			c.moved("a", 3, strings.ToLower(policy))
			c.say("%s took %v", policy, time.Since(began))
		}
		stop()
		scans.Wait()
		load.check()
		conn, end := c.selected("a", 3)
		for i := 0; i < keys; i += 97 {
			var err error
			switch key := fmt.Sprintf("k%d", i); i % 4 {
			case 0:
				err = conn.HGet(t.Context(), key, "f").Err()
			case 1:
				if n := conn.LLen(t.Context(), key).Val(); n != 2 {
					err = fmt.Errorf("%d elements", n)
				}
			default:
				err = conn.Get(t.Context(), key).Err()
			}
			if err != nil {
				t.Errorf("k%d: %v", i, err)
			}
		}
		size := conn.DBSize(t.Context()).Val()
		if all, err := conn.Keys(t.Context(), "*").Result(); err != nil || int64(len(all)) != size {
			t.Errorf("DBSIZE is %d, KEYS lists %d, %v", size, len(all), err)
		}
		end()
		c.close()
	})
}

// TestKeysMoveWhileNodesComeAndGo moves keys back and forth while nodes join, are killed, among them the leader, and
// are cut off. Each counter is exact but for outcomes that no node can tell.
func TestKeysMoveWhileNodesComeAndGo(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		const keys = 2000
		c.fillDatabase(3, keys)
		c.settled()
		c.copied(1)
		rnd := rand.New(rand.NewPCG(seed, 3))
		load := c.count(3, []string{"a", "b", "c"}, 2, func(id string) bool { return true })
		policies := []string{"TOGETHER", "SPREAD"}
		for round := range 6 {
			policy := policies[round%2]
			c.within(2*time.Minute, "the order to be accepted", func() bool {
				_, err := c.do("a", "RING", "DATABASE", "3", policy)
				return err == nil
			})
			time.Sleep(time.Duration(rnd.IntN(800)) * time.Millisecond)
			switch round % 3 {
			case 0: // the leader is killed
				victim, other := "a", "b"
				for _, id := range []string{"b", "c"} {
					if _, leads := c.nodes[id].cluster.table.Leader(); leads {
						victim, other = id, "a"
					}
				}
				c.say("the leader %s is killed", victim)
				c.crash(victim)
				time.Sleep(time.Duration(rnd.IntN(5000)) * time.Millisecond)
				c.start(victim, other)
				c.ready(victim)
			case 1:
				c.say("d joins or leaves")
				if c.nodes["d"] == nil {
					c.start("d", "a")
				}
			case 2: // the leader is cut off
				for _, id := range []string{"b", "c"} {
					if _, leads := c.nodes[id].cluster.table.Leader(); leads || id == "c" {
						c.say("%s is cut off", id)
						c.cutOff(id, 4*time.Second)
						break
					}
				}
			}
			c.moved("a", 3, strings.ToLower(policy))
		}
		load.check()
		conn, end := c.selected("a", 3)
		defer end()
		if all, err := conn.Keys(t.Context(), "k*").Result(); err != nil || len(all) != keys {
			t.Errorf("KEYS lists %d keys, want %d, %v", len(all), keys, err)
		}
		size := conn.DBSize(t.Context()).Val()
		if all, err := conn.Keys(t.Context(), "*").Result(); err != nil || int64(len(all)) != size {
			t.Errorf("DBSIZE is %d, KEYS lists %d, %v", size, len(all), err)
		}
		c.close()
	})
}

// TestFlushEmptiesADatabaseWhoseKeysMove has FLUSHDB and FLUSHALL while keys move: nothing is left, and the move
// goes on. A pause that its client has abandoned ends.
func TestFlushEmptiesADatabaseWhoseKeysMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 9))
		c.in("0", "SET", "other", "v") // so that keys are removed one by one
		for round, flush := range []string{"FLUSHDB", "FLUSHALL", "FLUSHDB", "FLUSHDB"} {
			policy := []string{"TOGETHER", "SPREAD"}[round%2]
			c.fillDatabase(3, 3000)
			c.order("b", "RING", "DATABASE", "3", policy)
			time.Sleep(time.Duration(200+rnd.IntN(900)) * time.Millisecond)
			about := c.ask("b", "RING", "DATABASE", "3")
			if got := c.in("3", flush); got != "OK" {
				t.Errorf("%s: %v", flush, got)
			}
			if keys := c.in("3", "KEYS", "*"); len(keys.([]any)) != 0 || c.in("3", "RANDOMKEY") != nil {
				t.Errorf("%d keys are left after %s at %q", len(keys.([]any)), flush, about)
			}
			c.in("3", "SET", "later", "v")
			c.moved("a", 3, strings.ToLower(policy))
			if size := c.in("3", "DBSIZE"); size != int64(1) || c.in("3", "GET", "later") != "v" {
				t.Errorf("%v keys after %s, want the one that was written later", size, flush)
			}
		}
		c.fillDatabase(3, 3000)
		c.order("b", "RING", "DATABASE", "3", "TOGETHER")
		c.order("b", "RING", "DATABASE", "3", "TOGETHER")
		if _, err := c.do("b", "RING", "DATABASE", "3", "SPREAD"); err == nil || !strings.Contains(err.Error(), "can be changed again when all have") {
			t.Errorf("another change before all keys have moved: %v", err)
		}
		if pause, err := c.nodes["c"].cluster.policies.PauseMove(t.Context(), 3); err != nil || pause == 0 {
			t.Errorf("a pause: %d, %v", pause, err)
		}
		began := time.Now()
		c.moved("a", 3, "together")
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("an abandoned pause ended after %v", took)
		}
		c.close()
	})
}

// TestWatchedKeyThatMovesCountsAsChanged has a transaction that watches a key: it is not run if the key has moved, and
// is if it has not.
func TestWatchedKeyThatMovesCountsAsChanged(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		c.fillDatabase(3, 200)
		conn, end := c.selected("b", 3)
		defer end()
		exec := func() any {
			for _, words := range [][]any{{"MULTI"}, {"INCR", "n"}} {
				if err := conn.Do(t.Context(), words...).Err(); err != nil {
					t.Error(err)
				}
			}
			got, err := conn.Do(t.Context(), "EXEC").Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				t.Error(err)
			}
			return got
		}
		watch := func() {
			if err := conn.Do(t.Context(), "WATCH", "n").Err(); err != nil {
				t.Error(err)
			}
		}
		watch()
		c.order("a", "RING", "DATABASE", "3", "TOGETHER")
		c.moved("b", 3, "together")
		if got := exec(); got != nil {
			t.Errorf("EXEC with a watched key that has moved: %v", got)
		}
		watch()
		if got := fmt.Sprint(exec()); got != "[1]" {
			t.Errorf("EXEC behind the move: %s", got)
		}
		c.close()
	})
}

// TestOlderNodesMoveNoKeys refuses to change the policy of a database with keys while a node does not know how to
// move them. An empty one gets its policy as before.
func TestOlderNodesMoveNoKeys(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		speaks := map[string]bus.Versions{"c": {Oldest: 3, Newest: bus.MovesVersion - 1}}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		c.fillDatabase(3, 10)
		values := func(st *table.State) any { return st.Values() }
		c.refusedUnchanged("a", "database 3 holds 10 keys, which cannot be moved: the build of node c cannot move the keys of a database: upgrade it first", values, "RING", "DATABASE", "3", "TOGETHER")
		c.order("a", "RING", "DATABASE", "4", "TOGETHER")
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "DATABASE", "3", "TOGETHER")
		c.moved("c", 3, "together")
		if keys := c.in("3", "KEYS", "*"); len(keys.([]any)) != 10 {
			t.Errorf("%d keys", len(keys.([]any)))
		}
		c.close()
	})
}
