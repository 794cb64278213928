package resp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// TestInfoHasTheSectionsOfRedis, in its order, for the arguments that choose several;
// and only fields that Redis has, but in our own sections.
func TestInfoHasTheSectionsOfRedis(t *testing.T) {
	real := redistest.Start7(t)
	_, ours := serveTest(t, nil)
	for _, args := range []string{"INFO", "INFO default", "INFO all", "INFO everything", "INFO server clients Memory", "INFO cpu nosuch", "INFO commandstats latencystats errorstats", "INFO replication default"} {
		words := strings.Fields(args)
		a, b := resptest.Dial(t, real, 2), resptest.Dial(t, ours, 2)
		want, got := infoTitles(a.Do(words...).Text), infoTitles(b.Do(words...).Text)
		got = slices.DeleteFunc(got, func(s string) bool { return s == "# Ringside" || s == "# Ring" || s == "# Databases" })
		if !slices.Equal(want, got) {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
	known := infoFields(resptest.Dial(t, real, 2).Do("INFO", "everything").Text)
	known["ringside_version"], known["go_version"], known["availability_zone"] = "", "", "" // the last is of Valkey
	for _, since := range []string{"pubsub_clients", "watching_clients", "total_watched_keys", "expired_subkeys",
		"evicted_scripts", "listener0", "client_output_buffer_limit_disconnections", "client_query_buffer_limit_disconnections",
		"allocator_muzzy", "mem_overhead_db_hashtable_rehashing", "total_blocking_keys", "total_blocking_keys_on_nokey",
		"acl_access_denied_auth", "acl_access_denied_cmd", "acl_access_denied_key", "acl_access_denied_channel"} {
		known[since] = "" // of Redis 7.2 and 7.4
	}
	for _, aof := range []string{"aof_current_size", "aof_base_size", "aof_pending_rewrite", "aof_delayed_fsync"} {
		known[aof] = "" // only with an append-only file
	}
	text := resptest.Dial(t, ours, 2).Do("INFO", "everything").Text
	text, own, _ := strings.Cut(text, "# Ringside\r\n")
	for name := range infoFields(text) {
		if _, ok := known[name]; !ok && !strings.HasPrefix(name, "cmdstat_") && !strings.HasPrefix(name, "latency_perc") && !strings.HasPrefix(name, "errorstat_") {
			t.Errorf("Redis has no field %s", name)
		}
	}
	for _, name := range []string{"strategy", "hash", "fsync", "cache_hits"} {
		if _, ok := infoFields(own)[name]; !ok {
			t.Errorf("no field %s of our own", name)
		}
	}
}

func infoTitles(text string) []string {
	return regexp.MustCompile(`(?m)^# \w+`).FindAllString(text, -1)
}

func infoFields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			fields[name] = value
		}
	}
	return fields
}

func TestInfoCounts(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.NodeID = "n1" })
	o := resptest.Dial(t, addr, 3)
	o.Want("+OK", "SET", "a", "1")
	o.Want("+OK", "SET", "b", "1", "PX", "100000")
	o.Want("$1", "GET", "a")
	o.Want("$1", "GET", "b")
	o.Want("_", "GET", "c")
	o.Do("INCR") // rejected
	o.Do("nosuch")
	o.Want("-"+command.MsgNotInteger, "SET", "a", "1", "EX", "x")

	v := o.Do("INFO", "everything")
	if v.Kind != '=' || !strings.HasPrefix(v.Text, "txt:") {
		t.Errorf("RESP3: %c%.10q", v.Kind, v.Text)
	}
	f := infoFields(v.Text)
	for name, want := range map[string]string{
		"redis_version": "7.4.0", "ringside_version": "0.0.0-test", "run_id": srv.runID, "node_id": "n1",
		"connected_clients": "1", "db0": "keys=2,expires=1,avg_ttl=0,subexpiry=0",
		"pubsub_clients": "0", "watching_clients": "0", "total_watched_keys": "0", "expired_subkeys": "0",
		"keyspace_hits": "2", "keyspace_misses": "1", "evicted_keys": "0", "total_error_replies": "3",
		"listener0": "name=tcp,port=" + fmt.Sprint(srv.port.Load()), "listener1": "", "evicted_scripts": "0",
		"errorstat_ERR": "count=3", "aof_enabled": "1", "aof_last_write_status": "ok", "rdb_last_bgsave_status": "ok",
		"strategy": "buckets", "hash": "native", "fsync": "everysec", "loading": "0", "role": "master",
	} {
		if f[name] != want {
			t.Errorf("%s: %q, want %q", name, f[name], want)
		}
	}
	if got := f["cmdstat_set"]; !regexp.MustCompile(`^calls=3,usec=\d+,usec_per_call=\d+\.\d\d,rejected_calls=0,failed_calls=1$`).MatchString(got) {
		t.Errorf("cmdstat_set: %q", got)
	}
	if got := f["cmdstat_incr"]; !strings.HasPrefix(got, "calls=0,usec=0,usec_per_call=0.00,rejected_calls=1,") {
		t.Errorf("cmdstat_incr: %q", got)
	}
	if got := f["latency_percentiles_usec_get"]; !regexp.MustCompile(`^p50=\d+\.\d{3},p99=\d+\.\d{3},p99.9=\d+\.\d{3}$`).MatchString(got) {
		t.Errorf("latency of GET: %q", got)
	}
	if used, rss := mustInt(t, f["used_memory"]), mustInt(t, f["used_memory_rss"]); used < 1<<20 || rss < 1<<20 || used > 1<<32 {
		t.Errorf("memory: %d, resident %d", used, rss)
	}

	o.Want("+OK", "CONFIG", "RESETSTAT")
	f = infoFields(o.Do("INFO", "stats", "errorstats").Text)
	if f["keyspace_hits"] != "0" || f["total_error_replies"] != "0" || f["errorstat_ERR"] != "" || f["total_commands_processed"] != "1" {
		t.Errorf("after RESETSTAT: %v", f)
	}
}

func TestInfoMapOfGoRedis(t *testing.T) {
	_, addr := serveTest(t, nil)
	c := redistest.Client(&redis.Options{Addr: addr})
	defer c.Close()
	m, err := c.InfoMap(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if m["Server"]["redis_version"] != admin.RedisVersion || m["Ringside"]["strategy"] != "buckets" {
		t.Errorf("%v", m)
	}
}

// TestHitsAndMissesOfRedis compares what counts as a look at a key.
func TestHitsAndMissesOfRedis(t *testing.T) {
	real := redistest.Start7(t)
	_, ours := serveTest(t, nil)
	a, b := resptest.Dial(t, real, 2), resptest.Dial(t, ours, 2)
	for _, line := range []string{
		"SET a 1", "GET a", "GET no", "MGET a no a", "EXISTS a no a", "STRLEN a", "STRLEN no", "GETRANGE a 0 1",
		"GETBIT a 1", "BITCOUNT no", "BITPOS a 1", "TTL a", "PTTL no", "TYPE a", "TYPE no", "TOUCH a no",
		"EXPIRETIME a", "OBJECT ENCODING a", "LCS a no", "DUMP no", "INCR a", "APPEND a 1", "SETRANGE a 0 x",
		"DEL no", "RENAME a b", "PERSIST b", "EXPIRE b 100", "SCAN 0", "RANDOMKEY", "SET b 1 NX", "SETNX b 1",
	} {
		words := strings.Fields(line)
		counts := func(o *resptest.Conn) string {
			o.Want("+OK", "CONFIG", "RESETSTAT")
			o.Do(words...)
			f := infoFields(o.Do("INFO", "stats").Text)
			return f["keyspace_hits"] + " hits, " + f["keyspace_misses"] + " misses"
		}
		if want, got := counts(a), counts(b); want != got {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestLargeValueIsOneHit(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "SET", "a", strings.Repeat("x", 2*command.LargeReply))
	o.Want("+OK", "CONFIG", "RESETSTAT")
	o.Send("SET", "b", "1")
	o.Send("GET", "a") // runs once more, without latches
	o.Next()
	o.Next()
	// A reply of that size leaves before it is counted, but before the next command runs it is.
	if n := infoFields(o.Do("INFO", "stats").Text)["keyspace_hits"]; n != "1" {
		t.Errorf("%s hits", n)
	}
}

func TestScriptsAreCountedInInfo(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	memory := func() string {
		f := infoFields(o.Do("INFO", "memory").Text)
		return f["number_of_cached_scripts"] + " take " + f["used_memory_scripts"]
	}
	if got := memory(); got != "0 take 0" {
		t.Error(got)
	}
	o.Do("EVAL", "return 1", "0")
	o.Do("SCRIPT", "LOAD", "return 2")
	o.Do("EVAL", "return 1", "0")
	if got := memory(); !strings.HasPrefix(got, "2 take 2") {
		t.Error(got)
	}
	o.Want("+OK", "SCRIPT", "FLUSH")
	if got := memory(); got != "0 take 0" {
		t.Error(got)
	}
}

// Functions that FUNCTION FLUSH ASYNC has removed, and values whose entries are deleted after they are, count as freed
// in the background.
func TestWhatIsFreedInTheBackgroundIsCounted(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	field := func(name string) int {
		n, err := strconv.Atoi(infoFields(o.Do("INFO", "memory").Text)[name])
		if err != nil {
			t.Error(err)
		}
		return n
	}
	for i := range 3 {
		o.Do("FUNCTION", "LOAD", fmt.Sprintf("#!lua name=l%d\nredis.register_function('f%d', function() end)", i, i))
	}
	if n := field("used_memory_vm_functions"); n < 300 {
		t.Errorf("three libraries take %d bytes", n)
	}
	o.Want("+OK", "FUNCTION", "FLUSH", "ASYNC")
	if n := field("used_memory_vm_functions"); n != 0 {
		t.Errorf("no library takes %d bytes", n)
	}
	if n := field("lazyfreed_objects"); n != 4 {
		t.Errorf("%d objects were freed, want 3 functions and their set", n)
	}
	o.Want("+OK", "CONFIG", "RESETSTAT")
	if n := field("lazyfreed_objects"); n != 0 {
		t.Errorf("%d objects were freed since the counters were reset", n)
	}
	o.Do("RPUSH", "list", strings.Repeat("x", 1000), strings.Repeat("y", 1000))
	o.Want(":1", "UNLINK", "list")
	resptest.WaitFor(t, "the list to be freed", func() bool { return field("lazyfreed_objects") == 1 })
}

// The error with which a wait ends counts as any other.
func TestErrorsOfWaitsAreCounted(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, waiter := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("+OK", "XGROUP", "CREATE", "s", "g", "$", "MKSTREAM")
	waiter.Send("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">")
	awaitBlocked(t, o, 1)
	o.Want(":1", "DEL", "s")
	if got := waiter.Next().String(); got != "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option" {
		t.Error(got)
	}
	waiter.Want("+PONG", "PING")
	f := infoFields(o.Do("INFO", "errorstats").Text)
	stats := infoFields(o.Do("INFO", "commandstats").Text)["cmdstat_xreadgroup"]
	if f["errorstat_NOGROUP"] != "count=1" || !strings.Contains(stats, "failed_calls=1") {
		t.Errorf("%v, %s", f, stats)
	}
}
