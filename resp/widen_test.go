package resp

import (
	"strings"
	"sync/atomic"
	"testing"
)

// counted has a server count how often a command is run on a key.
func counted(srv *Server, name, key string) *atomic.Int64 {
	var n atomic.Int64
	cmd := srv.table.byName[name]
	run := cmd.run
	cmd.run = func(x *call) {
		if string(x.args[1]) == key {
			n.Add(1)
		}
		run(x)
	}
	return &n
}

// What shares a unit with a script that goes astray is run again once, not with each key that
// the script comes upon.
func TestWhoSharesAUnitWithAnAstrayScriptIsRunAgainOnce(t *testing.T) {
	srv, addr := serveTest(t, nil)
	runs := counted(srv, "lpush", "l")
	o := dialRedis(t, addr, 2)
	const astray = "for i = 1, 3 do redis.call('incr', ARGV[1] .. i) end return 1"
	replies := o.doAll([][]string{{"LPUSH", "l", "a"}, {"EVAL", astray, "0", "undeclared"}})
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
	o.want(":2", "LLEN", "l")
}

// A script that comes upon ever more keys is given all latches.
func TestAScriptThatGoesOnAndOnIsRunSomeTimes(t *testing.T) {
	srv, addr := serveTest(t, nil)
	runs := counted(srv, "incr", "first")
	o := dialRedis(t, addr, 2)
	o.want(":1", "EVAL", "redis.call('incr', KEYS[1]) for i = 1, 30 do redis.call('incr', 'undeclared' .. i) end return 1", "1", "first")
	if n := runs.Load(); n > fewWants+2 {
		t.Errorf("it was run %d times", n)
	}
	o.want("$1", "GET", "first")
}

// A script of which a part is applied already is not run again: it gets an error instead.
func TestAScriptThatIsAppliedInPartIsNotRunAgain(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	got := o.do("EVAL", "redis.call('rpush', KEYS[1], 'x') redis.call('set', KEYS[2], string.rep('x', 20 * 1024 * 1024)) return redis.call('get', 'undeclared')", "2", "l", "long")
	if !strings.HasPrefix(got.String(), "-ERR Script needs a key that it has not declared, after it has written a large value") {
		t.Errorf("it replies %.200s", got)
	}
	o.want(":1", "LLEN", "l")
}
