package strategy_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// What a ring of go-redis asks is asked of the node that the placement names.
func TestGoRedisRingAgreesWithThePlacement(t *testing.T) {
	randomtest.Draw(t, 3)
	for _, name := range strategy.Names() {
		for _, hash := range strategy.Hashes() {
			t.Run(name+" "+hash, func(t *testing.T) {
				placing, err := strategy.Config{Name: name, Hash: hash, Mask: 0xF}.New()
				if err != nil {
					t.Fatal(err)
				}
				testGoRedisRing(t, placing)
			})
		}
	}
}

func testGoRedisRing(t *testing.T, placing ring.Strategy) {
	dir, err := os.MkdirTemp("", "ring") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var members []ring.Member
	shards := map[string]*shard{}
	addrs := map[string]string{}
	for i := range 4 {
		id := "node-" + strconv.Itoa(i)
		members = append(members, ring.Member{ID: id, Weight: float64(1 + i)})
		shards[id] = &shard{name: id, addr: filepath.Join(dir, id)}
		shards[id].start(t)
		addrs[id] = shards[id].addr
	}
	placement, err := placing.Desired(ring.Input{Members: members, Backups: 1})
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewRing(&redis.RingOptions{
		Addrs: addrs,
		NewConsistentHash: func(shards []string) redis.ConsistentHash {
			return ring.NewLocator(placing.Token, placement, shards)
		},
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", addr)
		},
		HeartbeatFrequency: 5 * time.Millisecond,
		DialerRetries:      1,
	})
	defer client.Close()

	keys := clientKeys(t)
	expect := func(when string, want func(*ring.Row) string) {
		t.Helper()
		for _, key := range keys {
			row := placement.Lookup(placing.Token([]byte(key)))
			if got, err := client.Get(context.Background(), key).Result(); err != nil || got != want(row) {
				t.Fatalf("%s: %q is asked of %s, want %s of %+v, %v", when, key, got, want(row), row, err)
			}
		}
	}
	expect("all alive", func(row *ring.Row) string { return row.Primary })

	const failed = "node-2"
	shards[failed].stop()
	waitForShards(t, client, 3)
	expect("one down", func(row *ring.Row) string {
		if row.Primary == failed {
			return row.Backups[0]
		}
		return row.Primary
	})
	shards[failed].start(t)
	waitForShards(t, client, 4)
	expect("back again", func(row *ring.Row) string { return row.Primary })
}

func clientKeys(t *testing.T) []string {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	keys := []string{"", "{}", "{}a", "a{", "a{b", "{{a}}", "{a}{b}", "{a}", "a}b{c}", "{\x00}x", "\xff\x00{\xfe}"}
	for range 100 {
		keys = append(keys, fmt.Sprintf("user:%d", r.Uint32()), fmt.Sprintf("{user:%d}:%d", r.Uint32(), r.IntN(10)))
	}
	return keys
}

func waitForShards(t *testing.T, client *redis.Ring, n int) {
	t.Helper()
	resptest.WaitFor(t, fmt.Sprint(n, " live shards"), func() bool { return client.Len() == n })
}

// shard answers GET with its name.
type shard struct {
	name, addr string
	stop       func()
}

func (s *shard) start(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.stop = resptest.Serve(t, l, s.serve)
}

func (s *shard) serve(conn net.Conn) {
	r := resptest.NewRequests(conn)
	for {
		args, err := r.Next()
		if err != nil {
			return
		}
		switch strings.ToUpper(args[0]) {
		case "GET":
			io.WriteString(conn, resptest.Bulk(s.name))
		case "PING":
			io.WriteString(conn, "+PONG\r\n")
		default: // HELLO and CLIENT, which go-redis can do without
			io.WriteString(conn, "-ERR unknown command\r\n")
		}
	}
}
