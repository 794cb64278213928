package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/members"
)

// openMember opens a node of a cluster, with ports of its own.
func openMember(t *testing.T, id string, join ...string) *Node {
	t.Helper()
	return openMemberIn(t, t.TempDir(), id, join...)
}

func openMemberIn(t *testing.T, dir, id string, join ...string) *Node {
	t.Helper()
	return openTest(t, func(c *Config) {
		c.Dir, c.ID, c.Join, c.env.Timing = dir, id, join, members.Fast()
		c.HTTPAddr = HTTPOff
		c.BusAddr, c.GossipAddr = "127.0.0.1:0", "127.0.0.1:0"
		c.Cache, c.BlockCache = 8<<20, 8<<20
		c.Backups = 0 // who has a range is easier to tell; RING BACKUPS is for the others
		if os.Getenv("RINGSIDE_TEST_LOG") != "" {
			c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("at", id)
		}
	})
}

// exceptProfile leaves out the goroutine of a profile of the tests (-cpuprofile).
var exceptProfile = goleak.IgnoreAnyFunction("runtime/pprof.profileWriter")

// goneInTheEnd waits for what memberlist leaves behind for a while.
func goneInTheEnd(t *testing.T) {
	resptest.WaitFor(t, "no goroutine is left", func() bool { return goleak.Find(exceptProfile) == nil })
}

func (n *Node) gossipAddr() string {
	for _, m := range n.cluster.members.Nodes() {
		if m.ID == n.id {
			return m.GossipAddr
		}
	}
	return ""
}

// primaries are how many ranges each node serves, as this one knows.
func (n *Node) primaries() map[string]int {
	count := make(map[string]int)
	st := n.cluster.table.State()
	for row := range st.Rows() {
		count[row.Primary]++
	}
	return count
}

// closeAll ends the nodes that there are in the end.
func closeAll(t *testing.T, nodes *[]*Node) {
	for _, n := range *nodes {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// refused tells whether an error says that a command was not executed. On a machine that
// stalls for longer than a lease, a node may answer so at any time; that nothing is refused
// otherwise is for tests in virtual time.
func refused(err error) bool {
	return redis.HasErrorPrefix(err, "TRYAGAIN") || redis.HasErrorPrefix(err, "CLUSTERDOWN")
}

// read is GET, once more for as long as it is refused.
func read(t *testing.T, client *redis.Client, key string) (cmd *redis.StringCmd) {
	t.Helper()
	resptest.WaitFor(t, "an answer to GET "+key, func() bool {
		cmd = client.Get(context.Background(), key)
		return !refused(cmd.Err())
	})
	return cmd
}

// Two nodes join one that has data while clients write through all of them: every node
// serves every key, each gets its share, and nothing is lost.
func TestNodesJoinUnderLoad(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	defer goneInTheEnd(t)
	ctx := context.Background()
	nodes := []*Node{openMember(t, "a")}
	defer closeAll(t, &nodes)
	resptest.WaitFor(t, "a cluster of one", func() bool { return nodes[0].primaries()["a"] == 256 })
	first := redistest.Client(&redis.Options{Addr: nodes[0].Addr().String(), MaxRetries: -1})
	defer first.Close()
	for i := range 2000 {
		if err := first.Set(ctx, fmt.Sprint("key:", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}

	stop := make(chan struct{})
	var load sync.WaitGroup
	counts, unknown := make([]int64, 3), make([]int64, 3)
	count := func(w int, n *Node) {
		client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1, PoolSize: 1})
		load.Go(func() {
			defer client.Close()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				pipe := client.Pipeline()
				for j := range 10 {
					pipe.Incr(ctx, fmt.Sprintf("count:%d:%d", w, (i*10+j)%97))
				}
				cmds, _ := pipe.Exec(ctx)
				for _, cmd := range cmds {
					switch err := cmd.Err(); {
					case err == nil:
						counts[w]++
					case redis.HasErrorPrefix(err, "UNKNOWN"):
						unknown[w]++
					case !refused(err):
						t.Errorf("client of %s: %v", n.ID(), err)
						return
					}
				}
			}
		})
	}
	count(0, nodes[0])
	for i, id := range []string{"b", "c"} {
		nodes = append(nodes, openMember(t, id, nodes[0].gossipAddr()))
		resptest.WaitFor(t, id+" has its share", func() bool {
			for _, n := range nodes {
				p := n.primaries()
				if len(p) != i+2 || p["a"] > 256/(i+2)+1 || p[id] < 256/(i+2) {
					return false
				}
			}
			return true
		})
		count(i+1, nodes[i+1])
	}
	close(stop)
	load.Wait()
	for _, n := range nodes {
		client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1})
		defer client.Close()
		for i := range 2000 {
			if got, err := read(t, client, fmt.Sprint("key:", i)).Int(); err != nil || got != i {
				t.Fatalf("key:%d through %s is %d, %v", i, n.ID(), got, err)
			}
		}
		for w, want := range counts {
			sum := int64(0)
			for j := range 97 {
				got, err := read(t, client, fmt.Sprintf("count:%d:%d", w, j)).Int64()
				if err != nil && err != redis.Nil {
					t.Fatal(err)
				}
				sum += got
			}
			if sum < want || sum > want+unknown[w] {
				t.Errorf("client %d counted %d and perhaps %d more, through %s it is %d", w, want, unknown[w], n.ID(), sum)
			}
		}
	}
}

// A node that leaves takes nothing with it, and one that comes back after a stop has
// what it had.
func TestLeaveAndRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	defer goneInTheEnd(t)
	ctx := context.Background()
	a := openMember(t, "a")
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.primaries()["a"] == 256 })
	dir := t.TempDir()
	b, c := openMemberIn(t, dir, "b", a.gossipAddr()), openMember(t, "c", a.gossipAddr())
	defer c.Close()
	defer func() { b.Close() }() // or the tests that follow wait for its goroutines in vain
	shares(t, a, b, c)
	client := redistest.Client(&redis.Options{Addr: a.Addr().String(), MaxRetries: -1})
	defer client.Close()
	for i := range 1000 {
		if err := client.Set(ctx, fmt.Sprint("key:", i), i, time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
	}
	all := func() {
		t.Helper()
		for i := range 1000 {
			key := fmt.Sprint("key:", i)
			if got, err := client.Get(ctx, key).Int(); err != nil || got != i {
				t.Fatalf("%s is %d, %v", key, got, err)
			}
			if ttl := client.TTL(ctx, key).Val(); ttl < 50*time.Minute {
				t.Fatalf("%s lives for %v", key, ttl)
			}
		}
	}
	all()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openMemberIn(t, dir, "b", a.gossipAddr())
	defer func() { b.Close() }()
	resptest.WaitFor(t, "b is back", func() bool {
		n, err := client.Exists(ctx, "key:1", "key:2", "key:3", "key:4", "key:5", "key:6", "key:7").Result()
		return err == nil && n == 7
	})
	all()
	leaving, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := b.Leave(leaving); err != nil {
		t.Fatal(err)
	}
	if n := b.store.Keys(); n > 0 {
		resptest.WaitFor(t, "nothing is left", func() bool { return b.store.Keys() == 0 })
	}
	all()
	if p := a.primaries(); p["b"] != 0 || p["a"] != 128 || p["c"] != 128 {
		t.Errorf("%v", p)
	}
}
