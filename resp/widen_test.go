package resp

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// counted has a server count how often a command is run on a key.
func counted(srv *Server, name, key string) *atomic.Int64 {
	var n atomic.Int64
	cmd := srv.table.ByName[name]
	run := cmd.Run
	cmd.Run = func(x *command.Call) {
		if string(x.Args[1]) == key {
			n.Add(1)
		}
		run(x)
	}
	return &n
}

// What shares a unit with a script that goes astray is run again once, not with each key that
// the script comes upon.
func TestCommandsSharingUnitWithWideningScriptRunAgainOnce(t *testing.T) {
	srv, addr := serveTest(t, nil)
	runs := counted(srv, "lpush", "l")
	o := resptest.Dial(t, addr, 2)
	const astray = "for i = 1, 3 do redis.call('incr', ARGV[1] .. i) end return 1"
	replies := o.DoAll([][]string{{"LPUSH", "l", "a"}, {"EVAL", astray, "0", "undeclared"}})
	if got := replies[0].String() + replies[1].String(); got != ":1:1" {
		t.Errorf("replies are %s", got)
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("what came before the script was run %d times", n)
	}
	// Nor with a transaction that holds one.
	answers, err := forwarded(t, srv, []string{"LPUSH", "l", "a"}, []string{"RING", "EXEC", "0", "4", "EVAL", astray, "0", "others"})
	if got := strings.Join(answers, ""); err != nil || got != ":2\r\n*1\r\n:1\r\n" {
		t.Errorf("answers are %q, %v", got, err)
	}
	if n := runs.Load(); n != 4 {
		t.Errorf("what came before the transaction was run %d times", n-2)
	}
	o.Want(":2", "LLEN", "l")
}

// A script that comes upon ever more keys is given all latches.
func TestScriptWithEverMoreKeysIsRunFewTimes(t *testing.T) {
	srv, addr := serveTest(t, nil)
	runs := counted(srv, "incr", "first")
	o := resptest.Dial(t, addr, 2)
	o.Want(":1", "EVAL", "redis.call('incr', KEYS[1]) for i = 1, 30 do redis.call('incr', 'undeclared' .. i) end return 1", "1", "first")
	if n := runs.Load(); n > fewWants+2 {
		t.Errorf("it was run %d times", n)
	}
	o.Want("$1", "GET", "first")
}

// A script or transaction that needs another key after it has begun a value with entries of its
// own, or has written a large one, is begun anew and done once.
func TestScriptIsDoneOnceWhenItNeedsAKeyAfterALargeWrite(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	large := strings.Repeat("x", maxDirtyBytes+1)
	for _, write := range []string{
		"redis.call('xadd', KEYS[1], '*', 'a', 'b')",
		"for i = 1, 300 do redis.call('rpush', KEYS[1], i) end",
		"redis.call('set', KEYS[1], ARGV[1])",
		"redis.call('set', KEYS[1], ARGV[1]) redis.call('setrange', KEYS[1], 10, ARGV[1])",
		"redis.call('setrange', KEYS[1], 1000000, 'x') for i = 1, 70 do redis.call('setrange', KEYS[1], i * 65536, 'x') end",
		"redis.call('set', KEYS[1], ARGV[1]) redis.call('copy', KEYS[1], KEYS[2] .. 'copy')",
		"for i = 1, 300 do redis.call('zadd', KEYS[1], i, i) end redis.call('zunionstore', KEYS[2] .. 'union', 1, KEYS[1])",
	} {
		o.Do("FLUSHALL")
		o.Do("SET", "other", "o")
		o.Do("RPUSH", "ids", "2", "1")
		o.Do("MSET", "w_1", "20", "w_2", "10")
		body := "redis.call('incr', KEYS[2]) " + write + " return redis.call('get', ARGV[2])"
		// What an earlier request of the pipeline has applied early is no obstacle.
		replies := o.DoAll([][]string{
			{"SET", "long", large}, {"SETRANGE", "long", "1", large}, {"EVAL", body, "2", "value", "count", large, "other"},
		})
		if got := replies[2].String(); got != "$o" {
			t.Errorf("%s: %.200s", write, got)
		}
		o.Want("$1", "GET", "count")
		o.Do("DEL", "value")
		o.Do("MULTI")
		o.Do("EVAL", body, "2", "value", "count", large, "other")
		o.Do("SORT", "ids", "BY", "w_*")
		o.Want("*($o *($2 $1))", "EXEC")
		o.Want("$2", "GET", "count")
	}
}

// A script that has written and meets a limit which Redis does not have leaves nothing behind.
func TestScriptLeavesNothingWhenALimitRefusesIt(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.OutputBuffer.Store(256 << 10)
	srv.settings.MaxKey.Store(1 << 10)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "long", strings.Repeat("x", 1<<20))
	for name, limited := range map[string]string{
		"reply":    "pcall(function() redis.call('get', 'long') end)",
		"mget":     "redis.pcall('mget', 'long')",
		"long key": "redis.pcall('get', string.rep('x', 2000))",
		"flushall": "redis.pcall('flushall')",
	} {
		for _, body := range []string{
			"redis.call('append', KEYS[1], 'x') " + limited,
			"redis.call('set', KEYS[1], '') for i = 1, 70 do redis.call('setrange', KEYS[1], i * 65536, 'x') end " + limited,
		} {
			for _, words := range [][]string{{"EVAL", body, "1", "k"}, {"MULTI"}} {
				if words[0] == "MULTI" {
					o.Do("MULTI")
					o.Do("SET", "first", "1")
					o.Do("EVAL", body, "1", "k")
					words = []string{"EXEC"}
				}
				if got := o.Do(words...).String(); !strings.HasPrefix(got, "-") {
					t.Errorf("%s, %s: %.200s", name, body, got)
				}
				o.Want(":0", "EXISTS", "k")
			}
		}
	}
	// One that has not written goes on.
	o.Want("$1", "EVAL", "redis.pcall('mget', 'long') redis.call('incr', KEYS[1]) return redis.call('get', KEYS[1])", "1", "k")
}

// A script that writes to a range with too few copies after one with enough leaves nothing
// behind.
func TestScriptLeavesNothingWhenARangeHasTooFewCopies(t *testing.T) {
	r := routedTest(t, 2)
	r.placeAll(quarters(t, []string{"n0", "n1"}, []string{"n0"}, []string{"n1", "n0"}, []string{"n1"}))
	for _, srv := range r.servers {
		srv.settings.MinInSync.Store(2)
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	const body = "redis.call('set', KEYS[1], 'new') redis.pcall('set', KEYS[2], 'new')"
	for at := 0; at < 4; at += 2 { // of the asked node, and of the other one
		full, scarce := r.keyIn(at), r.keyIn(at+1)
		o.Want("-"+msgNoReplicas, "EVAL", body, "2", full, scarce)
		o.Want(":0", "EXISTS", full)
	}
}

// maxDirtyBytes is how much of a string the store overwrites without applying it early.
const maxDirtyBytes = 4 << 20

// A script or transaction whose changes do not fit into memory is refused, leaves nothing
// behind, and gives back what it was charged.
func TestScriptIsRefusedWhenItsChangesExceedMemory(t *testing.T) {
	srv, addr := serveTest(t, nil)
	srv.settings.ClientMemory.Store(8 << 20)
	srv.budget.Occupy(new(budget.Account), 1<<20) // no other connection may exceed the limit
	o := resptest.Dial(t, addr, 2)
	o.Do("PING")
	before := srv.budget.InUse()
	for _, body := range []string{
		"redis.call('set', KEYS[1], '') for i = 1, 200 do redis.call('setrange', KEYS[1], i * 65536, 'x') end",
		"for i = 1, 2000 do redis.call('rpush', KEYS[1], string.rep('x', 10000)) end",
		"redis.call('setrange', KEYS[1], 10000000, 'x') local s = string.rep('x', 2000000) for i = 0, 4 do redis.call('setrange', KEYS[1], 10 + i * #s, s) end",
	} {
		o.Want("-"+command.MsgUnitTooLarge, "EVAL", body, "1", "k")
		o.Do("MULTI")
		o.Do("EVAL", body, "1", "k")
		o.Want("-EXECABORT Transaction discarded because of: "+strings.TrimPrefix(command.MsgUnitTooLarge, "ERR "), "EXEC")
	}
	o.Want(":0", "EXISTS", "k")
	if n := srv.budget.InUse(); n != before {
		t.Errorf("%d bytes stay charged", n-before)
	}
}
