package node

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// TestStaleDataReturnsToItsDatabases restores keys of several databases, spread, kept together and swapped, with
// their expiry times.
func TestStaleDataReturnsToItsDatabases(t *testing.T) {
	cfg := InProcessConfig(t.TempDir())
	cfg.Databases, cfg.Logger = 8, slog.New(slog.DiscardHandler)
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	clients := make([]*redis.Client, 5)
	for i := range clients {
		clients[i] = redis.NewClient(&redis.Options{
			Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) { return n.Dial(ctx, network, addr) }, DB: i, Protocol: 2,
		})
		defer clients[i].Close()
	}
	do := func(db int, words ...any) any {
		t.Helper()
		v, err := clients[db].Do(t.Context(), words...).Result()
		if err != nil {
			t.Fatal(words, err)
		}
		return v
	}
	resptest.WaitFor(t, "database 3 to be kept together", func() bool {
		return clients[0].Do(t.Context(), "RING", "DATABASE", 3, "TOGETHER").Err() == nil
	})
	const marked = "\xf5\xdbRSn\xf5\x00\x01of database 0" // begins as the stored keys of database 1 do
	later := time.Now().Add(time.Hour).UnixMilli()
	for db := range clients {
		do(db, "SET", "cart", db)
		do(db, "SET", "expires", db, "PXAT", later+int64(db))
		do(db, "HSET", "hash", "f", db, "g", db)
		do(db, "HPEXPIREAT", "hash", later+int64(db), "FIELDS", 1, "f")
		do(db, "SET", "large", strings.Repeat("x", 200<<10))
	}
	do(0, "SET", marked, "v")
	do(0, "SWAPDB", 1, 2)
	kept, err := n.lineageStore(n.cluster.table.State)
	if err != nil {
		t.Fatal(err)
	}
	s := kept.(*staleDataSaver)
	for _, r := range []ring.Range{{Start: 0, End: 1 << 31}, {Start: 1 << 31, End: 0}} {
		if err := s.writeFile(r, 1); err != nil {
			t.Fatal(err)
		}
	}
	do(0, "FLUSHALL")
	files, err := filepath.Glob(filepath.Join(s.dir, asideDir, "*.resp"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		restore(t, n, text)
	}
	for db, want := range []string{"0", "2", "1", "3", "4"} {
		of := func(words ...any) any { t.Helper(); return do(db, words...) }
		expiry := later + int64(want[0]-'0')
		if v := of("GET", "cart"); v != want {
			t.Errorf("database %d: cart is %q, want %q", db, v, want)
		}
		if v, at := of("GET", "expires"), of("PEXPIRETIME", "expires"); v != want || at != expiry {
			t.Errorf("database %d: expires is %q and expires at %v, want %q, %v", db, v, at, want, expiry)
		}
		v, at := of("HMGET", "hash", "f", "g"), of("HPEXPIRETIME", "hash", "FIELDS", 2, "f", "g")
		if !slices.Equal(v.([]any), []any{want, want}) || !slices.Equal(at.([]any), []any{expiry, int64(-1)}) {
			t.Errorf("database %d: the hash has %q, which expire at %v, want %q, %v", db, v, at, want, expiry)
		}
		keys := int64(4)
		if db == 0 {
			keys++ // marked
		}
		if v, size := of("STRLEN", "large"), of("DBSIZE"); v != int64(200<<10) || size != keys {
			t.Errorf("database %d: %v bytes are in large, %v keys in all", db, v, size)
		}
	}
	if v := do(0, "GET", marked); v != "v" {
		t.Errorf("%q is %q", marked, v)
	}
}

// restore sends commands to a node as redis-cli --pipe does. No reply may be an error.
func restore(t *testing.T, n *Node, commands []byte) {
	t.Helper()
	conn, err := n.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = conn.Write(append(commands, "*2\r\n$4\r\nECHO\r\n$3\r\nend\r\n"...)) }()
	var replies []byte
	resptest.WaitFor(t, "the last reply", func() bool {
		b := make([]byte, 4096)
		k, err := conn.Read(b)
		replies = append(replies, b[:k]...)
		return err != nil || bytes.HasSuffix(replies, []byte("end\r\n"))
	})
	if bytes.Contains(replies, []byte("-")) {
		t.Errorf("replies: %q", replies)
	}
}
