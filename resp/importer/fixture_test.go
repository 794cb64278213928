package importer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/client"
	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node"
)

// startSource returns a client of a redis-server 7.0.
func startSource(t testing.TB, options ...string) *redis.Client {
	t.Helper()
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t, options...), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// startTarget returns a client of a cluster of one node.
func startTarget(t testing.TB, change ...func(*node.Config)) *redis.Client {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir = "127.0.0.1:0", t.TempDir()
	for _, f := range change {
		f(&cfg)
	}
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1})
	t.Cleanup(func() {
		_ = c.Close()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func targetConfig(c *redis.Client) client.Config {
	return client.Config{Addrs: []string{c.Options().Addr}}
}

// do runs a command of words with spaces between them.
func do(t testing.TB, c interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}, command string, args ...any) any {
	t.Helper()
	var words []any
	for _, word := range strings.Fields(command) {
		words = append(words, word)
	}
	v, err := c.Do(context.Background(), append(words, args...)...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("%s: %v", command, err)
	}
	return v
}

// fill writes keys of every type, small and large ones, in two databases.
func fill(t testing.TB, c *redis.Client, r *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	text := func(n int) string { return strings.Repeat(string(rune('a'+r.IntN(26))), n) + fmt.Sprint(r.IntN(1e6)) }
	pipe := c.Pipeline()
	for i, size := range []int{1, 5, 60, 600} {
		for j := range size {
			e := fmt.Sprintf("%d-%d", i, j)
			pipe.Do(ctx, "RPUSH", fmt.Sprint("list", i), text(r.IntN(80)), j)
			pipe.Do(ctx, "SADD", fmt.Sprint("set", i), e)
			pipe.Do(ctx, "SADD", fmt.Sprint("ints", i), j*j*j*j)
			pipe.Do(ctx, "HSET", fmt.Sprint("hash", i), e, text(r.IntN(40)), j, j)
			pipe.Do(ctx, "ZADD", fmt.Sprint("zset", i), r.NormFloat64(), e, "inf", "top", "-inf", "low", "-0", "zero")
			pipe.Do(ctx, "XADD", fmt.Sprint("stream", i), "*", "field", text(r.IntN(50)), "n", j)
		}
		pipe.Do(ctx, "RPUSH", fmt.Sprint("long", i), text(100*size), text(20*size))
		pipe.Do(ctx, "XGROUP", "CREATE", fmt.Sprint("stream", i), "g", "0")
		pipe.Do(ctx, "XGROUP", "CREATECONSUMER", fmt.Sprint("stream", i), "g", "idle")
		pipe.Do(ctx, "XREADGROUP", "GROUP", "g", "me", "COUNT", size/2+1, "STREAMS", fmt.Sprint("stream", i), ">")
		pipe.Do(ctx, "PEXPIRE", fmt.Sprint("zset", i), 3_600_000+i)
	}
	for _, n := range []int{0, 1, 20, 21, 63, 64, 16383, 16384, 100_000} {
		pipe.Do(ctx, "SET", fmt.Sprint("string", n), text(n))
	}
	for i := range 300 {
		pipe.Do(ctx, "SET", fmt.Sprint("user:", i), i)
	}
	pipe.Do(ctx, "SELECT", 3)
	pipe.Do(ctx, "SET", "string1", "of database 3", "PX", 3_600_000)
	pipe.Do(ctx, "SELECT", 0)
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
}

// wantSame compares a database of the source with one of the target, key by key. A key may expire while
// it is compared, so it does so again; what differs for good differs every time.
func wantSame(t testing.TB, source, target *redis.Client, n, m int) {
	t.Helper()
	const often = 200
	var differences []string
	for range often {
		if differences = compareDatabases(t, source, target, n, m); len(differences) == 0 {
			return
		}
	}
	t.Errorf("%d differences: %.1000q", len(differences), differences)
}

func compareDatabases(t testing.TB, source, target *redis.Client, n, m int) (differences []string) {
	t.Helper()
	dump := func(c *redis.Client, database int) map[string]string {
		conn := c.Conn()
		defer conn.Close()
		do(t, conn, "SELECT", database)
		defer do(t, conn, "SELECT 0")
		all := make(map[string]string)
		for _, key := range conn.Keys(context.Background(), "*").Val() {
			payload, err := conn.Dump(context.Background(), key).Result()
			if errors.Is(err, redis.Nil) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			d, _, err := DigestOf([]byte(payload), false)
			if err != nil {
				t.Fatalf("%q: %v", key, err)
			}
			all[key] = fmt.Sprintf("%x %v", d, do(t, conn, "PEXPIRETIME", key))
		}
		return all
	}
	want, got := dump(source, n), dump(target, m)
	for key, d := range want {
		if got[key] != d {
			differences = append(differences, fmt.Sprintf("%s: %s here, %s there", key, d, got[key]))
		}
		delete(got, key)
	}
	for key := range got {
		differences = append(differences, key+" is only at the target")
	}
	return differences
}
