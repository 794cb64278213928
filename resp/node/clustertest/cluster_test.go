package clustertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/node"
)

func init() { redis.SetLogger(noLog{}) }

// noLog keeps the view of clients on nodes that are away out of the output.
type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

// TestClusterStarts shows how long clusters take to start, and checks that all their nodes serve all keys.
func TestClusterStarts(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			began := time.Now()
			c := Start(t, Config{Nodes: n})
			t.Logf("%d nodes are settled after %v", n, time.Since(began).Round(time.Millisecond))
			for i := range n {
				if err := c.Node(i).Do(t.Context(), "SET", fmt.Sprint("key", i), "value").Err(); err != nil {
					t.Error(err)
				}
			}
			for i := range n {
				if keys, err := c.Client(i).DBSize(t.Context()).Result(); int(keys) != n || err != nil {
					t.Errorf("node %d has %d keys, %v", i, keys, err)
				}
			}
		})
	}
}

// eventually waits, in virtual time, until a command succeeds.
func eventually(t *testing.T, what string, do func() error) {
	t.Helper()
	err := errors.New("not tried")
	for began := time.Now(); err != nil; time.Sleep(50 * time.Millisecond) {
		if err = do(); time.Since(began) > 20*time.Second {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// TestFaultsInVirtualTime kills, freezes, cuts off and stops nodes, and moves a clock: what was written is there.
func TestFaultsInVirtualTime(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := Start(t, Config{Latency: time.Millisecond})
		ctx := t.Context()
		set := func(i, version int) error {
			for k := range 20 {
				if err := c.Node(i).Do(ctx, "SET", fmt.Sprint("key", k), fmt.Sprint(version)).Err(); err != nil {
					return err
				}
			}
			return nil
		}
		check := func(i, version int) {
			t.Helper()
			eventually(t, "reads", func() error {
				for k := range 20 {
					got, err := c.Node(i).Do(ctx, "GET", fmt.Sprint("key", k)).Int()
					if err != nil {
						return err
					}
					if int(got) != version {
						t.Fatalf("key%d is %d, want %d", k, got, version)
					}
				}
				return nil
			})
		}
		if err := set(0, 1); err != nil {
			t.Fatal(err)
		}
		c.Kill(1)
		check(0, 1)
		eventually(t, "writes without the killed node", func() error { return set(2, 2) })
		c.Start(1)
		c.AwaitSettled()
		check(1, 2)

		c.Partition(0)
		eventually(t, "writes of the majority", func() error { return set(1, 3) })
		short, cancel := context.WithTimeout(ctx, time.Second)
		if err := c.Client(0).Ping(short).Err(); err == nil {
			t.Error("a node that is cut off can be reached")
		}
		cancel()
		c.Heal()
		c.AwaitSettled()
		check(0, 3)

		thaw := c.Freeze(2)
		eventually(t, "writes beside the frozen node", func() error { return set(0, 4) })
		thaw()
		c.AwaitSettled()
		check(2, 4)

		c.AdvanceClock(1, time.Hour)
		eventually(t, "writes after a jump of a clock", func() error { return set(1, 5) })
		c.Stop(0)
		check(1, 5)
		c.Start(0)
		c.AwaitSettled()
		check(0, 5)

		if err := c.Node(0).Do(ctx, "SET", "brief", "x", "EX", "2").Err(); err != nil {
			t.Error(err)
		}
		time.Sleep(3 * time.Second)
		if reply := c.Node(1).Do(ctx, "GET", "brief"); !reply.IsNull() {
			t.Errorf("the key has not expired: %v", reply.Err())
		}
	})
}

// TestConfigure changes settings, by which a client of Redis Cluster finds the nodes.
func TestConfigure(t *testing.T) {
	c := Start(t, Config{Nodes: 3, Configure: func(_ int, cfg *node.Config) {
		cfg.Hash, cfg.Route, cfg.RequirePass = node.HashSlot, node.RouteRedirect, ""
	}})
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Addr(0)}, Dialer: c.Dial})
	defer client.Close()
	for k := range 50 {
		if err := client.Set(t.Context(), fmt.Sprint("key", k), k, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	keys := 0
	err := client.ForEachMaster(t.Context(), func(ctx context.Context, one *redis.Client) error { return one.Ping(ctx).Err() })
	for i := range 3 {
		n, err := c.Node(i).Do(t.Context(), "DBSIZE").Int()
		if err != nil {
			t.Error(err)
		}
		keys = max(keys, int(n))
	}
	if err != nil || keys == 0 {
		t.Errorf("%d keys, %v", keys, err)
	}
}

// TestMisuseEndsTest uses nodes that are not there.
func TestMisuseEndsTest(t *testing.T) {
	c := Start(t, Config{Nodes: 1})
	for name, use := range map[string]func(*Cluster){
		"no such node":    func(c *Cluster) { c.Kill(1) },
		"negative index":  func(c *Cluster) { c.Node(-1) },
		"runs already":    func(c *Cluster) { c.Start(0) },
		"clock goes back": func(c *Cluster) { c.AdvanceClock(0, -1) },
		"too many nodes":  func(c *Cluster) { Start(c.t, Config{Nodes: maxNodes + 1}) },
	} {
		f := &fatal{TB: t}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			misused := *c
			misused.t = f
			use(&misused)
		}()
		<-ended
		if f.text == "" {
			t.Errorf("%s: the test goes on", name)
		}
	}
}

// fatal is a test that records how it ends.
type fatal struct {
	testing.TB
	text string
}

func (*fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
