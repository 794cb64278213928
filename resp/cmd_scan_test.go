package resp

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/store"
)

// testClient returns a client of a server.
func testClient(t *testing.T, addr string) *redis.Client {
	c := redistest.Client(&redis.Options{Addr: addr, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestKeysAndScanFindTheSameAsRedis compares sets of keys, for many patterns.
func TestKeysAndScanFindTheSameAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 1))
	theirs := testClient(t, redistest.Start7(t))
	_, addr := serveTest(t, nil)
	ours := testClient(t, addr)
	ctx := context.Background()
	for range 2000 {
		key := make([]byte, rnd.IntN(6))
		for i := range key {
			key[i] = "abc{}*?[]\\^-\x00\xff"[rnd.IntN(14)]
		}
		theirs.Set(ctx, string(key), "v", 0)
		ours.Set(ctx, string(key), "v", 0)
	}
	for i := range 100 {
		pattern := make([]byte, 1+rnd.IntN(5))
		for i := range pattern {
			pattern[i] = "abc*?[]\\^-"[rnd.IntN(10)]
		}
		if i == 0 {
			pattern = []byte("*")
		}
		if allStars(pattern) && len(pattern) > 1 {
			continue // see Match: only Redis does not let it match the empty key
		}
		want := theirs.Keys(ctx, string(pattern)).Val()
		slices.Sort(want)
		for name, got := range map[string][]string{
			"KEYS": ours.Keys(ctx, string(pattern)).Val(),
			"SCAN": scanAll(t, ours, string(pattern), 1+rnd.Int64N(200)),
		} {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s %q finds %d keys, Redis %d: %.200q, %.200q", name, pattern, len(got), len(want), got, want)
			}
		}
	}
}

func allStars(pattern []byte) bool { return len(bytes.Trim(pattern, "*")) == 0 }

func scanAll(t *testing.T, c *redis.Client, pattern string, count int64) (keys []string) {
	t.Helper()
	it := c.Scan(context.Background(), 0, pattern, count).Iterator()
	for it.Next(context.Background()) {
		keys = append(keys, it.Val())
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestScanWhileKeysComeAndGo: whoever is there throughout is returned.
func TestScanWhileKeysComeAndGo(t *testing.T) {
	randomtest.Draw(t, 3)
	_, addr := serveTest(t, nil)
	c := testClient(t, addr)
	ctx := context.Background()
	name := func(kind string, i int) string {
		if i%2 == 0 {
			return fmt.Sprintf("{tag}:%s:%d", kind, i) // all of one token
		}
		return fmt.Sprintf("%s:%d", kind, i)
	}
	n, counts := 3000, []int64{1, 10, 1000}
	if testing.Short() {
		n, counts = 200, []int64{10}
	}
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(ctx, name("stays", i), i, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var churn sync.WaitGroup
	churn.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			p := c.Pipeline()
			for j := range 50 {
				p.Set(ctx, name("comes", i*50+j), "x", 0)
				p.Unlink(ctx, name("comes", (i-20)*50+j))
			}
			_, _ = p.Exec(ctx)
		}
	})
	for _, count := range counts {
		seen := map[string]int{}
		for _, key := range scanAll(t, c, "*stays*", count) {
			seen[key]++
		}
		for i := range n {
			if seen[name("stays", i)] != 1 {
				t.Errorf("COUNT %d: %s returned %d times", count, name("stays", i), seen[name("stays", i)])
			}
		}
	}
	close(stop)
	churn.Wait()
}

// TestScanRepliesAreBounded: COUNT is a wish.
func TestScanRepliesAreBounded(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	long := strings.Repeat("k", 10_000)
	for i := range 300 {
		o.Do("SET", fmt.Sprint(long, i), "v")
	}
	cursor, calls, keys := "0", 0, 0
	for ; calls == 0 || cursor != "0"; calls++ {
		v := o.Do("SCAN", cursor, "COUNT", "9223372036854775807")
		if n := len(v.Elems[1].Elems) * len(long); n > 2*scanReply {
			t.Errorf("%d bytes in one reply", n)
		}
		cursor = v.Elems[0].Text
		keys += len(v.Elems[1].Elems)
		if n, err := strconv.ParseUint(cursor, 10, 64); err != nil || n >= 1<<53 {
			t.Errorf("cursor %s", cursor)
		}
	}
	if calls < 3 || keys != 300 {
		t.Errorf("%d keys in %d calls", keys, calls)
	}
	if v := o.Do("SCAN", "9007199254740992"); v.String() != "*($0 *)" {
		t.Errorf("a cursor that no scan returns: %s", v)
	}
}

// TestKeysStopsAtTheOutputBuffer with an error, and the connection goes on.
func TestKeysStopsAtTheOutputBuffer(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 200_000 })
	o := resptest.Dial(t, addr, 3)
	long := strings.Repeat("k", 1000)
	for i := range 190 {
		o.Do("SET", fmt.Sprint(long, i), "v")
	}
	if v := o.Do("KEYS", "*"); len(v.Elems) != 190 {
		t.Errorf("%d keys, %.100s", len(v.Elems), v)
	}
	for i := range 10 {
		o.Do("SET", fmt.Sprint(long, "more", i), "v")
	}
	if v := o.Do("KEYS", "*"); v.Text != "ERR the reply would exceed the output buffer of 200000 bytes" {
		t.Errorf("%.100s", v)
	}
	if v := o.Do("KEYS", "*more*"); len(v.Elems) != 10 {
		t.Errorf("%d keys, %.100s", len(v.Elems), v)
	}
	// What waits before it counts as well.
	if _, err := o.C.Write([]byte(strings.Repeat("ECHO "+long+"\r\n", 30) + "KEYS *[0-9]\r\n")); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if v, err := o.Read(); err != nil || v.Text != long {
			t.Fatalf("%.100s, %v", v, err)
		}
	}
	if v, err := o.Read(); err != nil || v.Kind != '-' {
		t.Errorf("%.100s, %v", v, err)
	}
}

// TestKeysWithoutMemory: a client whose reply the server has no room for is closed,
// and nobody else.
func TestKeysWithoutMemory(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.ClientMemory = 1 << 20 })
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	long := strings.Repeat("k", 10_000)
	for i := range 300 {
		other.Do("SET", fmt.Sprint(long, i), "v")
	}
	srv.budget.Occupy(new(budget.Account), 1<<20) // somebody has what may exceed the limit
	if _, err := o.C.Write([]byte("PING\r\nKEYS *\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	_ = o.C.SetReadDeadline(time.Now().Add(resptest.Patience))
	for {
		v, err := o.Read()
		if err != nil {
			break
		}
		if v.Text != "PONG" {
			t.Errorf("%.100s", v)
		}
	}
	if v := other.Do("PING"); v.Text != "PONG" {
		t.Error(v)
	}
}

// TestRandomkeyReturnsAnyKey in the end.
func TestRandomkeyReturnsAnyKey(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	missing := map[string]bool{}
	for i := range 20 {
		for _, key := range []string{fmt.Sprint("k", i), fmt.Sprint("{tag}", i)} {
			o.Do("SET", key, "v")
			missing[key] = true
		}
	}
	for i := 0; i < 5000 && len(missing) > 0; i++ {
		delete(missing, o.Do("RANDOMKEY").Text)
	}
	if len(missing) > 0 {
		t.Errorf("never returned: %v", missing)
	}
}
