package resp

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/store"
)

// describedAs is the reply of DEBUG OBJECT.
var describedAs = regexp.MustCompile(`^\+Value at:0x[0-9a-f]+ refcount:(\d+) encoding:([a-z]+) serializedlength:(\d+) lru:(\d+) lru_seconds_idle:(\d+)(| ql_nodes:.*)$`)

// described returns the fields of the reply of DEBUG OBJECT: refcount, encoding, serializedlength, lru, lru_seconds_idle
// and those of quicklists.
func described(t *testing.T, reply resptest.Value) []string {
	t.Helper()
	fields := describedAs.FindStringSubmatch(reply.String())
	if fields == nil {
		t.Fatalf("DEBUG OBJECT replied %s", reply)
	}
	return fields[1:]
}

func TestDebugObjectDescribesValuesAsRedisDoes(t *testing.T) {
	redis := resptest.Dial(t, redistest.Start7(t, "--enable-debug-command", "yes"), 2)
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	for key, words := range map[string][]string{
		"int":        {"SET", "int", "12"},
		"large int":  {"SET", "large int", "123456"},
		"short":      {"SET", "short", "value"},
		"long":       {"SET", "long", strings.Repeat("ab", 100) + strings.Repeat("c", 5000)},
		"hash":       {"HSET", "hash", "f", "v"},
		"large hash": {"HSET", "large hash", "f", strings.Repeat("v", 100)},
		"list":       {"RPUSH", "list", "a", strings.Repeat("b", 9000)},
		"set":        {"SADD", "set", "1", "2"},
		"zset":       {"ZADD", "zset", "1", strings.Repeat("m", 65)},
		"stream":     {"XADD", "stream", "1-1", "f", "v"},
	} {
		redis.Do(words...)
		o.Do(words...)
		want, got := described(t, redis.Do("DEBUG", "OBJECT", key)), described(t, o.Do("debug", "object", key))
		if got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s has %s references and encoding %s, but %s and %s to Redis", key, got[0], got[1], want[0], want[1])
		}
		if words[0] == "SET" && got[2] != want[2] {
			t.Errorf("%s has a serialized length of %s, but %s to Redis", key, got[2], want[2])
		}
	}
	for _, words := range [][]string{{"DEBUG", "OBJECT", "none"}, {"DEBUG", "OBJECT"}, {"DEBUG", "OBJECT", "int", "int"}, {"COMMAND", "GETKEYS", "DEBUG", "OBJECT", "int"}} {
		o.Want(redis.Do(words...).String(), words...)
	}
	o.Want("+OK", "CONFIG", "SET", "list-max-listpack-size", "2")
	o.Do("RPUSH", "small", "a", "b", "c")
	for key, want := range map[string]string{
		"list":  " ql_nodes:1 ql_avg_node:2.00 ql_listpack_max:2 ql_compressed:0 ql_uncompressed_size:9001",
		"small": " ql_nodes:1 ql_avg_node:3.00 ql_listpack_max:2 ql_compressed:0 ql_uncompressed_size:7", // with lengths
	} {
		if got := described(t, o.Do("DEBUG", "OBJECT", key))[5]; got != want {
			t.Errorf("%s has%s, not%s", key, got, want)
		}
	}
}

// The length of large values is an estimate, which needs no reading: it is that of the payload without compression.
func TestDebugObjectEstimatesLargeValues(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.Packed = 256 })
	o := resptest.Dial(t, addr, 2)
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	word := func() string { // one that is not compressed
		b := make([]byte, 20)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return string(b)
	}
	for range 1000 {
		o.Do("HSET", "hash", word(), word())
		o.Do("HSET", "timed", word(), word())
		o.Do("RPUSH", "list", word())
		o.Do("SADD", "set", word())
		o.Do("ZADD", "zset", "0.5", word())
		o.Do("APPEND", "string", word())
	}
	if got := o.Do("HEXPIRE", "timed", "1000", "FIELDS", "1", o.Do("HRANDFIELD", "timed").Text).String(); got != "*(:1)" {
		t.Fatalf("HEXPIRE replied %s", got)
	}
	for _, key := range []string{"hash", "timed", "list", "set", "zset", "string"} {
		payload := len(o.Do("DUMP", key).Text)
		got, _ := strconv.Atoi(described(t, o.Do("DEBUG", "OBJECT", key))[2])
		if got < payload-payload/20 || got > payload+payload/20 {
			t.Errorf("%s has an estimated length of %d, and a payload of %d bytes", key, got, payload)
		}
	}
	if got := described(t, o.Do("DEBUG", "OBJECT", "list"))[5]; got != " ql_nodes:125 ql_avg_node:8.00 ql_listpack_max:-2 ql_compressed:0 ql_uncompressed_size:20000" {
		t.Errorf("the list has%s", got)
	}
}

func TestDebugObjectTellsUsesWithoutBeingOne(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "k", "v")
	o.Want("+OK", "RESTORE", "k", "0", o.Do("DUMP", "k").Text, "REPLACE", "IDLETIME", "1000")
	hits := o.InfoField("keyspace_hits", "INFO", "stats")
	first := described(t, o.Do("DEBUG", "OBJECT", "k"))
	idle, _ := strconv.Atoi(described(t, o.Do("DEBUG", "OBJECT", "k"))[4])
	if idle < 1000 || idle > 1100 {
		t.Errorf("the key has not been used for %d seconds", idle)
	}
	if now := o.InfoField("keyspace_hits", "INFO", "stats"); now != hits {
		t.Errorf("DEBUG OBJECT counts as %d reads", now-hits)
	}
	o.Do("GET", "k")
	used := described(t, o.Do("DEBUG", "OBJECT", "k"))
	before, _ := strconv.Atoi(first[3])
	after, _ := strconv.Atoi(used[3])
	if later := (after - before) & (1<<24 - 1); later < 900 || later > 1200 {
		t.Errorf("lru is %d before a use and %d after it, with %s seconds of idleness", before, after, first[4])
	}
	o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-lfu", "lfu-decay-time", "0")
	o.Do("SET", "counted", "v")
	word, _ := strconv.Atoi(described(t, o.Do("DEBUG", "OBJECT", "counted"))[3])
	if want := o.Do("OBJECT", "FREQ", "counted").String(); fmt.Sprint(":", word&255) != want {
		t.Errorf("lru is %#x, and OBJECT FREQ %s", word, want)
	}
}

func TestDebugObjectFindsKeysOfDatabases(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "k", "1")
	o.Want("+OK", "SELECT", "3")
	o.Do("SET", "k", "some text")
	encodings := func(replies []resptest.Value) (list []string) {
		for _, v := range replies {
			if strings.HasPrefix(v.String(), "+Value") {
				list = append(list, described(t, v)[1])
			}
		}
		return list
	}
	of := []string{"DEBUG", "OBJECT", "k"}
	got := encodings(o.DoAll([][]string{of, {"SELECT", "0"}, of, {"DEBUG", "SLEEP", "0"}, of, {"SELECT", "3"}, of}))
	if fmt.Sprint(got) != "[embstr int int embstr]" {
		t.Errorf("in a pipeline: %v", got)
	}
	replies := o.DoAll([][]string{{"MULTI"}, of, {"SELECT", "0"}, of, {"DEBUG", "SLEEP", "0"}, {"EXEC"}})
	if got := encodings(replies[len(replies)-1].Elems); fmt.Sprint(got) != "[embstr int]" {
		t.Errorf("in a transaction: %v", got)
	}
}

func TestDebugObjectIsAnsweredByTheOwner(t *testing.T) {
	// Only the client's node decides who may send it.
	r := routedTestWith(t, 2, func(c *Config, _ *store.Config) { c.Debug = "yes" })
	r.servers[1].cfg.Debug = "no"
	p := r.spread(rand.New(rand.NewPCG(randomtest.Seed(t), 0)))
	r.placeAll(p)
	o, other, redirecting := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2), r.redirecting(0)
	moved := 0
	for i := range 20 {
		key := fmt.Sprint("key", i)
		o.Want("+OK", "SET", key, "v")
		described(t, o.Do("DEBUG", "OBJECT", key))
		other.Want("-"+admin.MsgNoDebug, "DEBUG", "OBJECT", key)
		o.Do("MULTI")
		o.Do("DEBUG", "OBJECT", key)
		described(t, o.Do("EXEC").Elems[0])
		if reply := redirecting.Do("DEBUG", "OBJECT", key).String(); strings.HasPrefix(reply, "-MOVED") {
			moved++
		}
	}
	if moved == 0 || moved == 20 {
		t.Errorf("%d of 20 keys are the other node's", moved)
	}
	o.Want("-ERR no such key", "DEBUG", "OBJECT", "none")
	if stats := o.Do("INFO", "commandstats").Text; !strings.Contains(stats, "cmdstat_debug:") || strings.Contains(stats, "cmdstat_ring|debug") {
		t.Errorf("the statistics of commands are %s", stats)
	}
	o.Want("-ERR RING DEBUG is what nodes send each other", "RING", "DEBUG", "OBJECT", "key0")
}

// What RING MOVE and RING DEBUG do for a client counts as the command that the client has sent, also in a transaction.
func TestCommandsInTransactionsCountByTheirNames(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "k", "v")
	for _, words := range [][]string{{"MULTI"}, {"DEBUG", "OBJECT", "k"}, {"MOVE", "k", "2"}} {
		o.Do(words...)
	}
	if n := len(o.Do("EXEC").Elems); n != 2 {
		t.Fatalf("EXEC replied %d times", n)
	}
	stats := o.Do("INFO", "commandstats").Text
	for name, want := range map[string]bool{"debug": true, "move": true, "ring|debug": false, "ring|move": false} {
		if strings.Contains(stats, "cmdstat_"+name+":") != want {
			t.Errorf("that %s has been called is %t", name, !want)
		}
	}
}

func TestUsersMayHaveDebugObjectAlone(t *testing.T) {
	_, addr := serveTest(t, nil)
	boss, o := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	boss.Do("SET", "k", "v")
	boss.Want("+OK", "ACL", "SETUSER", "u", "on", "nopass", "-@all", "+multi", "+exec", "+debug|object")
	o.Want("+OK", "AUTH", "u", "pw")
	described(t, o.Do("DEBUG", "OBJECT", "k"))
	o.Want("-NOPERM User u has no permissions to run the 'debug' command", "DEBUG", "SLEEP", "0")
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", "DEBUG", "OBJECT", "k")
	described(t, o.Do("EXEC").Elems[0])
	boss.Want("+OK", "ACL", "SETUSER", "u", "-debug")
	o.Want("-NOPERM User u has no permissions to run the 'debug' command", "DEBUG", "OBJECT", "k")
}
