package resp

import (
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
)

// A pause of writes holds back scripts and functions that may write, and no others.
func TestPauseOfWritesLetsReadersPass(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, held := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	o.Want("$a", "FUNCTION", "LOAD", "#!lua name=a\nredis.register_function{function_name='reads', callback=function() return 1 end, flags={'no-writes'}}\n"+
		"redis.register_function('writes', function() return 2 end)")
	const script = "#!lua flags=no-writes\nreturn 3"
	sha := o.Do("SCRIPT", "LOAD", script).Text
	o.Want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	o.Want(":1", "FCALL", "reads", "0")
	o.Want(":3", "EVAL", script, "0")
	o.Want(":4", "EVAL", "#!lua flags=no-writes\nreturn 4", "0")
	o.Want(":3", "EVALSHA", sha, "0")
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", "FCALL", "reads", "0")
	o.Want("+QUEUED", "EVAL", script, "0")
	o.Want("*(:1 :3)", "EXEC")
	held.Send("FCALL", "writes", "0")
	resptest.WaitFor(t, "the pause to hold a function back", func() bool { return o.InfoField("blocked_clients", "INFO", "clients") == 1 })
	o.Want("+OK", "CLIENT", "UNPAUSE")
	if got := held.Next().String(); got != ":2" {
		t.Error(got)
	}
}

// FUNCTION KILL ends functions, SCRIPT KILL scripts, and each says so of the other kind.
func TestKillKnowsScriptsFromFunctions(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o, runs := resptest.Dial(t, addr, 3), resptest.Dial(t, addr, 2)
	o.Want("$a", "FUNCTION", "LOAD", "#!lua name=a\nredis.register_function('endless', function() while true do end end)\nredis.register_function('f', function() return 1 end)")
	running := func() {
		t.Helper()
		resptest.WaitFor(t, "it to run", func() bool { return srv.scripts.Any(func(*scripts.Run) bool { return true }) })
	}
	for _, c := range []struct{ call, end, not, busy string }{
		{"FCALL", "FUNCTION", "SCRIPT", scripts.MsgBusyFunction},
		{"EVAL", "SCRIPT", "FUNCTION", scripts.MsgBusy},
	} {
		word := "endless"
		if c.call == "EVAL" {
			word = "while true do end"
		}
		runs.Send(c.call, word, "1", "k")
		running()
		o.Want("-"+c.busy, c.not, "KILL")
		if v := o.Do("FUNCTION", "STATS"); c.call == "FCALL" && (v.Field("running_script").Field("name").Text != "endless" || v.Field("running_script").Field("command").String() != "*($FCALL $endless $1 $k)") {
			t.Errorf("running is %s", v)
		}
		o.Want(":1", "FCALL", "f", "1", "other") // it waits for no other key
		o.Want("+OK", c.end, "KILL")
		if got := runs.Next(); got.Kind != '-' {
			t.Errorf("%s was answered %s", c.call, got)
		}
		o.Want(":1", "FCALL", "f", "1", "k")
	}
	o.Want("-"+scripts.MsgNotBusy, "FUNCTION", "KILL")
	o.Want("+OK", "CONFIG", "SET", "maxmemory", "1")
	o.Want("-OOM command not allowed when used memory > 'maxmemory'.", "FUNCTION", "LOAD", "REPLACE", "#!lua name=a\n")
	o.Want("-OOM command not allowed when used memory > 'maxmemory'.", "FCALL", "f", "0")
}
