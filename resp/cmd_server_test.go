package resp

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

func TestMonitorShowsOthers(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	watch := resptest.DialRaw(t, addr)
	watch.Want("+OK", "AUTH", "secret")
	watch.Want("+OK", "MONITOR")

	o := resptest.DialRaw(t, addr)
	o.Do("AUTH", "wrong")
	o.Want("+OK", "AUTH", "secret")
	o.Do("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "auth")
	o.Want("+OK", "SET", "a\"b\\c", "x\r\n\t\x00\xff")
	o.Do("CONFIG", "GET", "requirepass")
	o.Do("nosuch", "secret")
	o.Want("$xsecret", "ECHO", "xsecret")

	for _, want := range []string{
		`"AUTH" "(redacted)"`,
		`"AUTH" "(redacted)"`,
		`"HELLO" "3" "AUTH" "(redacted)" "(redacted)" "SETNAME" "auth"`,
		`"SET" "a\"b\\c" "x\r\n\t\x00\xff"`,
		`"ECHO" "xsecret"`,
	} {
		line := watch.Next().String()
		form := regexp.MustCompile(`^\+\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] (.*)$`)
		m := form.FindStringSubmatch(line)
		if m == nil || m[1] != want || !strings.Contains(line, o.C.LocalAddr().String()) {
			t.Errorf("got %s, want %s", line, want)
		}
	}
	// RESET ends it; nothing comes after its reply.
	o.Want("+OK", "SET", "a", "1")
	watch.Send("RESET")
	for {
		if v := watch.Next(); v.Text == "RESET" {
			break
		}
	}
	o.Want("+OK", "SET", "a", "2")
	watch.Silent(50 * time.Millisecond)
}

// A script that needs a key that it has not declared is started again with the latch of that key.
func TestMonitorShowsOnceWhatRunsAgain(t *testing.T) {
	_, addr := serveTest(t, nil)
	watch, c := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	watch.Want("+OK", "MONITOR")
	c.Want("+OK", "EVAL", "return redis.call('SET', 'undeclared', 1)", "0")
	c.Want("+PONG", "PING")
	shown := ""
	for !strings.Contains(shown, "PING") {
		shown += watch.Next().String() + "\n"
	}
	if strings.Count(shown, "EVAL") != 1 || strings.Count(shown, "SET\" \"undeclared") != 1 {
		t.Error(shown)
	}
}

// Whoever has read MONITOR's reply sees everything that is run from then on.
func TestMonitorMissesNothing(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.DialRaw(t, addr)
	for i := range 300 {
		watch := resptest.DialRaw(t, addr)
		watch.Want("+OK", "MONITOR")
		what := fmt.Sprint("round", i)
		o.Want("$x"+what, "ECHO", "x"+what)
		if line := watch.Next().String(); !strings.HasSuffix(line, `"ECHO" "x`+what+`"`) {
			t.Fatalf("round %d: %s", i, line)
		}
		_ = watch.C.Close()
	}
}

func TestMonitorReplyComesFirst(t *testing.T) {
	_, addr := serveTest(t, nil)
	stop := make(chan struct{})
	done := make(chan struct{})
	o := resptest.DialRaw(t, addr)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			resptest.Write(o.C, "SET", "a", "1")
			if _, err := o.Read(); err != nil {
				return
			}
		}
	}()
	for range 20 {
		watch := resptest.DialRaw(t, addr)
		watch.Send("ECHO", "x")
		watch.Send("MONITOR")
		for _, want := range []string{"$x", "+OK"} {
			if got := watch.Next().String(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		watch.Next() // a line
		watch.C.Close()
	}
	close(stop)
	<-done
}

func TestMonitorThatDoesNotReadIsClosed(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.OutputBuffer = 64 << 10 })
	watch := resptest.DialRaw(t, addr)
	watch.Want("+OK", "MONITOR")
	o := resptest.Dial(t, addr, 2)
	resptest.WaitFor(t, "the monitor is closed", func() bool {
		o.Do("ECHO", strings.Repeat("x", 32<<10))
		return srv.count.Load() == 1
	})
	resptest.WaitFor(t, "its memory is given back", func() bool { return srv.budget.InUse() <= 2*keepInput })
}

func TestSlowlog(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) {
		c.Settings = settings.Default()
		c.Settings.SlowlogSlowerThan = -1
	})
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CLIENT", "SETNAME", "me")
	o.Want("+OK", "SET", "a", "1")
	o.Want(":0", "SLOWLOG", "LEN")
	o.Want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "3")
	o.Want("+OK", "SLOWLOG", "RESET")
	many := []string{"MSET"}
	for i := range 20 {
		many = append(many, fmt.Sprint("key", i), strings.Repeat("v", 130))
	}
	o.Want("+OK", many...)
	o.Want("+OK", "CONFIG", "SET", "requirepass", "secret")
	o.Want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "-1")
	o.Want(":3", "SLOWLOG", "LEN")
	entries := o.Do("SLOWLOG", "GET", "-1").Elems
	if len(entries) != 3 {
		t.Fatalf("%d entries", len(entries))
	}
	hidden, mset := entries[0], entries[1]
	if got := hidden.Elems[3].String(); got != "*($CONFIG $SET $requirepass $(redacted))" {
		t.Errorf("password: %s", got)
	}
	words := mset.Elems[3].Elems
	if len(words) != 32 || words[31].Text != "... (10 more arguments)" || words[2].Text != strings.Repeat("v", 128)+"... (2 more bytes)" {
		t.Errorf("words: %v", words)
	}
	if mset.Elems[4].Text != o.C.LocalAddr().String() || mset.Elems[5].Text != "me" {
		t.Errorf("client: %v", mset.Elems[4:])
	}
	if n := len(o.Do("SLOWLOG", "GET", "2").Elems); n != 2 {
		t.Errorf("GET 2: %d entries", n)
	}
	o.Want("+OK", "SLOWLOG", "RESET")
	o.Want(":0", "SLOWLOG", "LEN")
}

func TestShutdown(t *testing.T) {
	var calls atomic.Int32
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Shutdown = func() { calls.Add(1) } })
	o := resptest.Dial(t, addr, 2)
	o.Want("-ERR No shutdown in progress.", "SHUTDOWN", "ABORT")
	o.Send("SHUTDOWN", "NOSAVE", "NOW", "FORCE")
	o.Silent(50 * time.Millisecond)
	o.Want("-ERR The shutdown has gone too far to be aborted.", "SHUTDOWN", "ABORT")
	o.Send("SHUTDOWN")
	o.Want("+PONG", "PING")
	if n := calls.Load(); n != 1 {
		t.Errorf("Shutdown was called %d times", n)
	}
}

// DEBUG is refused as Redis refuses it, unless a setting lets it through.
func TestDebugIsRefusedUnlessEnabled(t *testing.T) {
	redis := resptest.Dial(t, redistest.Start7(t), 2)
	for _, setting := range []string{"", "no"} {
		_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Debug = setting })
		o := resptest.Dial(t, addr, 2)
		for _, words := range [][]string{{"DEBUG", "SLEEP", "0"}, {"DEBUG", "nosuch"}, {"DEBUG"}, {"MULTI"}, {"DEBUG", "SLEEP", "0"}, {"EXEC"}} {
			o.Want(redis.Do(words...).String(), words...)
		}
	}
}

func TestDebugAndClock(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	start := time.Now()
	o.Want("+OK", "DEBUG", "SLEEP", "0.05")
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("slept for %v", took)
	}
	o.Want("+OK", "DEBUG", "SLEEP", "abc")
	o.Want("+OK", "DEBUG", "SLEEP", "-1")
	o.Want("-ERR unknown subcommand or wrong number of arguments for 'nosuch'. Try DEBUG HELP.", "DEBUG", "nosuch")
	o.Want("-ERR unknown subcommand or wrong number of arguments for 'SLEEP'. Try DEBUG HELP.", "DEBUG", "SLEEP")
	if n := len(o.Do("DEBUG", "HELP").Elems); n != 16 {
		t.Errorf("HELP has %d lines", n)
	}
	clock := o.Do("TIME").Elems
	if len(clock) != 2 || mustInt(t, clock[0].Text) < start.Unix() || mustInt(t, clock[1].Text) >= 1e6 {
		t.Errorf("TIME: %v", clock)
	}
	if at := mustInt(t, o.Do("LASTSAVE").Text); at < start.Unix()-60 || at > time.Now().Unix() {
		t.Errorf("LASTSAVE: %d", at)
	}
}
