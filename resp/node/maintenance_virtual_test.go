package node

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Clients of go-redis as they are by default, but without retries, are connected to nodes that are
// restarted one after the other: no command fails, since they move before their node stops.
func TestClientsMoveBeforeTheirNodeStops(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.settled()
		client := redis.NewClient(&redis.Options{
			Addr: c.nodes["a"].ip + ":6379", MaxRetries: -1,
			// All connections are in use: of one of TCP that is idle it looks, before it uses it,
			// whether it is still there, but not of these.
			PoolFIFO: true,
			Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
				return c.net.Host("10.0.1.1").Dial(ctx, addr)
			},
		})
		ctx, cancel := context.WithCancel(context.Background())
		var apps sync.WaitGroup
		var made [4]int64
		var failed atomic.Int64
		for i := range made {
			apps.Go(func() {
				key := fmt.Sprint("counter", i)
				for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
					n, err := client.Incr(context.Background(), key).Result()
					if err != nil {
						failed.Add(1)
						t.Errorf("%s after %d: %v", key, made[i], err)
						return
					}
					if made[i]++; n != made[i] {
						t.Errorf("%s: %d instead of %d", key, n, made[i])
						return
					}
				}
			})
		}
		for i, id := range []string{"a", "b", "c", "a"} {
			time.Sleep(300 * time.Millisecond)
			before := c.nodes[id].server.Notices.Len()
			began := time.Now()
			c.stop(id)
			c.say("%s stopped in %v; it had %d clients", id, time.Since(began), before)
			if i == 0 && before == 0 {
				t.Error("go-redis has not asked for notifications")
			}
			time.Sleep(500 * time.Millisecond)
			c.start(id, map[string]string{"a": "b", "b": "c", "c": "a"}[id])
			c.ready(id)
			c.settled()
		}
		cancel()
		apps.Wait()
		if pool := client.PoolStats(); pool.StaleConns > 0 || failed.Load() > 0 {
			t.Errorf("%d connections broke", pool.StaleConns)
		}
		_ = client.Close()
		c.close()
	})
}
