package importer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/resptest"
	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/internal/identity"
)

// change makes one random change, many of which are another when they are made twice.
func change(r *rand.Rand) []any {
	key := func(name string) string { return fmt.Sprint(name, r.IntN(20)) }
	n := r.IntN(1000)
	switch r.IntN(30) {
	case 0:
		return []any{"INCR", key("counter")}
	case 1:
		return []any{"LPUSH", key("queue"), n}
	case 2:
		return []any{"RPOPLPUSH", key("queue"), key("queue")}
	case 3:
		return []any{"XADD", key("log"), "MAXLEN", "~", 50, "*", "n", n}
	case 4:
		return []any{"HINCRBY", key("table"), n % 50, n}
	case 5:
		return []any{"ZINCRBY", key("board"), n, n % 40}
	case 6:
		return []any{"APPEND", key("text"), n}
	case 7:
		return []any{"SETRANGE", key("text"), n, "x"}
	case 8:
		return []any{"SADD", key("group"), n % 100}
	case 9:
		return []any{"SPOP", key("group")}
	case 10:
		return []any{"PEXPIRE", key("counter"), 1 + n/2}
	case 11:
		return []any{"DEL", key("text")}
	case 12:
		return []any{"SET", key("text"), n, "EX", 1000 + n}
	case 13:
		return []any{"EVAL", "redis.call('INCR', KEYS[1]); return redis.call('RPUSH', KEYS[2], ARGV[1])", 2, key("counter"), key("queue"), n}
	case 14:
		return []any{"SUNIONSTORE", key("group"), key("group"), key("group")}
	case 15:
		return []any{"ZUNIONSTORE", key("board"), 2, key("board"), key("board"), "WEIGHTS", 1, 0.5}
	case 16:
		return []any{"COPY", key("text"), key("text"), "DB", 3, "REPLACE"}
	case 17:
		return []any{"MOVE", key("text"), 3}
	case 18:
		return []any{"LTRIM", key("queue"), 0, 40}
	case 19:
		return []any{"BITFIELD", key("text"), "INCRBY", "u8", n, 1}
	case 20:
		return []any{"PFADD", key("text") + "pf", n}
	case 21:
		return []any{"SORT", key("group"), "STORE", key("queue")}
	case 22:
		return []any{"GETDEL", key("counter")}
	case 23:
		return []any{"LINSERT", key("queue"), "BEFORE", n, "x"}
	case 24:
		return []any{"XTRIM", key("log"), "MAXLEN", 20}
	case 25:
		return []any{"LMOVE", key("queue"), key("queue"), "LEFT", "RIGHT"}
	}
	return []any{"INCRBY", key("counter"), n}
}

// writer writes until stop is called.
func writer(t testing.TB, c *redis.Client, seed uint64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		r := rand.New(rand.NewPCG(seed, 1))
		for ctx.Err() == nil {
			if _, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for range 20 {
					p.Do(ctx, change(r)...)
				}
				return nil
			}); err != nil {
				continue // WRONGTYPE and its like: the keys of some commands hold other types
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func followConfig(source, target *redis.Client, state string) FollowConfig {
	return FollowConfig{
		Config: Config{Target: targetConfig(target), Stats: new(Stats), RetryFor: resptest.Patience},
		Source: targetConfig(source), State: state,
	}
}

// once follows until the target has caught up.
func once(t testing.TB, cfg FollowConfig) Counts {
	t.Helper()
	cfg.Once = true
	ctx, cancel := context.WithTimeout(context.Background(), 2*resptest.Patience)
	defer cancel()
	if err := Follow(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	return cfg.Stats.Counts()
}

func TestFollowOnceCopiesEverything(t *testing.T) {
	for _, diskless := range []string{"no", "yes"} {
		source, target := startSource(t, "--repl-diskless-sync", diskless, "--repl-diskless-sync-delay", "0"), startTarget(t)
		fill(t, source, rand.New(rand.NewPCG(7, 8)))
		c := once(t, followConfig(source, target, ""))
		if c.Lost != 0 || c.Keys == 0 {
			t.Errorf("%+v", c)
		}
		wantSame(t, source, target, 0, 0)
		wantSame(t, source, target, 3, 3)
		err := Follow(context.Background(), followConfig(source, target, ""))
		if !errors.Is(err, ErrNotEmpty) {
			t.Errorf("into a target with keys: %v", err)
		}
	}
}

// Ringside gives an importer all values in its file, also those that a Redis 7.0 gets later or not at all.
func TestFollowOnceCopiesEverythingOfRingside(t *testing.T) {
	source, target := startTarget(t), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(9, 10)))
	for i := range 300 {
		do(t, source, "HSET", fmt.Sprint("timed", i), "a", 1, "b", 2)
		do(t, source, "HPEXPIRE", fmt.Sprint("timed", i), 3_600_000, "FIELDS", 1, "a")
		do(t, source, "JSON.SET", fmt.Sprint("doc", i), "$", fmt.Sprintf(`{"n":%d,"pad":"%s"}`, i, strings.Repeat("x", i*i)))
		do(t, source, "BF.MADD", fmt.Sprint("seen", i), i, i+1)
	}
	do(t, source, "BF.RESERVE large 0.0001 1000000")
	do(t, source, "BF.MADD large 1 2 3")
	if c := once(t, followConfig(source, target, "")); c.Lost != 0 {
		t.Errorf("%+v", c)
	}
	wantSame(t, source, target, 0, 0)
	wantSame(t, source, target, 3, 3)
}

// While clients write to the source, the import ends at any moment and goes on from its state file, or from an
// older one, as after a crash.
func TestInterruptedImportEndsWithTheSameData(t *testing.T) {
	t.Run("whole values", func(t *testing.T) { interrupt(t, 0) })
	t.Run("parts", func(t *testing.T) { interrupt(t, 200) })
}

func interrupt(t *testing.T, maxPart int) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	fill(t, source, r)
	state := filepath.Join(t.TempDir(), "state")
	stop := writer(t, source, seed)
	defer stop()
	for round := range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		cfg := followConfig(source, target, state)
		cfg.RDB.MaxPart = maxPart
		over := make(chan error, 1)
		go func() { over <- Follow(ctx, cfg) }()
		var old []byte
		enough := int64(r.IntN(3000))
		resptest.WaitFor(t, "changes", func() bool {
			if old == nil {
				old, _ = os.ReadFile(state)
			}
			return cfg.Stats.Counts().Changes > enough || round == 0 && cfg.Stats.Counts().Keys > 10
		})
		cancel()
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if old != nil && round%2 == 1 {
			if err := os.WriteFile(state, old, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	stop()
	cfg := followConfig(source, target, state)
	cfg.RDB.MaxPart = maxPart
	once(t, cfg)
	for n := range 4 {
		wantSame(t, source, target, n, n)
	}
}

func TestFollowAppliesFlushesAndSwaps(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(9, 10)))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cfg := followConfig(source, target, filepath.Join(t.TempDir(), "state"))
	over := make(chan error, 1)
	go func() { over <- Follow(ctx, cfg) }()
	same := func(what string) {
		t.Helper()
		resptest.WaitFor(t, what, func() bool {
			return len(compareDatabases(t, source, target, 0, 0)) == 0 && len(compareDatabases(t, source, target, 3, 3)) == 0
		})
	}
	same("first copy")
	resptest.WaitFor(t, "stream", func() bool { return cfg.Stats.Counts().Phase == "follow" })
	do(t, source, "SWAPDB 0 3")
	do(t, source, "SET after swap")
	same("SWAPDB")
	do(t, source, "FLUSHDB")
	do(t, source, "SET after flush")
	same("FLUSHDB")
	do(t, source, "EVAL", "redis.call('SELECT', 3); redis.call('SET', KEYS[1], 'x')", 1, "by-script")
	do(t, source, "SET gone x PX 20")
	same("script and expiry")
	do(t, source, "FLUSHALL")
	do(t, source, "INCR last")
	same("FLUSHALL")
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The stream has gone on for too long: the source sends all keys again. Keys that it has not any more are
// removed from the target.
func TestSecondCopyRemovesDeletedKeys(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "16kb"), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(11, 12)))
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(source, target, state))
	do(t, source, "DEL hash0 list1 user:3")
	for i := range 2000 {
		do(t, source, "SET", fmt.Sprint("new", i%50), "some text of a certain length")
	}
	once(t, followConfig(source, target, state))
	wantSame(t, source, target, 0, 0)
	wantSame(t, source, target, 3, 3)
}

func TestFollowFiltersKeysAndDatabases(t *testing.T) {
	source, target := startSource(t, "--repl-diskless-sync-delay", "0"), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(13, 14)))
	do(t, target, "SET mine stays")
	cfg := followConfig(source, target, filepath.Join(t.TempDir(), "state"))
	cfg.Filter = Filter{Databases: map[int]int{0: 2}, Match: "user:1*"}
	once(t, cfg)
	do(t, source, "DEL user:1 user:2")
	do(t, source, "SET user:10 new")
	cfg.Stats = new(Stats)
	once(t, cfg)
	for key := range compareKeys(t, source, target, 2) {
		t.Errorf("key %q", key)
	}
	if v := target.Get(context.Background(), "mine").Val(); v != "stays" {
		t.Errorf("%q", v)
	}
}

// compareKeys returns keys of the source's database 0 that match user:1* and are another in the target.
func compareKeys(t testing.TB, source, target *redis.Client, m int) map[string]bool {
	t.Helper()
	wrong := make(map[string]bool)
	conn := target.Conn()
	defer conn.Close()
	do(t, conn, "SELECT", m)
	keys := source.Keys(context.Background(), "user:1*").Val()
	for _, key := range keys {
		if conn.Get(context.Background(), key).Val() != source.Get(context.Background(), key).Val() {
			wrong[key] = true
		}
	}
	if n := conn.DBSize(context.Background()).Val(); n != int64(len(keys)) {
		wrong[fmt.Sprintf("%d keys, not %d", n, len(keys))] = true
	}
	do(t, conn, "SELECT 0")
	return wrong
}

func TestUnreachableSourceIsReported(t *testing.T) {
	target := startTarget(t)
	cfg := followConfig(target, target, "")
	cfg.Source.Addrs = []string{"127.0.0.1:1"}
	cfg.RetryFor = time.Millisecond
	if err := Follow(context.Background(), cfg); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A source that refuses PSYNC is read by SCAN, and followed by its events.
func TestSourceWithoutReplicationIsScanned(t *testing.T) {
	source, target := startSource(t, "--notify-keyspace-events", "KA"), startTarget(t)
	do(t, source, "ACL SETUSER default -psync")
	fill(t, source, rand.New(rand.NewPCG(15, 16)))
	ctx, cancel := context.WithCancel(context.Background())
	cfg := followConfig(source, target, filepath.Join(t.TempDir(), "state"))
	over := make(chan error, 1)
	go func() { over <- Follow(ctx, cfg) }()
	stop := writer(t, source, 17)
	resptest.WaitFor(t, "changes", func() bool { return cfg.Stats.Counts().Changes > 1000 })
	stop()
	resptest.WaitFor(t, "the same keys", func() bool {
		return len(compareDatabases(t, source, target, 0, 0)) == 0 && len(compareDatabases(t, source, target, 3, 3)) == 0
	})
	cancel()
	if err := <-over; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if c := cfg.Stats.Counts(); len(c.Notes) != 2 || c.Keys < 300 {
		t.Errorf("%+v", c)
	}
	do(t, source, "CONFIG SET notify-keyspace-events E")
	do(t, source, "DEL user:1 hash1")
	do(t, source, "SET user:2 new")
	cfg.Stats = new(Stats)
	if c := once(t, cfg); len(c.Notes) != 2 {
		t.Errorf("%+v", c)
	}
	wantSame(t, source, target, 0, 0)
}

// The source's replica takes its place. The import goes on there without copying all keys again.
func TestImportGoesOnAfterFailoverOfTheSource(t *testing.T) {
	first, second := startSource(t, "--repl-diskless-sync-delay", "0"), startSource(t, "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "1mb")
	target := startTarget(t)
	host, port, err := net.SplitHostPort(first.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, first, rand.New(rand.NewPCG(41, 42)))
	do(t, second, "REPLICAOF", host, port)
	defer do(t, second, "REPLICAOF NO ONE")
	resptest.WaitFor(t, "replica", func() bool {
		return strings.Contains(second.Info(context.Background(), "replication").Val(), "master_link_status:up")
	})
	state := filepath.Join(t.TempDir(), "state")
	once(t, followConfig(first, target, state))
	r := rand.New(rand.NewPCG(43, 44))
	for range 500 {
		_ = first.Do(context.Background(), change(r)...).Err() // some find another type
	}
	resptest.WaitFor(t, "replication", func() bool {
		offset := func(c *redis.Client) string {
			return identity.Field(c.Info(context.Background(), "replication").Val(), "master_repl_offset")
		}
		return offset(first) == offset(second)
	})
	do(t, second, "REPLICAOF NO ONE")
	do(t, second, "INCR after")
	c := once(t, followConfig(second, target, state))
	if c.Keys != 0 || c.Changes == 0 {
		t.Errorf("all keys were copied again: %+v", c)
	}
	for n := range 4 {
		wantSame(t, second, target, n, n)
	}
}

func TestStateFileIsOfOneImportAtATime(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	unlock, err := LockState(state)
	if err != nil {
		t.Fatal(err)
	}
	cfg := FollowConfig{State: state}
	cfg.Target.Addrs, cfg.Source.Addrs = []string{"127.0.0.1:1"}, []string{"127.0.0.1:1"}
	if err := Follow(context.Background(), cfg); !errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
	unlock()
	if err := Follow(context.Background(), cfg); err == nil || errors.Is(err, ErrInUse) {
		t.Errorf("%v", err)
	}
}
