package goredis_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/client/goredis"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/resp/node/clustertest"
)

func Example() {
	dir, err := os.MkdirTemp("", "ringside")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.HTTPAddr, cfg.Strategy = "127.0.0.1:0", dir, node.HTTPOff, node.StrategyKetama
	n, err := node.Open(cfg)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = n.Close() }()

	ctx := context.Background()
	rdb, err := goredis.Open(ctx, client.Config{Addrs: []string{n.Addr().String()}}, &redis.RingOptions{PoolSize: 10})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()

	if err := rdb.Set(ctx, "greeting", "hello", time.Hour).Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rdb.Get(ctx, "greeting").Result())
	// Output: hello <nil>
}

// Under the strategies, those on cells aside, which take half a minute to found a cluster, commands go straight to the nodes that serve their keys, also after a switch of the strategy.
func TestRingFollowsThePlacement(t *testing.T) {
	for _, strategy := range []string{"buckets", "ketama", "vnode"} {
		t.Run(strategy, func(t *testing.T) {
			c := clustertest.Start(t, clustertest.Config{Nodes: 3, Configure: func(_ int, cfg *node.Config) { cfg.Strategy = strategy }})
			dial := func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
			rdb, err := goredis.Open(t.Context(), client.Config{Addrs: []string{c.Addr(0)}, Dial: dial},
				&redis.RingOptions{Dialer: c.Dial})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rdb.Close() }()
			ctx := t.Context()
			forwarded := func() (n int) {
				for i := range 3 {
					info, _ := c.Client(i).Do(ctx, "RING", "INFO").Text()
					for line := range strings.Lines(info) {
						var one int
						if _, err := fmt.Sscanf(line, "requests_forwarded:%d", &one); err == nil {
							n += one
						}
					}
				}
				return n
			}
			direct := func(when string) {
				t.Helper()
				deadline := time.Now().Add(20 * time.Second)
				for {
					before := forwarded()
					for i := range 200 {
						if err := rdb.Set(ctx, fmt.Sprint("key", i), i, 0).Err(); err != nil {
							t.Fatalf("%s: %v", when, err)
						}
					}
					n := forwarded() - before
					if n == 0 {
						return
					}
					if time.Now().After(deadline) {
						t.Fatalf("%s: %d of 200 commands were forwarded", when, n)
					}
				}
			}
			direct("at first")
			if strategy == "buckets" || strategy == "ketama" {
				if err := rdb.Do(ctx, "RING", "STRATEGY", "vnode").Err(); err != nil {
					t.Fatal(err)
				}
				c.AwaitSettled()
				direct("after the switch")
			}
			for i := range 200 {
				if got, err := rdb.Get(ctx, fmt.Sprint("key", i)).Int(); got != i || err != nil {
					t.Fatalf("key%d: %d, %v", i, got, err)
				}
			}
		})
	}
}

// No command fails at nodes that redirect, also while the strategy is switched.
func TestRingHasRedirectingNodesForward(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 3, Configure: func(_ int, cfg *node.Config) { cfg.Route = node.RouteRedirect }})
	dial := func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
	var connected atomic.Int32
	rdb, err := goredis.Open(t.Context(), client.Config{Addrs: []string{c.Addr(0)}, Dial: dial}, &redis.RingOptions{
		Dialer: c.Dial,
		OnConnect: func(ctx context.Context, conn *redis.Conn) error {
			connected.Add(1)
			return conn.ClientSetName(ctx, "mine").Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	ctx := t.Context()
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprint("key", i))
	}
	use := func(when string) {
		t.Helper()
		for i, key := range keys {
			if err := rdb.Set(ctx, key, i, 0).Err(); err != nil {
				t.Fatalf("%s: SET: %v", when, err)
			}
		}
		got, err := rdb.MGet(ctx, keys...).Result()
		if err != nil {
			t.Fatalf("%s: MGET: %v", when, err)
		}
		for i := range got {
			if got[i] != fmt.Sprint(i) {
				t.Fatalf("%s: %s is %v", when, keys[i], got[i])
			}
		}
	}
	use("at first")
	if err := rdb.Do(ctx, "RING", "STRATEGY", "vnode").Err(); err != nil {
		t.Fatal(err)
	}
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		c.AwaitSettled()
	}()
	for during := true; during; {
		select {
		case <-settled:
			during = false
		default:
		}
		use("during the switch")
	}
	if connected.Load() == 0 {
		t.Error("OnConnect of the options was not called")
	}
}

// A user who may not run RING ROUTE still has a client.
func TestRingWithoutRightToRoute(t *testing.T) {
	c := clustertest.Start(t, clustertest.Config{Nodes: 2})
	ctx := t.Context()
	if err := c.Client(0).Do(ctx, "ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", "-ring|route").Err(); err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) }
	cfg := client.Config{Addrs: []string{c.Addr(0)}, Dial: dial, Username: "app", Password: "pw"}
	rdb, err := goredis.Open(ctx, cfg, &redis.RingOptions{Dialer: c.Dial})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rdb.Close() }()
	if err := rdb.Do(ctx, "RING", "ROUTE", "forward").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
		t.Fatalf("RING ROUTE: %v, want NOPERM", err)
	}
	for i := range 50 {
		if err := rdb.Set(ctx, fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
