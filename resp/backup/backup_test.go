package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/backup/internal/s3test"
	"github.com/ringside-kv/ringside/resp/backup/internal/storage"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/internal/identity"
	"github.com/ringside-kv/ringside/resp/node"
)

// startNode opens a node, by itself or beside others.
func startNode(t *testing.T, change func(*node.Config)) (*node.Node, *redis.Client) {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.MinFreeDisk = "127.0.0.1:0", t.TempDir(), 0
	change(&cfg)
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
	if err := errors.Join(c.Set(t.Context(), "x", "", 0).Err(), c.Del(t.Context(), "x").Err()); err != nil { // it has a cluster by then
		t.Fatal(err)
	}
	return n, c
}

// do runs a command of words with spaces between them, in a database.
func do(t *testing.T, c *redis.Client, database int, command string, args ...any) any {
	t.Helper()
	words := []any{}
	for _, word := range strings.Fields(command) {
		words = append(words, word)
	}
	conn := c.Conn()
	defer conn.Close()
	if err := conn.Select(t.Context(), database).Err(); err != nil {
		t.Fatal(err)
	}
	v, err := conn.Do(t.Context(), append(words, args...)...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("%s: %v", command, err)
	}
	return v
}

var databases = []int{0, 3, 5}

// fill writes values of all types, small and large.
func fill(t *testing.T, c *redis.Client, salt string) {
	t.Helper()
	for _, db := range databases {
		for i := range 6 {
			key := fmt.Sprint(i)
			n := 1 + i*i*i*i
			do(t, c, db, "SET string"+key, strings.Repeat(salt, n*100))
			for part := range 1 + n/100 {
				var members, pairs, scored []any
				for j := range min(n, 100) {
					m := fmt.Sprint(salt, part, ".", j)
					members, pairs, scored = append(members, m), append(pairs, m, j), append(scored, j%7, m)
				}
				do(t, c, db, "RPUSH list"+key, members...)
				do(t, c, db, "SADD set"+key, members...)
				do(t, c, db, "HSET hash"+key, pairs...)
				do(t, c, db, "ZADD zset"+key, scored...)
			}
			do(t, c, db, "JSON.SET doc"+key+" $", fmt.Sprintf(`{"n":%d,"pad":"%s"}`, n, strings.Repeat(salt, n*50)))
			do(t, c, db, "BF.MADD seen"+key, salt, n)
			do(t, c, db, "XADD stream"+key+" *", "f", salt)
			do(t, c, db, "XGROUP CREATE stream"+key+" g"+salt+" 0")
			do(t, c, db, "XREADGROUP GROUP g"+salt+" me STREAMS stream"+key+" >")
		}
	}
}

// content returns what a key holds, in an order that is the same for the same value.
func content(t *testing.T, c *redis.Client, db int, key any) string {
	t.Helper()
	switch do(t, c, db, "TYPE", key) {
	case "string":
		return fmt.Sprint(do(t, c, db, "GET", key))
	case "list":
		return fmt.Sprint(do(t, c, db, "LRANGE", key, 0, -1))
	case "set":
		return fmt.Sprint(do(t, c, db, "SORT", key, "ALPHA"))
	case "hash":
		return fmt.Sprint(do(t, c, db, "HGETALL", key)) // a map is printed in the order of its keys
	case "zset":
		return fmt.Sprint(do(t, c, db, "ZRANGE", key, 0, -1, "WITHSCORES"))
	case "ReJSON-RL":
		return fmt.Sprint(do(t, c, db, "JSON.GET", key))
	case "MBbloom--":
		return fmt.Sprint(do(t, c, db, "DUMP", key))
	}
	return fmt.Sprint(do(t, c, db, "XRANGE", key, "-", "+"), do(t, c, db, "XINFO GROUPS", key), do(t, c, db, "XPENDING", key, "gold"))
}

// digests returns what the keys of a server hold, with their expiry times.
func digests(t *testing.T, c *redis.Client) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, db := range databases {
		keys, ok := do(t, c, db, "KEYS *").([]any)
		if !ok {
			t.Fatal("KEYS")
		}
		for _, key := range keys {
			all[fmt.Sprint(db, " ", key)] = content(t, c, db, key) + fmt.Sprint(do(t, c, db, "PEXPIRETIME", key))
		}
	}
	return all
}

func sourceOf(c *redis.Client) client.Config { return client.Config{Addrs: []string{c.Options().Addr}} }

// TestBackupIsRestoredIntoOtherCluster takes a backup of two nodes, of which everything changes once the moment is
// agreed on, finds damage in it, and restores it into one node of another strategy.
func TestBackupIsRestoredIntoOtherCluster(t *testing.T) {
	t.Parallel()
	first, source := startNode(t, func(c *node.Config) { c.ID, c.Strategy, c.Databases = "a", "buckets", 16 })
	do(t, source, 0, "RING DATABASE 5 TOGETHER")
	fill(t, source, "old")
	later := time.Now().Add(time.Hour).UnixMilli()
	do(t, source, 0, "PEXPIREAT string1", later)
	do(t, source, 0, "HSET timed f 1 g 2")
	do(t, source, 0, "HPEXPIREAT timed", later, "FIELDS", 1, "f")
	do(t, source, 0, "ACL SETUSER alice on >secret ~a* +get")
	do(t, source, 0, "FUNCTION LOAD", "#!lua name=lib\nredis.register_function('seven', function() return 7 end)")
	want := digests(t, source)
	dir := filepath.Join(t.TempDir(), "backup")
	progress := new(Progress)
	m, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir, Progress: progress, started: func() {
		fill(t, source, "new")
		do(t, source, 3, "FLUSHDB")
		do(t, source, 0, "DEL hash5 zset4 list3")
	}})
	if err != nil {
		t.Fatal(err)
	}
	keys, size := m.Keys()
	if keys != int64(len(want)) || size != progress.Bytes.Load() || m.Moment.Strategy != "buckets" || len(m.Moment.Together) != 1 {
		t.Errorf("%d keys of %d, %d bytes, %+v", keys, len(want), size, m.Moment)
	}
	if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir}); err == nil || !strings.Contains(err.Error(), "holds a backup already") {
		t.Errorf("into the same directory: %v", err)
	}
	if verified, err := Verify(t.Context(), dir, Access{}, nil); err != nil || verified.Moment.ID != m.Moment.ID {
		t.Errorf("verify: %v", err)
	}
	if err := first.Err(); err != nil {
		t.Error(err)
	}
	_, target := startNode(t, func(c *node.Config) { c.Strategy, c.Databases = "vnode", 2 })
	restore := func(change func(*RestoreConfig)) (importer.Counts, error) {
		cfg := RestoreConfig{From: dir, Import: importer.Config{Target: sourceOf(target), Stats: new(importer.Stats)}}
		if change != nil {
			change(&cfg)
		}
		_, err := Restore(t.Context(), cfg)
		return cfg.Import.Stats.Counts(), err
	}
	checkPlaces(t, source, target, m.Moment.Databases)
	findDamage(t, dir, m, func() error { _, err := restore(nil); return err })
	state := filepath.Join(t.TempDir(), "state")
	counts, err := restore(func(c *RestoreConfig) { c.State = state })
	if err != nil || counts.Expired != 0 || counts.Lost != 0 {
		t.Errorf("%+v, %v", counts, err)
	}
	check := func() {
		t.Helper()
		got := digests(t, target)
		if maps.Equal(got, want) {
			return
		}
		for key, digest := range want {
			if got[key] != digest {
				t.Errorf("%s: %s instead of %s", key, got[key], digest)
			}
		}
		t.Errorf("%d keys instead of %d", len(got), len(want))
	}
	check()
	if v := do(t, target, 0, "FCALL seven 0"); v != int64(7) {
		t.Errorf("the function returns %v", v)
	}
	if users := fmt.Sprint(do(t, target, 0, "ACL LIST")); !strings.Contains(users, "user alice on") || !strings.Contains(users, "~a*") {
		t.Error(users)
	}
	if _, err := restore(nil); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("once more: %v", err)
	}
	// Runs that were killed: of one two hours later, with a key that has expired since, and then of this one.
	for _, test := range []struct{ shift, expired int64 }{{-7_200_000, 1}, {0, 0}} {
		text := fmt.Sprintf(`{"format":2,"id":%q,"target":{"generation":%q},"shift_ms":%d,"done":0,"offset":9}`, m.Moment.ID, generationOf(t, target), test.shift)
		if err := os.WriteFile(state, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		counts, err := restore(func(c *RestoreConfig) { c.State = state })
		if has := do(t, target, 0, "EXISTS string1"); err != nil || counts.Expired != test.expired || has != 1-test.expired {
			t.Errorf("resumed: %+v, %v, %v", counts, has, err)
		}
	}
	check()
	if err := os.WriteFile(state, []byte(`{"format":2,"id":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := restore(func(c *RestoreConfig) { c.State = state }); err == nil || !strings.Contains(err.Error(), "of another backup") {
		t.Errorf("with another state: %v", err)
	}
	if counts, err = restore(func(c *RestoreConfig) { c.Merge, c.KeepTTL = true, true }); err != nil || counts.Expired != 0 {
		t.Errorf("with keys that live on: %+v, %v", counts, err)
	}
	if at := do(t, target, 0, "PEXPIRETIME string1"); at.(int64) < later {
		t.Errorf("it expires at %v, before %d", at, later)
	}
	if at, ok := do(t, target, 0, "HPEXPIRETIME timed FIELDS 2 f g").([]any); !ok || at[0].(int64) < later+1 || at[1] != int64(-1) {
		t.Errorf("fields expire at %v, the first not after %d", at, later)
	}
}

// generationOf returns what tells a cluster from others.
func generationOf(t *testing.T, c *redis.Client) string {
	t.Helper()
	return identity.Field(fmt.Sprint(do(t, c, 0, "RING INFO")), "generation")
}

// checkPlaces takes backups to a stream and a bucket, and restores them. It leaves the target empty.
func checkPlaces(t *testing.T, source, target *redis.Client, databases int) {
	t.Helper()
	service := s3test.New(t)
	var stream bytes.Buffer
	place := "s3://" + s3test.Bucket + "/a/b"
	access := Access{Env: service.Env(), Out: &stream}
	do(t, source, 0, "SET only here")
	want := digests(t, source)
	take := func(to string) error {
		_, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: to, Access: access})
		return err
	}
	service.ReadOnly.Store(true)
	if err := take(place); err == nil || !strings.Contains(err.Error(), "Writes are refused") {
		t.Errorf("a bucket that refuses writes: %v", err)
	}
	service.ReadOnly.Store(false)
	_, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: place, Access: access, started: func() { service.Gone.Store(true) }})
	if err == nil || !strings.Contains(err.Error(), "bucket "+s3test.Bucket) {
		t.Errorf("a service that ends meanwhile: %v", err)
	}
	service.Gone.Store(false)
	if _, err := Verify(t.Context(), place, access, nil); !errors.Is(err, ErrNoBackup) {
		t.Errorf("what a failed backup has left: %v", err)
	}
	if err := take(place); !errors.Is(err, storage.ErrClaimed) {
		t.Errorf("it could not remove its claim: %v", err)
	}
	left, err := storage.OpenTarget(t.Context(), place, access)
	if err == nil {
		err = left.Remove(t.Context(), "backup.claim")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"-", place} {
		if err := take(to); err != nil {
			t.Fatal(to, err)
		}
		access.In = bytes.NewReader(stream.Bytes())
		m, err := Verify(t.Context(), to, access, nil)
		if err != nil || m.Moment.Databases != databases {
			t.Errorf("%s: %+v, %v", to, m, err)
			continue
		}
		access.In = bytes.NewReader(stream.Bytes())
		cfg := RestoreConfig{From: to, Access: access, Import: importer.Config{Target: sourceOf(target), Stats: new(importer.Stats)}}
		if _, err := Restore(t.Context(), cfg); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		if got := digests(t, target); !maps.Equal(got, want) {
			t.Errorf("%s: %d keys instead of %d, or others", to, len(got), len(want))
		}
		do(t, target, 0, "FLUSHALL")
	}
	if err := take(place); err == nil || !strings.Contains(err.Error(), "holds a backup already") {
		t.Errorf("into the same bucket: %v", err)
	}
	// A stream that is cut or damaged anywhere is none. Behind the manifest there are zeros, of which a tar
	// archive may lack some.
	whole := stream.Bytes()
	end := bytes.LastIndexByte(whole, '}')
	for i := range 40 {
		n := end - i
		if i > 0 {
			n = rand.IntN(end)
		}
		access.In = bytes.NewReader(whole[:n])
		if _, err := Verify(t.Context(), "-", access, nil); err == nil {
			t.Errorf("%d bytes of %d count as a backup", n, len(whole))
		}
		access.In = bytes.NewReader(whole[:n])
		cfg := RestoreConfig{From: "-", Access: access, Import: importer.Config{Target: sourceOf(target), Stats: new(importer.Stats)}}
		if _, err := Restore(t.Context(), cfg); err == nil {
			t.Errorf("%d bytes of %d are restored", n, len(whole))
		}
	}
	at := bytes.Index(whole, []byte("REDIS0"))
	whole[at+100] ^= 1
	access.In = bytes.NewReader(whole)
	if _, err := Verify(t.Context(), "-", access, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("a changed byte: %v", err)
	}
	if n := do(t, target, 0, "DBSIZE"); n != int64(0) {
		t.Errorf("streams that are no backups have left %v keys", n)
	}
	do(t, source, 0, "DEL only")
}

// findDamage changes files of a backup, and has it verified and restored.
func findDamage(t *testing.T, dir string, m *Manifest, restore func() error) {
	t.Helper()
	path := filepath.Join(dir, m.Files[0].Name)
	manifest := filepath.Join(dir, manifestName)
	for _, test := range []struct {
		name, path string
		change     func([]byte) []byte
		want       string
	}{
		{"flipped bit", path, func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, "damaged"},
		{"truncated", path, func(b []byte) []byte { return b[:len(b)-1] }, "damaged"},
		{"empty", path, func(b []byte) []byte { return nil }, "damaged"},
		{"longer", path, func(b []byte) []byte { return append(b, 0) }, "damaged"},
		{"missing", path, nil, "no such file"},
		{"manifest missing", manifest, nil, "no backup, or not a complete one"},
		{"manifest changed", manifest, func(b []byte) []byte { return []byte(strings.Replace(string(b), `"bytes":`, `"bytes": `, 1)) }, "checksum"},
		{"manifest cut", manifest, func(b []byte) []byte { return b[:len(b)/2] }, manifestName},
	} {
		was, err := os.ReadFile(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if test.change == nil {
			err = os.Remove(test.path)
		} else {
			err = os.WriteFile(test.path, test.change([]byte(string(was))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(t.Context(), dir, Access{}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err := restore(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: restored with %v, want %q", test.name, err, test.want)
		}
		if err := os.WriteFile(test.path, was, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupLeavesOutHashesOfExpiredFields has hashes whose last field has expired and that are not removed yet.
func TestBackupLeavesOutHashesOfExpiredFields(t *testing.T) {
	t.Parallel()
	_, source := startNode(t, func(*node.Config) {})
	do(t, source, 0, "HSET stays", "a", "1", "b", "2")
	do(t, source, 0, "HPEXPIRE stays 1 FIELDS 1 a")
	for i := range 300 {
		key := fmt.Sprint("goes", i)
		do(t, source, 0, "HSET", key, "a", "1")
		do(t, source, 0, "HPEXPIRE", key, 1, "FIELDS", 1, "a")
	}
	dir := t.TempDir()
	if _, err := Take(t.Context(), TakeConfig{Source: sourceOf(source), To: dir}); err != nil {
		t.Fatal(err)
	}
	if m, err := Verify(t.Context(), dir, Access{}, nil); err != nil || m == nil {
		t.Error(m, err)
	}
}

// TestTakeLeavesNothingBehind stops a backup, and has none where there is no cluster.
func TestTakeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	_, source := startNode(t, func(*node.Config) {})
	do(t, source, 0, "SET a 1")
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Take(ctx, TakeConfig{Source: sourceOf(source), To: dir, started: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	away := filepath.Join(dir, "away")
	if _, err := Take(t.Context(), TakeConfig{Source: client.Config{Addrs: []string{"127.0.0.1:1"}}, To: away}); err == nil || !strings.HasPrefix(err.Error(), "source: ") {
		t.Errorf("a source that is away: %v", err)
	}
	if _, err := os.Stat(away); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	m := Manifest{Format: formatVersion, Files: []File{{Name: "../x"}}}
	text, _ := json.Marshal(&m)
	if err := os.WriteFile(filepath.Join(dir, manifestName), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(t.Context(), dir, Access{}, nil); err == nil || !strings.Contains(err.Error(), "is not the name of a file") {
		t.Errorf("a file elsewhere: %v", err)
	}
}
