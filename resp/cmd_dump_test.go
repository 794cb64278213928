package resp

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// dumpValues are strings of every form that a payload can have.
func dumpValues(rnd *rand.Rand) []string {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	words := strings.Repeat("the quick brown fox ", 1<<20/20)
	values := []string{"", "0", "-1", "127", "-32768", "2147483647", "2147483648", "9223372036854775807", "007",
		"short", strings.Repeat("a", 64), strings.Repeat("ab", 20_000), words, string(noise),
		words[:1<<19] + string(noise[:1<<19]), strings.Repeat("\x00", 1<<20)}
	for range 50 {
		n := rnd.IntN(300)
		values = append(values, words[:n], string(noise[:n]))
	}
	return values
}

// TestDumpTravelsBothWays sends values from Redis to Ringside and back by DUMP and
// RESTORE.
func TestDumpTravelsBothWays(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	eachKeyProto(t, func(t *testing.T, p *keyPair) {
		for _, value := range dumpValues(rand.New(rand.NewPCG(seed, 1))) {
			p.redis.Do("SET", "k", value)
			payload := p.redis.Do("DUMP", "k").Text
			if v := p.ours.Do("RESTORE", "k", "0", payload, "REPLACE"); v.Text != "OK" {
				t.Fatalf("RESTORE of %d bytes: %s", len(value), v)
			}
			if v := p.ours.Do("GET", "k"); v.Text != value {
				t.Fatalf("%d bytes became %d", len(value), len(v.Text))
			}
			back := p.ours.Do("DUMP", "k").Text
			if back != payload {
				t.Errorf("DUMP of %d bytes: %d bytes, Redis has %d", len(value), len(back), len(payload))
			}
			if v := p.redis.Do("RESTORE", "back", "0", back, "REPLACE"); v.Text != "OK" {
				t.Fatalf("Redis, RESTORE of %d bytes: %s", len(value), v)
			}
			if v := p.redis.Do("GET", "back"); v.Text != value {
				t.Fatalf("Redis: %d bytes became %d", len(value), len(v.Text))
			}
		}
	})
}

func TestRestoreOptionsLikeRedis(t *testing.T) {
	eachKeyProto(t, func(t *testing.T, p *keyPair) {
		payload := strconv.Quote(string(rdb.AppendString(nil, []byte("value"))))
		later := strconv.FormatInt(time.Now().UnixMilli()+100_000, 10)
		for _, line := range []string{
			"RESTORE a 0 " + payload,
			"GET a",
			"TTL a",
			"RESTORE a 0 " + payload,
			"SET a old EX 1000",
			"RESTORE a 0 " + payload + " replace",
			"GET a",
			"TTL a",
			"RESTORE a 100000 " + payload + " REPLACE",
			"~PTTL a",
			"RESTORE a " + later + " " + payload + " REPLACE ABSTTL",
			"PEXPIRETIME a",
			"RESTORE a 0 " + payload + " REPLACE ABSTTL",
			"PTTL a",
			"RESTORE a 1 " + payload + " REPLACE ABSTTL",
			"EXISTS a",
			"RESTORE a 1 " + payload + " absttl",
			"EXISTS a",
			"RESTORE a 0 " + payload + " IDLETIME 100",
			"RESTORE a 0 " + payload + " REPLACE FREQ 255",
			"RESTORE a 0 " + payload + " REPLACE FREQ 0 FREQ 1 ABSTTL",
			"RESTORE a 0 " + payload + " REPLACE IDLETIME 9223372036854775807",
			"RESTORE a 0 " + payload + " REPLACE IDLETIME 1 FREQ 1",
			"RESTORE a x " + payload + " REPLACE",
			"RESTORE a -1 " + payload + " REPLACE",
			"OBJECT ENCODING a",
			"GET a",
		} {
			p.run(line)
		}
	})
}

// RESTORE says how the key was used, where that decides which keys are evicted.
func TestRestoreSetsUsage(t *testing.T) {
	_, addr := serveTest(t, func(_ *Config, sc *store.Config) { sc.Cache = 8 << 20 })
	o := resptest.Dial(t, addr, 2)
	idle := func() int {
		n, err := strconv.Atoi(strings.TrimPrefix(o.Do("OBJECT", "IDLETIME", "k").String(), ":"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	long := strings.Repeat("v", 20_000) // more than the cache keeps
	for _, make := range [][]string{{"SET", "from", "v"}, {"RPUSH", "from", "a", "b"}, {"ZADD", "from", "1", "m"}, {"SET", "from", long}} {
		o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
		o.Do("DEL", "from", "k")
		o.Do(make...)
		payload := o.Do("DUMP", "from").Text
		o.Want("+OK", "RESTORE", "k", "0", payload, "IDLETIME", "1000")
		if n := idle(); make[2] != long && (n < 1000 || n > 1060) {
			t.Errorf("%s: idle for %d s after IDLETIME 1000", make[0], n)
		}
		o.Want("+OK", "RESTORE", "k", "0", payload, "REPLACE", "FREQ", "100")
		if n := idle(); n >= 1000 {
			t.Errorf("%s: idle for %d s after FREQ", make[0], n)
		}
		o.Want("+OK", "RESTORE", "k", "0", payload, "REPLACE", "IDLETIME", "9223372036854775807")
		o.Do("TOUCH", "k")
		if n := idle(); n >= 1000 {
			t.Errorf("%s: idle for %d s after TOUCH", make[0], n)
		}
		o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-lfu", "lfu-decay-time", "0")
		o.Want("+OK", "RESTORE", "k", "0", payload, "REPLACE", "FREQ", "100")
		if n := o.Do("OBJECT", "FREQ", "k").String(); make[2] != long && n != ":100" {
			t.Errorf("%s: counter %s after FREQ 100", make[0], n)
		}
	}
}

// TestRestoreRefuses what it cannot hold, and leaves the key as it is.
func TestRestoreRefuses(t *testing.T) {
	redis := resptest.Dial(t, redistest.Start7(t), 2)
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.MaxValue = 4096 })
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "k", "old")
	redis.Do("SET", "large", strings.Repeat("ab", 5000))
	for want, payload := range map[string]string{
		"module":             string(rdb.Seal([]byte{7, 0}, 0)), // a value of a module's own type
		"proto-max-bulk-len": redis.Do("DUMP", "large").Text,
	} {
		v := o.Do("RESTORE", "k", "0", payload, "REPLACE")
		if v.Kind != '-' || !strings.Contains(v.Text, want) {
			t.Errorf("%s: %s", want, v)
		}
	}
	payload := string(rdb.AppendString(nil, []byte("v")))
	if v := o.Do("RESTORE", "k", "9223372036854775807", payload, "REPLACE"); v.Text != "ERR invalid expire time in 'restore' command" {
		t.Errorf("overflow: %s", v)
	}
	if v := o.Do("GET", "k"); v.Text != "old" {
		t.Errorf("the key became %s", v)
	}
}

// TestDumpHasTheVersionThatIsSet: what servers of older versions, and Valkey, are to restore.
func TestDumpHasTheVersionThatIsSet(t *testing.T) {
	redis := resptest.Dial(t, redistest.Start7(t), 2)
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	for _, line := range []string{
		"SET string value", "RPUSH list a b", "SADD set a b", "ZADD zset 1 a 2.5 b", "HSET hash f v g w", "HSET timed f v g w",
		"HPEXPIREAT timed 9000000000000 FIELDS 1 f", "XADD stream 1-1 f v", "XADD stream 1-2 f w", "XDEL stream 1-1",
		"XGROUP CREATE stream g 0", "XREADGROUP GROUP g c STREAMS stream >",
		"XADD released 1-1 f v", "XADD released 1-2 f w", "XGROUP CREATE released g 0", "XREADGROUP GROUP g c STREAMS released >",
		"XNACK released g FATAL IDS 1 1-2", "XNACK released g FAIL IDS 1 1-1",
	} {
		if v := o.Do(strings.Fields(line)...); v.Kind == '-' {
			t.Fatalf("%s: %s", line, v)
		}
	}
	version := func(payload string) int { return int(payload[len(payload)-10]) + int(payload[len(payload)-9])<<8 }
	keys := []string{"string", "list", "set", "zset", "hash", "timed", "stream", "released"}
	needs := map[string]int{"timed": rdb.TimedVersion, "released": rdb.ReleasedVersion}
	for set, refused := range map[string]string{
		"oldest": "", "9": "timed released", "10": "timed released", "11": "timed released", "12": "released", "14": "", "80": "released",
	} {
		o.Want("+OK", "CONFIG", "SET", "dump-rdb-version", set)
		o.Want("*($dump-rdb-version $"+set+")", "CONFIG", "GET", "dump-rdb-version")
		want, err := strconv.Atoi(set)
		if err != nil {
			want = rdb.Version
		}
		for _, key := range keys {
			payload := o.Do("DUMP", key)
			if strings.Contains(refused, key) {
				if want := fmt.Sprintf("ERR the value needs a later RDB version: %d; dump-rdb-version is %s", needs[key], set); payload.Text != want {
					t.Errorf("%s of version %s: %s", key, set, payload)
				}
				continue
			}
			if got := version(payload.Text); got != want && (err == nil || got != needs[key]) {
				t.Errorf("%s of version %s has %d", key, set, got)
			}
			o.Want("+OK", "RESTORE", "back", "0", payload.Text, "REPLACE")
			o.Do("CONFIG", "SET", "dump-rdb-version", "14")
			if got, same := o.Do("DUMP", "back").Text, o.Do("DUMP", key).Text; got != same && !(key == "stream" && want < rdb.Version) {
				t.Errorf("%s of version %s was restored as another", key, set)
			}
			o.Do("CONFIG", "SET", "dump-rdb-version", set)
			if want <= rdb.Version && needs[key] == 0 {
				if v := redis.Do("RESTORE", key, "0", payload.Text, "REPLACE"); v.Text != "OK" {
					t.Errorf("Redis restores %s of version %s: %s", key, set, v)
				}
			}
		}
		o.Want("*(*($1-1 $ :-1 :1) *($1-2 $ :-1 :9223372036854775807))", "XPENDING", "released", "g", "-", "+", "9")
		o.Want("*(:9000000000000 :-1)", "HPEXPIRETIME", "timed", "FIELDS", "2", "f", "g")
	}
	if got, want := redis.Do("XPENDING", "stream", "g"), o.Do("XPENDING", "stream", "g"); got.String() != want.String() {
		t.Errorf("pending in Redis: %s, want %s", got, want)
	}
	if v := o.Do("CONFIG", "SET", "dump-rdb-version", "13"); !strings.Contains(v.Text, "must be one of the following: oldest, 9, 10, 11, 12, 14, 80") {
		t.Errorf("%s", v)
	}
}

// TestDumpOfALargeValueInAPipeline comes in its place between other replies.
func TestDumpOfALargeValueInAPipeline(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 4 << 20 })
	o := resptest.Dial(t, addr, 2)
	large := strings.Repeat("some words ", 2*command.LargeReply/11)
	o.Do("SET", "large", large)
	o.Do("SET", "huge", strings.Repeat("x", 5<<20))
	go func() {
		_, _ = o.C.Write([]byte("SET a 1\r\nDUMP large\r\nGET a\r\nDUMP huge\r\nDUMP large\r\nPING\r\n"))
	}()
	payload := rdb.AppendString(nil, []byte(large))
	for i, want := range []string{"OK", string(payload), "1", "ERR the reply would exceed the output buffer of 4194304 bytes", string(payload), "PONG"} {
		v, err := o.Read()
		if err != nil {
			t.Fatal(err)
		}
		if v.Text != want {
			t.Errorf("reply %d: %.100s (%d bytes), want %d bytes", i, v.Text, len(v.Text), len(want))
		}
	}
}

// TestDumpBehindOtherReplies: together they may be more than is kept for a client,
// and none of them gets lost.
func TestDumpBehindOtherReplies(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = 64 << 10 })
	o := resptest.Dial(t, addr, 2)
	noise := make([]byte, 40_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	o.Do("SET", "k", string(noise))
	o.Do("SET", "full", strings.Repeat("x", 64<<10))
	go func() { _, _ = o.C.Write([]byte("DUMP k\r\nDUMP k\r\nSET a 1\r\nDUMP k\r\nDUMP full\r\n")) }()
	payload := string(rdb.AppendString(nil, noise))
	for i, want := range []string{payload, payload, "OK", payload, "ERR the reply would exceed the output buffer of 65536 bytes"} {
		v, err := o.Read()
		if err != nil {
			t.Fatalf("reply %d: %v", i, err)
		}
		if v.Text != want {
			t.Errorf("reply %d: %.100q (%d bytes), want %d bytes", i, v.Text, len(v.Text), len(want))
		}
	}
}
