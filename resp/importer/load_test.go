package importer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/client"
	. "github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/store/rdb"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

func saved(t testing.TB, c *redis.Client) []byte {
	t.Helper()
	do(t, c, "SAVE")
	dir, err := c.ConfigGet(context.Background(), "dir").Result()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir["dir"], "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoadedFileHasEveryKey(t *testing.T) {
	source, target := startSource(t), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(1, 2)))
	do(t, target, "SET user:7 old")
	do(t, target, "SET other stays")
	file := saved(t, source)
	for _, part := range []int{0, 500} { // collections as a whole, and in parts
		stats := new(Stats)
		cfg := Config{Target: targetConfig(target), Stats: stats, RDB: rdbfile.Config{MaxPart: part}}
		if err := Load(context.Background(), bytes.NewReader(file), cfg); err != nil {
			t.Fatal(err)
		}
		want := source.DBSize(context.Background()).Val() + 1
		if c := stats.Counts(); c.Keys != want || c.Lost != 0 || c.Read != int64(len(file)) {
			t.Errorf("%+v, want %d keys", c, want)
		}
		if other := target.Get(context.Background(), "other").Val(); other != "stays" {
			t.Errorf("another key is %q", other)
		}
		do(t, target, "DEL other")
		wantSame(t, source, target, 0, 0)
		wantSame(t, source, target, 3, 3)
		do(t, target, "SET other stays")
	}
}

func TestLoadMapsDatabasesAndMatchesKeys(t *testing.T) {
	source, target := startSource(t), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(3, 4)))
	stats := new(Stats)
	cfg := Config{
		Target: targetConfig(target), Stats: stats,
		Filter: Filter{Databases: map[int]int{3: 5}, Match: "str*"},
	}
	if err := Load(context.Background(), bytes.NewReader(saved(t, source)), cfg); err != nil {
		t.Fatal(err)
	}
	wantSame(t, source, target, 3, 5)
	if n := target.DBSize(context.Background()).Val(); n != 0 {
		t.Errorf("database 0 has %d keys", n)
	}
	if c := stats.Counts(); c.Keys != 1 || c.Filtered < 300 {
		t.Errorf("%+v", c)
	}
}

// What cannot be taken is listed, and the rest is taken.
func TestLossesAreListed(t *testing.T) {
	target := startTarget(t, func(cfg *node.Config) { cfg.MaxValueSize = 1 << 20 })
	var file bytes.Buffer
	w, err := rdbfile.NewWriter(&file, 11)
	if err != nil {
		t.Fatal(err)
	}
	for key, payload := range map[string][]byte{
		"good":  rdb.AppendString(nil, []byte("value")),
		"large": rdb.AppendString(nil, bytes.Repeat([]byte("0123456789abcdef"), 1<<17)),
		"wrong": rdb.SealAs([]byte("\x0b\x05xxxxx"), 0, 10),
	} {
		if err := w.Key(0, []byte(key), payload, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Key(0, []byte("old"), rdb.AppendString(nil, []byte("value")), 1000); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stats := new(Stats)
	cfg := Config{Target: targetConfig(target), Stats: stats}
	if err := Load(context.Background(), &file, cfg); err != nil {
		t.Fatal(err)
	}
	c := stats.Counts()
	if c.Lost != 2 || c.Expired != 1 || target.Get(context.Background(), "good").Val() != "value" {
		t.Errorf("%+v", c)
	}
	for _, l := range c.Losses {
		if l.Key != "large" && l.Key != "wrong" || l.Reason == "" {
			t.Errorf("%v", l)
		}
	}
}

func TestDamagedFileLoadsWhatIsBeforeTheDamage(t *testing.T) {
	source, target := startSource(t), startTarget(t)
	fill(t, source, rand.New(rand.NewPCG(5, 6)))
	file := saved(t, source)
	stats := new(Stats)
	err := Load(context.Background(), bytes.NewReader(file[:len(file)/2]), Config{Target: targetConfig(target), Stats: stats})
	var at *rdbfile.Error
	if !errors.As(err, &at) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "at byte ") {
		t.Errorf("%v", err)
	}
	keys := target.DBSize(context.Background()).Val()
	conn := target.Conn()
	do(t, conn, "SELECT 3")
	keys += conn.DBSize(context.Background()).Val()
	_ = conn.Close()
	if c := stats.Counts(); c.Keys != keys || keys == 0 {
		t.Errorf("%d keys counted, %d there", c.Keys, keys)
	}
}

func TestTargetThatRefusesIsReported(t *testing.T) {
	target := redistest.Start7(t, "--requirepass", "secret")
	cfg := Config{RetryFor: time.Millisecond}
	for _, tt := range []struct{ addr, password, want string }{
		{target, "wrong", "WRONGPASS"}, {target, "", "NOAUTH"}, {"127.0.0.1:1", "", "refused"},
	} {
		cfg.Target = client.Config{Addrs: []string{tt.addr}, Password: tt.password}
		err := Load(context.Background(), strings.NewReader("REDIS0011\xff"), cfg)
		if err == nil || !strings.HasPrefix(err.Error(), "target: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
