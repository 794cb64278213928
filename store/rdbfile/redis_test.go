package rdbfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/store/rdb"
)

// startRedis returns a client of a redis-server 7.0 that no other test uses meanwhile.
func startRedis(t testing.TB) *redis.Client {
	t.Helper()
	c := redistest.Client(&redis.Options{Addr: redistest.Start7(t, "--enable-debug-command", "local"), MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
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

// fill writes keys of every type, in every form that Redis 7.0 has for it.
func fill(t testing.TB, c *redis.Client, r *rand.Rand) {
	t.Helper()
	text := func(n int) string { return strings.Repeat(string(rune('a'+r.IntN(26))), n) + fmt.Sprint(r.IntN(1e6)) }
	in := time.Now().Add(time.Hour).UnixMilli()
	pipe := c.Pipeline()
	for i, size := range []int{1, 5, 60, 600} {
		for j := range size {
			e := fmt.Sprintf("%d-%d", i, j)
			pipe.Do(context.Background(), "RPUSH", fmt.Sprint("list", i), text(r.IntN(80)), j)
			pipe.Do(context.Background(), "SADD", fmt.Sprint("set", i), e)
			pipe.Do(context.Background(), "SADD", fmt.Sprint("ints", i), j*j*j*j)
			pipe.Do(context.Background(), "HSET", fmt.Sprint("hash", i), e, text(r.IntN(40)), j, j)
			pipe.Do(context.Background(), "ZADD", fmt.Sprint("zset", i), r.NormFloat64(), e, "inf", "top", "-inf", "low")
			pipe.Do(context.Background(), "XADD", fmt.Sprint("stream", i), "*", "field", text(r.IntN(50)), "n", j)
		}
		pipe.Do(context.Background(), "RPUSH", fmt.Sprint("long", i), text(100*size), text(20*size))
		pipe.Do(context.Background(), "XGROUP", "CREATE", fmt.Sprint("stream", i), "g", "0")
		pipe.Do(context.Background(), "XGROUP", "CREATECONSUMER", fmt.Sprint("stream", i), "g", "idle")
		pipe.Do(context.Background(), "XREADGROUP", "GROUP", "g", "me", "COUNT", size/2+1, "STREAMS", fmt.Sprint("stream", i), ">")
		pipe.Do(context.Background(), "PEXPIREAT", fmt.Sprint("zset", i), in+int64(i))
	}
	for _, n := range []int{0, 1, 20, 21, 63, 64, 16383, 16384, 100_000} {
		pipe.Do(context.Background(), "SET", fmt.Sprint("string", n), text(n))
		random := make([]byte, n)
		for i := range random {
			random[i] = byte(r.Uint32())
		}
		pipe.Do(context.Background(), "SET", append([]byte("\xff\x00"), random[:min(n, 300)]...), random)
	}
	for _, n := range []int64{0, -1, 127, 128, -129, 40_000, 1 << 31, -1 << 62} {
		pipe.Do(context.Background(), "SET", fmt.Sprint(n), n)
	}
	pipe.Do(context.Background(), "SET", strings.Repeat("key", 1000), "v")
	pipe.Do(context.Background(), "XADD", "gone", "1-1", "a", "b")
	pipe.Do(context.Background(), "XDEL", "gone", "1-1")
	pipe.Do(context.Background(), "SELECT", 3)
	pipe.Do(context.Background(), "SET", "string1", "of database 3", "PX", 3_600_000)
	pipe.Do(context.Background(), "SELECT", 0)
	pipe.Do(context.Background(), "FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
	if _, err := pipe.Exec(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// save returns the file that the server writes.
func save(t testing.TB, c *redis.Client) []byte {
	t.Helper()
	do(t, c, "SAVE")
	file, err := os.ReadFile(dumpFile(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func dumpFile(t testing.TB, c *redis.Client) string {
	t.Helper()
	dir, err := c.ConfigGet(context.Background(), "dir").Result()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir["dir"], "dump.rdb")
}

// readAll returns copies of all entries.
func readAll(src io.Reader, cfg Config) (entries []Entry, err error) {
	r := NewReader(src, cfg)
	for {
		e, err := r.Next()
		if err != nil {
			return entries, err
		}
		kept := *e
		kept.Key, kept.Payload, kept.Name, kept.Value = bytes.Clone(e.Key), bytes.Clone(e.Payload), bytes.Clone(e.Name), bytes.Clone(e.Value)
		entries = append(entries, kept)
	}
}

// Every payload that is read from a file is the reply of DUMP, byte for byte.
func TestPayloadsAreThoseOfDump(t *testing.T) {
	c := startRedis(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, settings := range [][]string{
		{"rdbcompression yes"},
		{"rdbcompression no", "hash-max-listpack-entries 0", "zset-max-listpack-entries 0", "set-max-intset-entries 0", "list-max-listpack-size 3"},
	} {
		do(t, c, "FLUSHALL")
		do(t, c, "FUNCTION FLUSH")
		for _, s := range settings {
			do(t, c, "CONFIG SET "+s)
		}
		fill(t, c, r)
		file := save(t, c)
		entries, err := readAll(bytes.NewReader(file), Config{})
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		keys, functions, version := 0, 0, ""
		conn := c.Conn()
		database := 0
		for _, e := range entries {
			switch e.Kind {
			case Aux:
				if string(e.Name) == "redis-ver" {
					version = string(e.Value)
				}
			case Function:
				functions++
				if !strings.HasPrefix(string(e.Value), "#!lua name=lib") {
					t.Errorf("the code of functions is %.40q", e.Value)
				}
			case Key:
				keys++
				if e.Database != database {
					database = e.Database
					do(t, conn, "SELECT", database)
				}
				if want := conn.Dump(context.Background(), string(e.Key)).Val(); want != string(e.Payload) {
					t.Errorf("key %.60q of database %d, type %d: %d bytes, DUMP has %d", e.Key, e.Database, e.Type, len(e.Payload), len(want))
				}
				if want := do(t, conn, "PEXPIRETIME", string(e.Key)); max(want.(int64), 0) != e.ExpireAt {
					t.Errorf("key %.60q expires at %d, not %d", e.Key, e.ExpireAt, want)
				}
			}
		}
		do(t, conn, "SELECT 0") // it goes back to the pool
		_ = conn.Close()
		if want := c.DBSize(context.Background()).Val() + 1; int64(keys) != want || functions != 1 || !strings.HasPrefix(version, "7.0.") {
			t.Errorf("%d keys, not %d, %d libraries, version %s", keys, want, functions, version)
		}
	}
}

// The parts of large collections have together the elements of the whole.
func TestPartsOfCollectionsAddUp(t *testing.T) {
	c := startRedis(t)
	do(t, c, "CONFIG SET hash-max-listpack-entries 0 zset-max-listpack-entries 0 set-max-intset-entries 0 list-max-listpack-size 3")
	fill(t, c, rand.New(rand.NewPCG(1, 1)))
	do(t, c, "FUNCTION FLUSH")
	file := save(t, c)
	whole, err := readAll(bytes.NewReader(file), Config{})
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	parts, err := readAll(bytes.NewReader(file), Config{MaxPart: 200})
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	elements := func(e *Entry) (all string) {
		v, err := rdb.Decode(e.Payload, 1<<30)
		if err != nil {
			t.Fatalf("%q: %v", e.Key, err)
		}
		switch v.Type {
		case rdb.String:
			return string(v.Bytes)
		case rdb.Stream:
			return string(e.Payload)
		}
		err = v.Each(func(field, value []byte) error {
			all += fmt.Sprintf("%q %q, ", field, value)
			return nil
		})
		if err != nil {
			t.Fatalf("%q: %v", e.Key, err)
		}
		return all
	}
	several := 0
	for _, e := range whole {
		var joined string
		for i := 0; ; i++ {
			if len(parts) == 0 {
				t.Fatal("parts end early")
			}
			part := parts[0]
			parts = parts[1:]
			if part.Kind != e.Kind || string(part.Key) != string(e.Key) || part.Part != i || part.ExpireAt != e.ExpireAt {
				t.Fatalf("part %d of %q, not %d of %q", part.Part, part.Key, i, e.Key)
			}
			if part.Kind == Key {
				joined += elements(&part)
			}
			if part.More {
				several++
			} else {
				break
			}
		}
		if e.Kind == Key && joined != elements(&e) {
			t.Errorf("the parts of %q do not add up", e.Key)
		}
		if e.Kind != Key {
			continue
		}
		joined = ""
		if err := Split(e.Payload, Config{MaxPart: 200}, func(part *Entry) error {
			joined += elements(part)
			return nil
		}); err != nil || joined != elements(&e) {
			t.Errorf("the parts of the payload of %q do not add up: %v", e.Key, err)
		}
	}
	if several < 50 {
		t.Errorf("only %d parts", several)
	}
}

// A file that is cut off, or has a wrong byte, gives an error with an offset.
func TestDamagedFilesGiveErrorsWithOffsets(t *testing.T) {
	c := startRedis(t)
	do(t, c, "CONFIG SET hash-max-listpack-entries 2")
	do(t, c, "HSET hash a 1 b 2 c 3")
	do(t, c, "RPUSH list a b c")
	do(t, c, "ZADD zset 1 a")
	do(t, c, "XADD stream * a b")
	do(t, c, "XGROUP CREATE stream g 0")
	do(t, c, "XREADGROUP GROUP g me STREAMS stream >")
	do(t, c, "SET string", strings.Repeat("x", 100))
	do(t, c, "EXPIRE string 1000")
	file := save(t, c)
	for n := range file {
		_, err := readAll(iotestOneByte{bytes.NewReader(file[:n])}, Config{})
		var at *Error
		if !errors.As(err, &at) || !errors.Is(err, io.ErrUnexpectedEOF) || at.Offset != int64(n) {
			t.Fatalf("cut off at %d: %v", n, err)
		}
	}
	for n := range file {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := bytes.Clone(file)
			damaged[n] ^= flip
			_, err := readAll(bytes.NewReader(damaged), Config{})
			var at *Error
			if !errors.As(err, &at) || at.Offset > int64(len(file)) {
				t.Fatalf("byte %d is %#x: %v", n, damaged[n], err)
			}
		}
	}
	clear(file[len(file)-8:]) // no checksum
	if _, err := readAll(bytes.NewReader(file), Config{}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// iotestOneByte returns a byte at a time.
type iotestOneByte struct{ io.Reader }

func (r iotestOneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 1)]) }

// Redis loads what a Writer writes, of every version.
func TestRedisLoadsWrittenFiles(t *testing.T) {
	c := startRedis(t)
	fill(t, c, rand.New(rand.NewPCG(2, 2)))
	do(t, c, "FUNCTION FLUSH")
	entries, err := readAll(bytes.NewReader(save(t, c)), Config{})
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	digest := do(t, c, "DEBUG DIGEST")
	var out bytes.Buffer
	w, err := NewWriter(&out, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Aux("redis-ver", "7.0.0"); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == Key {
			if err := w.Key(e.Database, e.Key, e.Payload, e.ExpireAt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil || w.Written() != int64(out.Len()) {
		t.Fatal(err)
	}
	if err := os.WriteFile(dumpFile(t, c), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, c, "DEBUG RELOAD NOSAVE")
	if got := do(t, c, "DEBUG DIGEST"); got != digest {
		t.Errorf("the digest is %v, not %v", got, digest)
	}
}
