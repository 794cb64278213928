package importer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"

	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
)

func testPool(t testing.TB, tags bool) *Pool {
	t.Helper()
	p, err := NewPool(PoolConfig{
		Rule: ketama.Twemproxy, Hash: strategy.FNV1a, Tags: tags,
		Servers: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPoolHashesWholeKeysUnlessItHasTags(t *testing.T) {
	whole, tags := testPool(t, false), testPool(t, true)
	differ := 0
	for i := range 1000 {
		plain, tagged := []byte(fmt.Sprint("key:", i)), []byte(fmt.Sprintf("{x}%d", i))
		if whole.Owner(plain) != tags.Owner(plain) {
			t.Errorf("%q is at %s and at %s", plain, whole.Owner(plain), tags.Owner(plain))
		}
		if tags.Owner(tagged) != tags.Owner([]byte("x")) {
			t.Errorf("%q is not where its tag is", tagged)
		}
		if whole.Owner(tagged) != tags.Owner(tagged) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("keys with tags are all where their tags are")
	}
	for _, hash := range []string{strategy.MD5, strategy.FNV1a} {
		f, err := strategy.Config{Name: strategy.Ketama, Hash: hash}.TokenFunc()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if key := []byte(fmt.Sprint(i)); f(key) != WholeKey[hash](key) {
				t.Errorf("%s of %q is %x, not %x", hash, key, WholeKey[hash](key), f(key))
			}
		}
	}
}

// Each server has a stale copy of every key. The right one is taken, also of keys that change or are flushed.
func TestPoolTakesKeysFromTheirServers(t *testing.T) {
	servers := map[string]*redis.Client{
		"a": startSource(t, "--repl-diskless-sync-delay", "0"), "b": startSource(t, "--repl-diskless-sync-delay", "0"),
	}
	target := startTarget(t)
	pool := testPool(t, false)
	state := filepath.Join(t.TempDir(), "state")
	write := func(round, n int) (want map[string]string) {
		want = make(map[string]string)
		for i := range n {
			key := fmt.Sprint("key:", i)
			for name, c := range servers {
				do(t, c, "SET", key, fmt.Sprint(name, round))
			}
			want[key] = fmt.Sprint(pool.Owner([]byte(key)), round)
		}
		return want
	}
	follow := func() []FollowConfig {
		t.Helper()
		var all []FollowConfig
		for name, c := range servers {
			cfg := followConfig(c, target, state)
			cfg.Once = true
			all = append(all, pool.Source(name, cfg))
		}
		if err := FollowAll(context.Background(), all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	check := func(want map[string]string) {
		t.Helper()
		if n := target.DBSize(context.Background()).Val(); n != int64(len(want)) {
			t.Errorf("%d keys, not %d", n, len(want))
		}
		for key, value := range want {
			if got := target.Get(context.Background(), key).Val(); got != value {
				t.Errorf("%s is %q, not %q", key, got, value)
			}
		}
	}
	want := write(1, 200)
	all := follow()
	check(want)
	misplaced := int64(0)
	for _, cfg := range all {
		misplaced += cfg.Stats.Counts().Misplaced
	}
	if misplaced != 200 {
		t.Errorf("%d keys are misplaced", misplaced)
	}
	want = write(2, 200)
	follow()
	check(want)
	do(t, servers["a"], "FLUSHALL")
	for key := range want {
		if pool.Owner([]byte(key)) == "a" {
			delete(want, key)
		}
	}
	follow()
	check(want)
	cfg := followConfig(servers["b"], target, "")
	if err := FollowAll(context.Background(), []FollowConfig{pool.Source("b", cfg)}); !errors.Is(err, ErrNotEmpty) {
		t.Error(err)
	}
}
