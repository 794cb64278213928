package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/client"
)

// A driver does one operation of size commands.
type driver struct {
	name string
	open func(b *testing.B, addr string) (do func(ctx context.Context, keys []string, value string) error)
}

// BenchmarkClients compares the Ring with go-redis and rueidis: 50 goroutines, SET and
// GET by turns of 64-byte values, each alone or 16 to a pipeline. The nodes are of this
// process, so that a command's cost is that of client and server. An operation is one
// command or one pipeline; the ratios are printed as metrics of the Ring's lines.
func BenchmarkClients(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		addr := benchCluster(b, nodes)
		for _, size := range []int{1, 16} {
			rates := make(map[string]float64)
			for _, d := range []driver{{"go-redis", driveGoRedis}, {"rueidis", driveRueidis}, {"ring", driveRing}} {
				b.Run(fmt.Sprintf("nodes=%d/pipeline=%d/%s", nodes, size, d.name), func(b *testing.B) {
					do := d.open(b, addr)
					driveAll(b, size, do)
					rate := float64(b.N*size) / b.Elapsed().Seconds()
					rates[d.name] = rate
					b.ReportMetric(rate, "commands/s")
					if d.name == "ring" {
						b.ReportMetric(rate/rates["go-redis"], "×go-redis")
						b.ReportMetric(rate/rates["rueidis"], "×rueidis")
					}
				})
			}
		}
	}
}

func driveAll(b *testing.B, size int, do func(context.Context, []string, string) error) {
	const goroutines = 50
	ctx := context.Background()
	value := strings.Repeat("v", 64)
	var left atomic.Int64
	run := func(n int) {
		left.Store(int64(n))
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				keys := make([]string, size)
				for i := g; left.Add(-1) >= 0; i++ {
					for j := range keys {
						keys[j] = fmt.Sprint("key:", (i*size+j)*7919%100000)
					}
					v := value
					if i%2 == 0 {
						v = ""
					}
					if err := do(ctx, keys, v); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	run(2000)
	b.ReportAllocs()
	b.ResetTimer()
	run(b.N)
}

func driveRing(b *testing.B, addr string) func(context.Context, []string, string) error {
	r, err := client.Open(context.Background(), client.Config{Addrs: []string{addr}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	return func(ctx context.Context, keys []string, value string) error {
		if len(keys) == 1 && value == "" {
			return r.Do(ctx, "GET", keys[0]).Err()
		} else if len(keys) == 1 {
			return r.Do(ctx, "SET", keys[0], value).Err()
		}
		p := r.Pipeline()
		for _, key := range keys {
			if value == "" {
				p.Do("GET", key)
			} else {
				p.Do("SET", key, value)
			}
		}
		_, err := p.Exec(ctx)
		return err
	}
}

func driveGoRedis(b *testing.B, addr string) func(context.Context, []string, string) error {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}})
	b.Cleanup(func() { _ = c.Close() })
	return func(ctx context.Context, keys []string, value string) error {
		one := func(c redis.Cmdable, key string) error {
			if value == "" {
				return c.Get(ctx, key).Err()
			}
			return c.Set(ctx, key, value, 0).Err()
		}
		var err error
		if len(keys) > 1 {
			p := c.Pipeline()
			for _, key := range keys {
				_ = one(p, key)
			}
			_, err = p.Exec(ctx)
		} else {
			err = one(c, keys[0])
		}
		if err == redis.Nil {
			err = nil
		}
		return err
	}
}

func driveRueidis(b *testing.B, addr string) func(context.Context, []string, string) error {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return func(ctx context.Context, keys []string, value string) error {
		command := func(key string) rueidis.Completed {
			if value == "" {
				return c.B().Get().Key(key).Build()
			}
			return c.B().Set().Key(key).Value(value).Build()
		}
		fault := func(r rueidis.RedisResult) error {
			if err := r.Error(); err != nil && !rueidis.IsRedisNil(err) {
				return err
			}
			return nil
		}
		if len(keys) == 1 {
			return fault(c.Do(ctx, command(keys[0])))
		}
		commands := make([]rueidis.Completed, len(keys))
		for i, key := range keys {
			commands[i] = command(key)
		}
		for _, r := range c.DoMulti(ctx, commands...) {
			if err := fault(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// benchCluster starts nodes whose tokens are slots, so that all clients route by
// themselves, and waits until each has its share.
func benchCluster(b *testing.B, n int) string {
	var nodes []*Node
	for i := range n {
		cfg := DefaultConfig()
		cfg.Addr, cfg.Dir, cfg.HTTPAddr, cfg.ID = "127.0.0.1:0", b.TempDir(), HTTPOff, fmt.Sprint("n", i)
		if n > 1 {
			cfg.Hash, cfg.env.Timing = "slot", members.Fast()
			cfg.BusAddr, cfg.GossipAddr = "127.0.0.1:0", "127.0.0.1:0"
		}
		if i > 0 {
			cfg.Join = []string{nodes[0].gossipAddr()}
		}
		nd, err := Open(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = nd.Close() })
		nodes = append(nodes, nd)
	}
	for end := time.Now().Add(time.Minute); n > 1; time.Sleep(10 * time.Millisecond) {
		if p := nodes[0].primaries(); len(p) == n && p["n0"] <= 256/n+1 {
			break
		}
		if time.Now().After(end) {
			b.Fatal("the nodes do not get their shares")
		}
	}
	return nodes[0].Addr().String()
}
