package node

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// On real sockets and disks: a node is killed under load, the others take over, nothing that
// was acknowledged is lost, and it comes back from its directory.
func TestKillUnderLoad(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	defer goneInTheEnd(t)
	ctx := context.Background()
	dir := t.TempDir()
	a := openMember(t, "a")
	nodes := []*Node{a, openMember(t, "b", a.gossipAddr())}
	defer closeAll(t, &nodes)
	victim := openMemberIn(t, dir, "c", a.gossipAddr())
	dial := func(n *Node) *redis.Client {
		return redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1, PoolSize: 1})
	}
	first := dial(a)
	defer first.Close()
	whole := func() bool {
		if first.Do(ctx, "RING", "BACKUPS", 1).Err() != nil {
			return false
		}
		for row := range a.cluster.table.State().Rows() {
			if len(row.Backups) != 1 || len(row.Learners) > 0 {
				return false
			}
		}
		return a.primaries()["a"] > 50 && a.primaries()["b"] > 50 && a.primaries()["c"] > 50
	}
	resptest.WaitFor(t, "three nodes with backups", whole)

	var load sync.WaitGroup
	var stop atomic.Bool
	var acked, unknown [3][40]int64
	for w, n := range []*Node{a, nodes[1], victim} {
		load.Go(func() {
			client := dial(n)
			defer client.Close()
			for i := 0; !stop.Load(); i++ {
				k := i % 40
				err := client.Incr(ctx, fmt.Sprintf("count:%d:%d", w, k)).Err()
				if err == nil {
					atomic.AddInt64(&acked[w][k], 1)
				} else if unknown[w][k]++; n == victim && i > 0 && i%50 == 0 {
					return // it is dead
				}
			}
		})
	}
	done := func(w int) (sum int64) {
		for k := range acked[w] {
			sum += atomic.LoadInt64(&acked[w][k])
		}
		return sum
	}
	resptest.WaitFor(t, "all write", func() bool { return done(0) > 200 && done(1) > 200 && done(2) > 200 })
	victim.Kill()
	before := done(0)
	resptest.WaitFor(t, "the others serve everything", func() bool {
		p := a.primaries()
		return p["a"]+p["b"] == 256 && done(0) > before+200
	})
	stop.Store(true)
	load.Wait()
	check := func() {
		t.Helper()
		for w := range acked {
			for k := range acked[w] {
				key := fmt.Sprintf("count:%d:%d", w, k)
				got, err := first.Get(ctx, key).Int64()
				if err == redis.Nil {
					err = nil
				}
				if err != nil || got < acked[w][k] || got > acked[w][k]+unknown[w][k] {
					t.Errorf("%s: %d, %v; %d were acknowledged, of %d nobody knows", key, got, err, acked[w][k], unknown[w][k])
				}
			}
		}
	}
	check()
	nodes = append(nodes, openMemberIn(t, dir, "c", a.gossipAddr()))
	resptest.WaitFor(t, "it is back", whole)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	first = dial(nodes[2])
	check()
}
