package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
)

// selected returns a connection of a client of a node that has selected a database.
func (c *virtualCluster) selected(id string, n int) (conn *redis.Conn, end func()) {
	c.t.Helper()
	client := c.client(id)
	conn = client.Conn()
	if err := conn.Select(c.t.Context(), n).Err(); err != nil {
		c.t.Fatalf("SELECT %d through %s: %v", n, id, err)
	}
	return conn, func() { _ = conn.Close(); _ = client.Close() }
}

// TestPolicyChangesWhileClientsWrite changes the policy of a database again and again while clients of all
// nodes write, read, delete and wait in it: none sees an error or misses what it wrote.
func TestPolicyChangesWhileClientsWrite(t *testing.T) {
	virtually(t, 3, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		rnd := rand.New(rand.NewPCG(seed, 5))
		ids := []string{"a", "b", "c"}
		ctx, stop := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		var mu sync.Mutex
		taken := map[string]int{}
		rounds := 0
		for i, id := range ids {
			for j := range 2 {
				pause := time.Duration(20+rnd.IntN(80)) * time.Millisecond
				conn, end := c.selected(id, 3)
				clients.Go(func() {
					defer end()
					for n := 0; ctx.Err() == nil; n++ {
						key, value := fmt.Sprintf("k%d-%d", i, j), fmt.Sprint(n)
						if err := conn.Set(context.Background(), key, value, 0).Err(); err != nil {
							t.Errorf("SET of %s through %s: %v", key, id, err)
						}
						if got, err := conn.Get(context.Background(), key).Result(); got != value {
							t.Errorf("GET of %s through %s: %q, %v, want %s", key, id, got, err, value)
						}
						pipe := conn.TxPipeline()
						pipe.Incr(context.Background(), key)
						gone := pipe.Del(context.Background(), key)
						if _, err := pipe.Exec(context.Background()); err != nil || gone.Val() != 1 {
							t.Errorf("MULTI with %s through %s: %v, %d deleted", key, id, err, gone.Val())
						}
						if err := conn.RPush(context.Background(), "q", fmt.Sprintf("%s/%d", key, n)).Err(); err != nil {
							t.Errorf("RPUSH through %s: %v", id, err)
						}
						mu.Lock()
						rounds++
						mu.Unlock()
						time.Sleep(pause)
					}
				})
			}
			waiting, end := c.selected(id, 3)
			clients.Go(func() {
				defer end()
				for {
					got, err := waiting.BLPop(context.Background(), 2*time.Second, "q").Result()
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
		keeper, end := c.selected("a", 3)
		if err := keeper.Set(t.Context(), "kept", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		const moving = "the policy can be changed again when all have"
		changed := 0
		for n := 0; changed < 12 && n < 400; n++ {
			policy := []string{"TOGETHER", "SPREAD"}[changed%2]
			switch _, err := c.do(ids[rnd.IntN(3)], "RING", "DATABASE", "3", policy); {
			case err == nil:
				changed++
			case !strings.Contains(err.Error(), moving):
				t.Errorf("RING DATABASE 3 %s: %v", policy, err)
			}
			time.Sleep(time.Duration(rnd.IntN(400)) * time.Millisecond)
		}
		if got, err := keeper.Get(t.Context(), "kept").Result(); got != "v" {
			t.Errorf("the key that was there throughout is %q, %v", got, err)
		}
		end()
		stop()
		clients.Wait()
		if changed < 12 {
			t.Errorf("%d changes", changed)
		}
		mu.Lock()
		if len(taken) != rounds {
			t.Errorf("%d elements pushed, %d taken", rounds, len(taken))
		}
		for element, n := range taken {
			if n != 1 {
				t.Errorf("%s was taken %d times", element, n)
			}
		}
		mu.Unlock()
		c.close()
	})
}

// TestDatabasesTogetherAreAtOnePlace founds a cluster with databases that are kept together: commands on
// several of their keys work through any node, also after the node of one has died, and the databases lie
// apart.
func TestDatabasesTogetherAreAtOnePlace(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Together = []string{"1", "2", "5"} })
		c.three()
		c.backups(1)
		nodes := map[string]bool{}
		for _, n := range []int{1, 2, 5} {
			conn, end := c.selected([]string{"a", "b", "c"}[n%3], n)
			var pairs []any
			var keys []string
			for i := range 50 {
				key := fmt.Sprintf("k%d", i)
				keys, pairs = append(keys, key), append(pairs, key, n*100+i)
			}
			if err := conn.MSetNX(t.Context(), pairs...).Err(); err != nil {
				t.Errorf("MSETNX in database %d: %v", n, err)
			}
			if got, err := conn.Eval(t.Context(), "return redis.call('GET','k7')+redis.call('GET',KEYS[1])", []string{"k8"}).Int(); err != nil || got != 2*n*100+15 {
				t.Errorf("EVAL in database %d: %d, %v", n, got, err)
			}
			if err := conn.RPush(t.Context(), "ids", 1, 2, 3).Err(); err != nil {
				t.Error(err)
			}
			for _, sort := range [][]any{{"SORT", "ids", "BY", "k*", "GET", "k*", "DESC"}, {"EVAL", "return redis.call('SORT', 'ids', 'BY', 'k*', 'GET', 'k*', 'DESC')", "0"}} {
				got, err := conn.Do(t.Context(), sort...).StringSlice()
				if want := fmt.Sprintf("[%d %d %d]", n*100+3, n*100+2, n*100+1); fmt.Sprint(got) != want || err != nil {
					t.Errorf("%q in database %d: %q, want %s, %v", sort, n, got, want, err)
				}
			}
			if err := conn.Del(t.Context(), "ids").Err(); err != nil {
				t.Error(err)
			}
			if size, err := conn.DBSize(t.Context()).Result(); err != nil || size != 50 {
				t.Errorf("database %d has %d keys, %v", n, size, err)
			}
			if all, _, err := conn.Scan(t.Context(), 0, "*", 1000).Result(); err != nil || len(all) != 50 {
				t.Errorf("SCAN of database %d: %d keys, %v", n, len(all), err)
			}
			_ = keys
			end()
			about := c.ask("b", "RING", "DATABASE", fmt.Sprint(n))
			if !strings.Contains(about, "policy:together") {
				t.Errorf("database %d: %s", n, about)
			}
			at := strings.Index(about, "primary:")
			nodes[strings.TrimSpace(about[at:])] = true
		}
		if len(nodes) < 2 {
			t.Errorf("all three databases lie at %v", nodes)
		}
		c.settled()
		c.copied(1)
		c.crash("b")
		c.within(time.Minute, "keys of all databases are served", func() bool {
			return !slices.ContainsFunc([]int{1, 2, 5}, func(n int) bool {
				conn, end := c.selected("a", n)
				defer end()
				got, err := conn.MGet(t.Context(), "k1", "k2", "k49").Result()
				return err != nil || fmt.Sprint(got) != fmt.Sprintf("[%d %d %d]", n*100+1, n*100+2, n*100+49)
			})
		})
		c.close()
	})
}

// TestAbandonedChangeOfAPolicyEnds begins a change that nobody ends: the leader does.
func TestAbandonedChangeOfAPolicyEnds(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		conn, end := c.selected("b", 3)
		if err := conn.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		changer := c.nodes["a"].cluster.policies
		change, err := changer.Begin(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.do("c", "RING", "DATABASE", "3", "TOGETHER"); err == nil || !strings.Contains(err.Error(), "is being changed") {
			t.Errorf("a second change: %v", err)
		}
		began := time.Now()
		c.within(time.Minute, "the key is served", func() bool {
			got, err := conn.Get(t.Context(), "k").Result()
			return err == nil && got == "v"
		})
		if took := time.Since(began); took < 5*time.Second || took > 25*time.Second {
			t.Errorf("the change ended after %v", took)
		}
		if err := changer.End(t.Context(), change, database.Policy{Number: 3, Together: true}); err == nil {
			t.Error("the change ended twice")
		}
		end()
		c.close()
	})
}

// TestOlderNodesStayOutOfClustersWithPolicies changes a policy while a node does not know policies, then
// without that node.
func TestOlderNodesStayOutOfClustersWithPolicies(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.PoliciesVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		policies := func(st *table.State) any { return st.Policies() }
		c.refusedUnchanged("a", "the build of node c cannot have policies of databases: upgrade it first", policies, "RING", "DATABASE", "1", "TOGETHER")
		c.refusedUnchanged("a", "DB index is out of range", policies, "RING", "DATABASE", "16", "TOGETHER")
		c.refusedUnchanged("a", "RING DATABASE takes TOGETHER or SPREAD, or QUOTA with a number of bytes and POLICY with a name", policies, "RING", "DATABASE", "1", "APART")
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "DATABASE", "1", "TOGETHER")
		speaks["d"] = old
		c.start("d", "a")
		time.Sleep(10 * time.Second)
		if c.nodes["d"].cluster.entry.entered.Load() || !strings.Contains(c.nodes["d"].log.String(), "of the bus protocol, the peer") {
			t.Errorf("the older node: %s", &c.nodes["d"].log)
		}
		c.stop("d")
		c.close()
	})
}
