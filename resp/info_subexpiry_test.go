package resp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/keyspace"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// subexpiryRun is a server that stops and starts again, and a Redis, if there is one that counts.
type subexpiryRun struct {
	*rand.Rand
	t     *testing.T
	dir   string
	redis *resptest.Conn // nil: none
	own   *resptest.Conn
	stop  func(kill bool)
	log   []string
}

const subexpiryDatabases = 3

func (r *subexpiryRun) start() {
	st, err := store.Open(store.Config{Dir: r.dir, Strategy: "buckets", Hash: "native", Token: buckets.Token, Cache: 8 << 20, MemTable: 2 << 20, ExpireFields: collection.ExpireFields})
	if err != nil {
		r.t.Fatal(err)
	}
	srv, err := NewServer(Config{Store: st, Databases: func() int { return 16 }, Settings: Settings{ProtectedMode: true}, Debug: "local", Version: "0.0.0-test"})
	if err != nil {
		r.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	r.own = resptest.Dial(r.t, l.Addr().String(), 2)
	r.stop = func(kill bool) {
		if kill {
			st.Crash()
		}
		if err := srv.Close(context.Background()); err != nil && !errors.Is(err, ErrServerClosed) {
			r.t.Error(err)
		}
		<-served
		if err := st.Close(); err != nil && !kill {
			r.t.Error(err)
		}
	}
}

// do sends a command to the server and, unless it is newer than that, to Redis, and compares the replies.
func (r *subexpiryRun) do(newer bool, args ...string) {
	r.t.Helper()
	r.log = append(r.log, fmt.Sprintf("%.80s", strings.Join(args, " ")))
	got := r.own.Do(args...).String()
	if r.redis == nil || newer {
		return
	}
	if want := r.redis.Do(args...).String(); got != want {
		r.t.Fatalf("%s: %s, Redis replies %s; after\n%s", args, got, want, strings.Join(r.log, "\n"))
	}
}

// step sends a random command on hashes. Fields expire after an hour, or at once.
func (r *subexpiryRun) step() {
	r.do(false, "SELECT", strconv.Itoa(r.IntN(subexpiryDatabases)))
	key := func() string { return fmt.Sprint("h", r.IntN(6)) } // h0 and h1 get many fields
	field := func() string { return fmt.Sprint("f", r.IntN(3)) }
	k, hour := key(), "3600"
	switch n := r.IntN(26); n {
	case 0, 1, 2:
		r.do(false, "HSET", k, field(), fmt.Sprint("value", r.IntN(100)))
	case 3:
		args := []string{"HSET", fmt.Sprint("h", r.IntN(2))}
		for i := range 150 {
			args = append(args, fmt.Sprint("many", i), "12345678901234567890")
		}
		r.do(false, args...)
	case 4, 5, 6, 7:
		r.do(false, "HEXPIRE", k, hour, "FIELDS", "2", field(), "many7")
	case 8:
		r.do(false, "HPERSIST", k, "FIELDS", "1", field())
	case 9:
		r.do(false, "HPERSIST", k, "FIELDS", "4", "f0", "f1", "f2", "many7")
	case 10:
		r.do(false, "HDEL", k, field(), "many7")
	case 11:
		r.do(false, "HEXPIRE", k, "0", "FIELDS", "3", field(), "many7", field())
	case 12:
		r.do(false, "DEL", k)
	case 13:
		r.do(false, "RENAME", k, key())
	case 14:
		r.do(false, "COPY", k, key(), "DB", strconv.Itoa(r.IntN(subexpiryDatabases)), "REPLACE")
	case 15:
		r.do(false, "MOVE", k, strconv.Itoa(r.IntN(subexpiryDatabases)))
	case 16:
		r.do(false, "EXPIRE", k, hour)
	case 17:
		r.do(false, "PEXPIREAT", k, "1")
	case 18:
		r.do(false, "SET", k, "string")
	case 19:
		if r.IntN(10) == 0 {
			r.do(false, "FLUSHDB")
		}
	case 20:
		r.do(false, "RENAMENX", k, key())
	case 21:
		r.do(false, "HINCRBY", k, "n", "1")
	case 22:
		dump := r.own.Do("DUMP", k)
		if to := key(); dump.Kind == '$' && dump.Text != "" && r.redis == nil {
			r.do(true, "RESTORE", to, "0", dump.Text, "REPLACE")
		}
	default:
		if r.redis == nil {
			r.do(true, [][]string{
				{"HGETDEL", k, "FIELDS", "2", field(), "many7"}, {"HSETEX", k, "EX", hour, "FIELDS", "1", field(), "v"},
				{"HSETEX", k, "FIELDS", "1", field(), "v"}, {"HGETEX", k, "PERSIST", "FIELDS", "1", field()}, {"HGETEX", k, "EX", hour, "FIELDS", "1", field()},
			}[r.IntN(5)]...)
		}
	}
}

// check compares what INFO says with all fields, and with the INFO of Redis.
func (r *subexpiryRun) check() {
	r.t.Helper()
	info := infoFields(r.own.Do("INFO", "keyspace").Text)
	redis := map[string]string{}
	if r.redis != nil {
		// Redis keeps counting a hash whose last expiry HPERSIST or HSET has removed, until that time or a restart.
		r.redis.Want("+OK", "DEBUG", "RELOAD")
		redis = infoFields(r.redis.Do("INFO", "keyspace").Text)
	}
	for n := range subexpiryDatabases {
		r.own.Want("+OK", "SELECT", strconv.Itoa(n))
		keys, expires, timed := 0, 0, 0
		for _, key := range r.own.Do("KEYS", "*").Elems {
			keys++
			if r.own.Do("TTL", key.Text).Text != "-1" {
				expires++
			}
			if r.own.Do("TYPE", key.Text).Text != "hash" {
				continue
			}
			args := []string{"HTTL", key.Text, "FIELDS", ""}
			for _, field := range r.own.Do("HKEYS", key.Text).Elems {
				args = append(args, field.Text)
			}
			args[3] = strconv.Itoa(len(args) - 4)
			for _, ttl := range r.own.Do(args...).Elems {
				if ttl.Text != "-1" {
					timed++
					break
				}
			}
		}
		name, want := "db"+strconv.Itoa(n), ""
		if keys > 0 {
			want = fmt.Sprintf("keys=%d,expires=%d,avg_ttl=0,subexpiry=%d", keys, expires, timed)
		}
		if info[name] != want {
			r.t.Fatalf("%s is %q, want %q; after\n%s", name, info[name], want, strings.Join(r.log, "\n"))
		}
		withoutTTL := func(facts string) string {
			before, after, _ := strings.Cut(facts, ",avg_ttl=")
			_, after, _ = strings.Cut(after, ",")
			return before + after
		}
		if r.redis != nil && withoutTTL(info[name]) != withoutTTL(redis[name]) {
			r.t.Fatalf("%s is %q, in Redis %q; after\n%s", name, info[name], redis[name], strings.Join(r.log, "\n"))
		}
	}
}

// TestSubexpiryIsWhatFieldsSay has random commands on hashes, restarts and kills. INFO keyspace says of how many hashes
// fields expire.
func TestSubexpiryIsWhatFieldsSay(t *testing.T) {
	for _, with := range []string{"alone", "with Redis"} {
		t.Run(with, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := &subexpiryRun{Rand: rand.New(rand.NewPCG(seed, 1)), t: t, dir: t.TempDir()}
			if with != "alone" {
				if _, err := exec.LookPath("redis-server"); err != nil {
					t.Skip("there is no redis-server")
				}
				r.redis = resptest.Dial(t, redistest.Start74(t, "--enable-debug-command", "local"), 2)
			}
			r.start()
			for i := range 60 {
				for range 40 {
					r.step()
				}
				r.check()
				if i%4 == 3 {
					r.stop(r.IntN(2) == 0)
					r.start()
					r.check()
				}
			}
			r.stop(false)
		})
	}
}

// TestKeyspaceRepliesOfAllVersionsAddUp reads what nodes of this version send, and of those before.
func TestKeyspaceRepliesOfAllVersionsAddUp(t *testing.T) {
	w := &wire.Writer{Proto: 2}
	keyspace.Reply(w, []keyspace.Count{{Keys: 5, Expires: 2, Bytes: 100, TimedHashes: 3}, {}, {Keys: 1, Bytes: 7, TimedHashes: 1}, {}})
	reply := string(w.Buf)
	before := "*6\r\n:1\r\n:1\r\n:10\r\n:2\r\n:0\r\n:20\r\n"
	sum := keyspace.Sum([][]byte{[]byte(reply), []byte(before), []byte(reply)})
	want := []keyspace.Count{{Keys: 11, Expires: 5, Bytes: 210, TimedHashes: 6}, {Keys: 2, Bytes: 20}, {Keys: 2, Bytes: 14, TimedHashes: 2}}
	if fmt.Sprint(sum) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", sum, want)
	}
	// A node of an earlier version reads as many threes as there are.
	if n := wire.ArrayLen([]byte(reply)); n/3 != 3 || n%3 != 1 || !strings.HasPrefix(reply, "*10\r\n:5\r\n:2\r\n:100\r\n:0\r\n") {
		t.Errorf("%q", reply)
	}
}
