package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// isTryAgain reports whether an error is one of those that clients of keys which move may get.
func isTryAgain(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "TRYAGAIN ") }

// percent is how many percent of the keys of database 3 have moved; 100 if none moves.
func (c *virtualCluster) percent() (n int) {
	text := c.ask("a", "RING", "DATABASE", "3")
	_, after, moves := strings.Cut(text, "moved_percent:")
	if !moves {
		return 100
	}
	_, _ = fmt.Sscan(after, &n)
	return n
}

// eachWay changes the policy of database 3 to together and back, with clients meanwhile, each of which is called again until
// the keys have moved, and once more then.
func (c *virtualCluster) eachWay(bytes string, clients ...func(conn *redis.Conn, n int)) {
	c.t.Helper()
	for round, policy := range []string{"together", "spread"} {
		c.order("b", "RING", "THROTTLE", bytes)
		var running sync.WaitGroup
		moved := make(chan struct{})
		for i, client := range clients {
			conn, end := c.selected([]string{"a", "b", "c"}[i%3], 3)
			running.Go(func() {
				defer end()
				for n := 0; ; n++ {
					client(conn, round*1_000_000+n)
					select {
					case <-moved:
						return
					default:
						time.Sleep(3 * time.Millisecond)
					}
				}
			})
		}
		c.order("c", "RING", "DATABASE", "3", policy)
		c.moved("a", 3, policy)
		close(moved)
		running.Wait()
	}
	c.order("b", "RING", "THROTTLE", "0")
}

// TestCommandsOnSeveralKeysWhileTheyMove has sorts with patterns, transactions with watched keys, scripts, copies and moves
// to other databases, and commands on a tag with more keys than a step while all of these move.
func TestCommandsOnSeveralKeysWhileTheyMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		c.fillDatabase(3, 1500)
		bg := context.Background()
		conn, end := c.selected("a", 3)
		const tagged = 5000
		for from := 0; from < tagged; from += 500 {
			pipe := conn.Pipeline()
			for i := from; i < from+500; i++ {
				pipe.Set(bg, fmt.Sprintf("{tag}%d", i), i, 0)
			}
			if _, err := pipe.Exec(bg); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 6 {
			conn.RPush(bg, "{s}ids", i)
			conn.RPush(bg, "ids", i)
			conn.Set(bg, fmt.Sprintf("{s}weight_%d", i), 10-i, 0)
			conn.Set(bg, fmt.Sprintf("weight_%d", i), 10-i, 0)
			conn.HSet(bg, fmt.Sprintf("{s}name_%d", i), "f", fmt.Sprint("name", i))
		}
		end()
		var mu sync.Mutex
		done := map[string]int{}
		note := func(what string) {
			mu.Lock()
			done[what]++
			mu.Unlock()
		}
		increments, scripted := 0, 0
		watches := func(conn *redis.Conn, _ int) {
			for {
				if err := conn.Do(bg, "WATCH", "{w}n").Err(); err != nil {
					t.Errorf("WATCH: %v", err)
					return
				}
				n, err := conn.Get(bg, "{w}n").Int()
				if err != nil && !errors.Is(err, redis.Nil) {
					t.Errorf("GET: %v", err)
					return
				}
				pipe := conn.TxPipeline()
				pipe.Set(bg, "{w}n", n+1, 0)
				pipe.Incr(bg, "{w}count")
				switch _, err := pipe.Exec(bg); {
				case errors.Is(err, redis.TxFailedErr):
					note("EXEC again")
					continue
				case err != nil:
					t.Errorf("EXEC: %v", err)
				}
				mu.Lock()
				increments++
				mu.Unlock()
				return
			}
		}
		c.eachWay("60000",
			watches, watches, watches,
			func(conn *redis.Conn, n int) {
				got, err := conn.Sort(bg, "{s}ids", &redis.Sort{By: "{s}weight_*", Get: []string{"#", "{s}name_*->f"}}).Result()
				if want := "[5 name5 4 name4 3 name3 2 name2 1 name1 0 name0]"; err != nil || fmt.Sprint(got) != want {
					t.Errorf("SORT with keys of one tag: %v, %v", got, err)
				}
				note("SORT")
			},
			func(conn *redis.Conn, n int) {
				got, err := conn.Sort(bg, "ids", &redis.Sort{By: "weight_*"}).Result()
				if err == nil && fmt.Sprint(got) != "[5 4 3 2 1 0]" {
					t.Errorf("SORT with any keys: %v", got)
				}
				if err != nil && !isTryAgain(err) && !strings.Contains(err.Error(), "BY option of SORT denied") {
					t.Errorf("SORT with any keys: %v", err)
				}
			},
			func(conn *redis.Conn, n int) {
				keys := []string{"{tag}0", "{tag}4999", fmt.Sprintf("{tag}%d", n%tagged)}
				got, err := conn.MGet(bg, keys...).Result()
				if want := fmt.Sprintf("[0 4999 %d]", n%tagged); err != nil || fmt.Sprint(got) != want {
					t.Errorf("MGET of a tag with many keys: %v, %v", got, err)
				}
				note("MGET")
			},
			func(conn *redis.Conn, n int) {
				if err := conn.Eval(bg, "redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])", []string{"{script}a", "{script}b"}).Err(); err != nil {
					t.Errorf("EVAL: %v", err)
				}
				scripted++
				switch got, err := conn.Eval(bg, "return redis.call('GET', ARGV[1])", []string{"{script}a"}, "weight_1").Result(); {
				case err == nil && got != "9":
					t.Errorf("a script reads %v", got)
				case err != nil && !strings.Contains(err.Error(), "TRYAGAIN") && !strings.Contains(err.Error(), "CROSSSLOT") && !strings.Contains(err.Error(), "node"):
					t.Errorf("a script with a key that it does not declare: %v", err)
				}
			},
			func(conn *redis.Conn, n int) {
				from, to := fmt.Sprintf("{copy}%d", n), fmt.Sprintf("{copy}to%d", n)
				conn.Set(bg, from, n, 0)
				if copied, err := conn.Copy(bg, from, to, 3, false).Result(); err != nil || copied != 1 {
					t.Errorf("COPY: %d, %v", copied, err)
				}
				// The other database is spread: it may lie elsewhere by then.
				switch moved, err := conn.Move(bg, from, 5).Result(); {
				case err == nil && !moved:
					t.Errorf("MOVE %s has moved nothing", from)
				case err == nil:
					note("MOVE")
				case !isTryAgain(err) && !strings.HasPrefix(err.Error(), "CROSSSLOT "):
					t.Errorf("MOVE: %v", err)
				default:
					if got := conn.Get(bg, from).Val(); got != fmt.Sprint(n) {
						t.Errorf("%s is %q after MOVE was refused", from, got)
					}
				}
				if got := conn.Get(bg, to).Val(); got != fmt.Sprint(n) {
					t.Errorf("%s is %q", to, got)
				}
			},
		)
		for key, want := range map[string]int{"{w}n": increments, "{w}count": increments, "{script}a": scripted, "{script}b": scripted} {
			if got := c.in("3", "GET", key); got != fmt.Sprint(want) {
				t.Errorf("%s is %v, want %d", key, got, want)
			}
		}
		if n := c.in("5", "DBSIZE"); n != int64(done["MOVE"]) {
			t.Errorf("%v keys are in the other database, want %d", n, done["MOVE"])
		}
		if done["SORT"] < 20 || done["MGET"] < 20 || done["EXEC again"] == 0 || done["MOVE"] == 0 {
			t.Errorf("done: %v", done)
		}
		c.close()
	})
}

// TestClientsThatWaitWhileTheirKeysMove has clients wait for lists of a database whose keys move back and forth: each
// element is popped once.
func TestClientsThatWaitWhileTheirKeysMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		c.fillDatabase(3, 1500)
		bg := context.Background()
		var mu sync.Mutex
		popped := map[string]int{}
		pushed := 0
		ctx, stop := context.WithCancel(bg)
		var waiters sync.WaitGroup
		for i := range 9 {
			conn, end := c.selected([]string{"a", "b", "c"}[i%3], 3)
			waiters.Go(func() {
				defer end()
				for {
					got, err := conn.BLPop(bg, 2*time.Second, fmt.Sprintf("q%d", i%4)).Result()
					switch {
					case err == nil:
						mu.Lock()
						popped[got[1]]++
						mu.Unlock()
					case !errors.Is(err, redis.Nil):
						t.Errorf("BLPOP: %v", err)
						return
					case ctx.Err() != nil:
						return
					}
				}
			})
		}
		push := func(conn *redis.Conn, n int) {
			mu.Lock()
			pushed++
			value := fmt.Sprint(pushed)
			mu.Unlock()
			if err := conn.RPush(bg, fmt.Sprintf("q%d", n%4), value).Err(); err != nil {
				t.Errorf("RPUSH: %v", err)
			}
			time.Sleep(30 * time.Millisecond)
		}
		c.eachWay("40000", push, push)
		stop()
		waiters.Wait()
		for value, n := range popped {
			if n != 1 {
				t.Errorf("%s was popped %d times", value, n)
			}
		}
		if len(popped) != pushed || pushed < 20 {
			t.Errorf("%d elements were pushed, %d popped", pushed, len(popped))
		}
		c.close()
	})
}

// TestBackupsAndSwapsWhileKeysMove takes backups, of which each has every key once, and swaps the database with another one
// while its keys move.
func TestBackupsAndSwapsWhileKeysMove(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		const keys = 6000
		c.fillDatabase(3, keys)
		for round, policy := range []string{"TOGETHER", "SPREAD"} {
			c.order("a", "RING", "THROTTLE", "10000")
			c.order("b", "RING", "DATABASE", "3", policy)
			time.Sleep(200 * time.Millisecond)
			c.order([]string{"a", "c"}[round], "SWAPDB", "3", "4")
			if n, none := c.in("4", "DBSIZE").(int64), c.in("3", "DBSIZE"); n < keys/2 || n > 2*keys || none != int64(0) {
				t.Errorf("%d keys in database 4, %v in database 3", n, none)
			}
			for i := 0; i < keys; i += 531 {
				if c.in("4", "EXISTS", fmt.Sprint("k", i)) != int64(1) {
					t.Errorf("k%d is missed", i)
				}
			}
			c.order("b", "SWAPDB", "3", "4")
			taken := 0
			for i := 0; c.percent() < 100 && i < 3; i++ { // reading one takes a while by the same limit
				m, all, err := c.takeBackup([]string{"c", "a", "b"}[i%3], nil)
				if err != nil {
					t.Errorf("a backup at %d %%: %v", c.percent(), err)
					continue
				}
				have := 0
				for key := range all {
					if strings.HasPrefix(key, "k") {
						have++
					}
				}
				if taken++; have != keys {
					t.Errorf("a backup of %d nodes has %d keys, want %d", len(m.Parts), have, keys)
				}
			}
			c.order("a", "RING", "THROTTLE", "0")
			c.moved("b", 3, strings.ToLower(policy))
			if n := len(c.in("3", "KEYS", "k*").([]any)); n != keys || taken == 0 {
				t.Errorf("round %d: %d keys, %d backups", round, n, taken)
			}
		}
		c.close()
	})
}

// TestMovesOfKeysArePausedAndSlowed has RING THROTTLE slow a move of keys, and RING PAUSE keep it where it is.
func TestMovesOfKeysArePausedAndSlowed(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		c.fillDatabase(3, 8000)
		for i, policy := range []string{"TOGETHER", "SPREAD"} {
			c.order("a", "RING", "THROTTLE", "10000")
			began := time.Now()
			c.order("b", "RING", "DATABASE", "3", policy)
			c.within(time.Minute, "some keys have moved", func() bool { n := c.percent(); return n > 10 && n < 60 })
			c.order("c", "RING", "PAUSE")
			time.Sleep(10 * time.Second) // a step that had begun has ended
			at := c.percent()
			time.Sleep(time.Minute)
			if now := c.percent(); now != at || now == 100 {
				t.Errorf("%d %% of the keys have moved a minute after RING PAUSE, %d %% before", now, at)
			}
			if err := c.in("3", "SET", "k1", "v"); err != "OK" {
				t.Errorf("SET during the pause: %v", err)
			}
			c.order("c", "RING", "RESUME")
			c.moved("a", 3, strings.ToLower(policy))
			if took := time.Since(began); took < 74*time.Second {
				t.Errorf("the move %d took %v with its pauses", i, took)
			}
		}
		c.close()
	})
}
