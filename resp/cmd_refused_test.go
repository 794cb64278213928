package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// What Redis has and Ringside has not, or has little of, is answered as by a Redis with one
// database and without functions, modules or events.
func TestUnsupportedCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.redis.Do("CONFIG", "SET", "latency-monitor-threshold", "0")
		d.run(`
SET a 1
MOVE a 0
MOVE nope 0
MOVE a 99
MOVE a -1
MOVE a x
MOVE a 99999999999
MOVE a 99999999999999999999
MOVE a
SWAPDB 0 0
SWAPDB x 0
SWAPDB 0 x
SWAPDB 0 99
SWAPDB -1 0
SWAPDB 0 99999999999
ROLE
ROLE x
REPLICAOF no one
SLAVEOF NO ONE
REPLICAOF no
SAVE
SAVE x
BGSAVE x
BGSAVE schedule x
ACL
ACL WHOAMI
ACL WHOAMI x
ACL USERS
ACL LIST
ACL GETUSER default
ACL GETUSER nope
ACL CAT nope
ACL CAT read x
ACL LOG
ACL LOG reset
ACL LOG x
ACL LOG 1 2
ACL GENPASS x
ACL GENPASS 0
ACL GENPASS 5000
ACL GENPASS 1 2
ACL DRYRUN nope get a
ACL DRYRUN default get a
ACL DRYRUN default get
ACL DRYRUN default nope
ACL DRYRUN default
ACL NOPE
LATENCY LATEST
LATENCY LATEST x
LATENCY HISTORY command
LATENCY RESET
LATENCY RESET command fork
LATENCY GRAPH command
LATENCY HISTOGRAM nope
LATENCY NOPE
MEMORY PURGE
MEMORY DOCTOR x
FUNCTION LIST
FUNCTION LIST WITHCODE
FUNCTION LIST LIBRARYNAME x WITHCODE
FUNCTION LIST LIBRARYNAME
FUNCTION LIST WITHCODE WITHCODE
FUNCTION FLUSH
FUNCTION FLUSH sync
FUNCTION FLUSH nope
FUNCTION FLUSH sync sync
FUNCTION DELETE x
FUNCTION KILL
MODULE LIST
CONFIG REWRITE
LOLWUT VERSION x
`)
		d.do("CONFIG", "SET", "requirepass", "secret")
		d.do("ACL", "LIST")
		d.do("ACL", "GETUSER", "default")
		d.do("CONFIG", "SET", "requirepass", "")
	})
}

// Each refusal is an error that says more than that a command is unknown, whatever the
// arguments, and says it on one line.
func TestRefusalsSayWhy(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	refusals := 0
	for _, c := range newCommandTable().All {
		if c.Refusal == "" {
			continue
		}
		refusals++
		words := strings.Split(strings.ToUpper(c.Full), "|")
		for len(words) < max(c.Arity, -c.Arity) {
			words = append(words, "1")
		}
		o.Want("-"+c.Refusal, words...)
	}
	if refusals == 0 {
		t.Error("nothing is refused")
	}
}

func TestPasswordsOfAclGenpass(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	for bits, digits := range map[string]int{"": 64, "1": 1, "4": 1, "5": 2, "32": 8, "4096": 1024} {
		args := strings.Fields("ACL GENPASS " + bits)
		a, b := o.Do(args...).Text, o.Do(args...).Text
		if len(a) != digits || len(b) != digits || strings.Trim(a+b, "0123456789abcdef") != "" || digits > 8 && a == b {
			t.Errorf("%v: %s and %s", args, a, b)
		}
	}
}

func TestLatencyHistogramCountsCalls(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	for range 10 {
		o.Do("SET", "a", "1")
	}
	o.Do("CONFIG", "GET", "port")
	set := o.Do("LATENCY", "HISTOGRAM", "set", "nope").Field("set")
	if set == nil || set.Field("calls").Text != "10" {
		t.Fatalf("SET: %v", set)
	}
	last := int64(0)
	for i, e := range set.Field("histogram_usec").Elems {
		if n := mustInt(t, e.Text); i%2 == 1 && n <= last {
			t.Errorf("counts do not rise: %v", set)
		} else if i%2 == 1 {
			last = n
		}
	}
	if last != 10 {
		t.Errorf("the last count is %d: %v", last, set)
	}
	if all := o.Do("LATENCY", "HISTOGRAM"); all.Field("set") == nil || all.Field("config|get") == nil {
		t.Errorf("all: %v", all)
	}
	if got := o.Do("LATENCY", "HISTOGRAM", "config"); got.Field("config|get") == nil {
		t.Errorf("a container: %v", got)
	}
}

func TestSaveHasTheLogOnDisk(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	for _, save := range [][]string{{"SAVE"}, {"BGSAVE"}, {"BGSAVE", "SCHEDULE"}} {
		o.Do("SET", "a", save[0])
		before := srv.store.LastSync()
		if got := o.Do(save...); got.Kind != '+' {
			t.Errorf("%v: %v", save, got)
		}
		if !srv.store.LastSync().After(before) {
			t.Errorf("%v has synced nothing", save)
		}
	}
}

// What tells of the server is there, and not empty.
func TestReportsOfMemoryAndArt(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	for _, words := range [][]string{{"MEMORY", "DOCTOR"}, {"MEMORY", "MALLOC-STATS"}, {"LATENCY", "DOCTOR"}, {"LOLWUT"}, {"LOLWUT", "VERSION", "5", "1"}} {
		if got := o.Do(words...); got.Kind != '=' || len(got.Text) < 20 {
			t.Errorf("%v: %v", words, got)
		}
	}
	o.Do("SET", "a", "1")
	stats := o.Do("MEMORY", "STATS")
	if n := stats.Field("keys.count"); n == nil || n.Text != "1" {
		t.Errorf("MEMORY STATS: %v", stats)
	}
	for _, name := range []string{"keys.bytes-per-key", "dataset.bytes", "overhead.total", "allocator.active", "allocator-rss.bytes"} {
		if n := stats.Field(name); n == nil || n.Kind != ':' {
			t.Errorf("MEMORY STATS: %s is %v", name, n)
		}
	}
	for _, name := range []string{"dataset.percentage", "peak.percentage", "fragmentation", "allocator-fragmentation.ratio"} {
		if n := stats.Field(name); n == nil || n.Kind != ',' {
			t.Errorf("MEMORY STATS: %s is %v", name, n)
		}
	}
}
