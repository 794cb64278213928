package importer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/durable"
	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// wantRefused has an import refused for its state file, and looks whether the target still has a key of its own.
func wantRefused(t *testing.T, err error, reason string, target *redis.Client) {
	t.Helper()
	if !errors.Is(err, ErrState) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%v, want %q", err, reason)
	}
	if v := do(t, target, "GET own"); v != "stays" {
		t.Errorf("the key that the target had is %v", v)
	}
}

func keysOf(t *testing.T, c *redis.Client) int64 { return do(t, c, "DBSIZE").(int64) }

func TestStateFileOfAnotherTargetIsRefused(t *testing.T) {
	source, first, second := startSource(t, "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes"), startTarget(t), startTarget(t)
	do(t, source, "MSET a 1 b 2")
	do(t, second, "SET own stays")
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(source, first, state))
	for _, copies := range []string{"the stream continues", "all keys are copied"} {
		cfg := followConfig(source, second, state)
		cfg.Once = true
		wantRefused(t, Follow(t.Context(), cfg), `it is of an import into cluster "ringside"`, second)
		if n := keysOf(t, second); n != 1 {
			t.Errorf("%s: the second target has %d keys", copies, n)
		}
		do(t, source, "DEBUG CHANGE-REPL-ID") // as after a restart
	}
	if c := once(t, followConfig(source, first, state)); c.Keys != 2 {
		t.Errorf("the first target got %+v", c)
	}
}

func TestStateFileOfAnotherSourceIsRefused(t *testing.T) {
	start := func() *redis.Client {
		c := startSource(t, "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes")
		do(t, c, "DEBUG CHANGE-REPL-ID") // an earlier test may have had one server follow the other
		return c
	}
	redis7, other := start(), start()
	do(t, redis7, "SET own stays")
	do(t, other, "SET another source")
	target := startTarget(t)
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(redis7, target, state))
	cfg := followConfig(other, target, state)
	cfg.Once = true
	wantRefused(t, Follow(t.Context(), cfg), "does not continue that history", target)

	// A cluster of Ringside at the place of another.
	first, second := startTarget(t), startTarget(t)
	do(t, first, "SET own stays")
	target, state = startTarget(t), filepath.Join(t.TempDir(), "state")
	once(t, followConfig(first, target, state))
	cfg = followConfig(second, target, state)
	cfg.Once = true
	wantRefused(t, Follow(t.Context(), cfg), "does not continue that history", target)
}

func TestStateFileOfOtherKeysIsRefused(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0", "--enable-debug-command", "yes"), startTarget(t)
	do(t, source, "SET a 1")
	state := filepath.Join(t.TempDir(), "state")
	follow := func(change func(*FollowConfig)) error {
		cfg := followConfig(source, target, state)
		cfg.Once = true
		change(&cfg)
		return Follow(t.Context(), cfg)
	}
	into := func(m int) func(*FollowConfig) {
		return func(c *FollowConfig) { c.Filter.Databases = map[int]int{0: m} }
	}
	if err := follow(into(2)); err != nil {
		t.Fatal(err)
	}
	do(t, target, "SET own stays")
	do(t, source, "DEBUG CHANGE-REPL-ID")
	wantRefused(t, follow(into(0)), "the import takes database 0 into 2, not database 0 into 0", target)
	wantRefused(t, follow(func(c *FollowConfig) { into(2)(c); c.Filter.Match = "x*" }), `not database 0 into 2, keys that match "x*"`, target)
	if err := follow(into(2)); err != nil {
		t.Error(err)
	}

	// Other keys of the target were to stay.
	state = filepath.Join(t.TempDir(), "state")
	if err := follow(func(c *FollowConfig) { c.Merge = true }); err != nil {
		t.Fatal(err)
	}
	do(t, source, "DEBUG CHANGE-REPL-ID")
	wantRefused(t, follow(func(*FollowConfig) {}), "it needs merge again", target)
	if err := follow(func(c *FollowConfig) { c.Merge = true }); err != nil || do(t, target, "GET own") != "stays" {
		t.Errorf("%v", err)
	}
}

// Nothing is written into a second target, not even from the sources that have no state file.
func TestStateFilesOfPoolOfAnotherTargetAreRefused(t *testing.T) {
	servers := map[string]*redis.Client{
		"a": startSource(t, "--repl-diskless-sync-delay", "0"), "b": startSource(t, "--repl-diskless-sync-delay", "0"),
	}
	for i := range 20 {
		do(t, servers["a"], fmt.Sprint("SET ", i, " x"))
		do(t, servers["b"], fmt.Sprint("SET ", i, " x"))
	}
	state := filepath.Join(t.TempDir(), "state")
	follow := func(target *redis.Client, pool *Pool) error {
		var all []FollowConfig
		for _, name := range []string{"b", "a"} {
			cfg := followConfig(servers[name], target, state)
			cfg.Once = true
			all = append(all, pool.Source(name, cfg))
		}
		return FollowAll(t.Context(), all)
	}
	first, second := startTarget(t), startTarget(t)
	do(t, second, "SET own stays")
	pool := testPool(t, false)
	if err := follow(first, pool); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(state + ".b"); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, follow(second, pool), "it is of an import into", second)
	if n := keysOf(t, second); n != 1 {
		t.Errorf("the second target has %d keys", n)
	}
	heavier, err := NewPool(PoolConfig{
		Rule: ketama.Twemproxy, Hash: strategy.FNV1a, Servers: []ring.Member{{ID: "a", Weight: 3}, {ID: "b", Weight: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	do(t, first, "SET own stays")
	wantRefused(t, follow(first, heavier), `"a" of weight 1, "b" of weight 2, not all databases, keys of server "a"`, first)
}

func TestResumedImportIntoEmptiedTargetCopiesAllKeys(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	do(t, source, "MSET a 1 b 2")
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(source, target, state))
	do(t, target, "FLUSHALL")
	if c := once(t, followConfig(source, target, state)); c.Keys != 2 || len(c.Notes) != 1 {
		t.Errorf("%+v", c)
	}
	wantSame(t, source, target, 0, 0)
	if c := once(t, followConfig(source, target, state)); c.Keys != 0 || len(c.Notes) != 0 {
		t.Errorf("not emptied: %+v", c)
	}
}

func TestStateFileOfEarlierVersionIsRefused(t *testing.T) {
	source, target := startSource(t), startTarget(t)
	do(t, target, "SET own stays")
	state := filepath.Join(t.TempDir(), "state")
	text := []byte(`{"format":1,"source":"127.0.0.1:6379","replication_id":"x","offset":7,"database":0,"loaded":true}`)
	if err := durable.Replace(state, text); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, Follow(context.Background(), followConfig(source, target, state)), "it is of an earlier version", target)
}
