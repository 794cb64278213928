package resp

import (
	"bufio"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
)

func TestMonitorShowsOthers(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	watch := dialRaw(t, addr)
	watch.want("+OK", "AUTH", "secret")
	watch.want("+OK", "MONITOR")

	o := dialRaw(t, addr)
	o.do("AUTH", "wrong")
	o.want("+OK", "AUTH", "secret")
	o.do("HELLO", "3", "AUTH", "default", "secret", "SETNAME", "auth")
	o.want("+OK", "SET", "a\"b\\c", "x\r\n\t\x00\xff")
	o.do("CONFIG", "GET", "requirepass")
	o.do("nosuch", "secret")
	o.want("$xsecret", "ECHO", "xsecret")

	for _, want := range []string{
		`"AUTH" "(redacted)"`,
		`"AUTH" "(redacted)"`,
		`"HELLO" "3" "AUTH" "(redacted)" "(redacted)" "SETNAME" "auth"`,
		`"SET" "a\"b\\c" "x\r\n\t\x00\xff"`,
		`"ECHO" "xsecret"`,
	} {
		line := watch.next().String()
		form := regexp.MustCompile(`^\+\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] (.*)$`)
		m := form.FindStringSubmatch(line)
		if m == nil || m[1] != want || !strings.Contains(line, o.c.LocalAddr().String()) {
			t.Errorf("got %s, want %s", line, want)
		}
	}
	// RESET ends it; nothing comes after its reply.
	o.want("+OK", "SET", "a", "1")
	watch.send("RESET")
	for {
		if v := watch.next(); v.text == "RESET" {
			break
		}
	}
	o.want("+OK", "SET", "a", "2")
	watch.silent(50 * time.Millisecond)
}

// Whoever has read MONITOR's reply sees everything that is run from then on.
func TestMonitorMissesNothing(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRaw(t, addr)
	for i := range 300 {
		watch := dialRaw(t, addr)
		watch.want("+OK", "MONITOR")
		what := fmt.Sprint("round", i)
		o.want("$x"+what, "ECHO", "x"+what)
		if line := watch.next().String(); !strings.HasSuffix(line, `"ECHO" "x`+what+`"`) {
			t.Fatalf("round %d: %s", i, line)
		}
		_ = watch.c.Close()
	}
}

func TestMonitorReplyComesFirst(t *testing.T) {
	_, addr := serveTest(t, nil)
	stop := make(chan struct{})
	done := make(chan struct{})
	o := dialRaw(t, addr)
	go func() {
		defer close(done)
		r := bufio.NewReader(o.c)
		for {
			select {
			case <-stop:
				return
			default:
			}
			writeCommand(o.c, "SET", "a", "1")
			if _, err := readValue(r); err != nil {
				return
			}
		}
	}()
	for range 20 {
		watch := dialRaw(t, addr)
		watch.send("ECHO", "x")
		watch.send("MONITOR")
		for _, want := range []string{"$x", "+OK"} {
			if got := watch.next().String(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		watch.next() // a line
		watch.c.Close()
	}
	close(stop)
	<-done
}

func TestMonitorThatDoesNotReadIsClosed(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.OutputBuffer = 64 << 10 })
	watch := dialRaw(t, addr)
	watch.want("+OK", "MONITOR")
	o := dialRedis(t, addr, 2)
	waitFor(t, "the monitor is closed", func() bool {
		o.do("ECHO", strings.Repeat("x", 32<<10))
		return srv.count.Load() == 1
	})
	waitFor(t, "its memory is given back", func() bool { return srv.budget.inUse() <= 2*keepInput })
}

func TestSlowlog(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) {
		c.Settings = settings.Default()
		c.Settings.SlowlogSlowerThan = -1
	})
	o := dialRedis(t, addr, 2)
	o.want("+OK", "CLIENT", "SETNAME", "me")
	o.want("+OK", "SET", "a", "1")
	o.want(":0", "SLOWLOG", "LEN")
	o.want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "3")
	o.want("+OK", "SLOWLOG", "RESET")
	many := []string{"MSET"}
	for i := range 20 {
		many = append(many, fmt.Sprint("key", i), strings.Repeat("v", 130))
	}
	o.want("+OK", many...)
	o.want("+OK", "CONFIG", "SET", "requirepass", "secret")
	o.want("+OK", "CONFIG", "SET", "slowlog-log-slower-than", "-1")
	o.want(":3", "SLOWLOG", "LEN")
	entries := o.do("SLOWLOG", "GET", "-1").elems
	if len(entries) != 3 {
		t.Fatalf("%d entries", len(entries))
	}
	hidden, mset := entries[0], entries[1]
	if got := hidden.elems[3].String(); got != "*($CONFIG $SET $requirepass $(redacted))" {
		t.Errorf("password: %s", got)
	}
	words := mset.elems[3].elems
	if len(words) != 32 || words[31].text != "... (10 more arguments)" || words[2].text != strings.Repeat("v", 128)+"... (2 more bytes)" {
		t.Errorf("words: %v", words)
	}
	if mset.elems[4].text != o.c.LocalAddr().String() || mset.elems[5].text != "me" {
		t.Errorf("client: %v", mset.elems[4:])
	}
	if n := len(o.do("SLOWLOG", "GET", "2").elems); n != 2 {
		t.Errorf("GET 2: %d entries", n)
	}
	o.want("+OK", "SLOWLOG", "RESET")
	o.want(":0", "SLOWLOG", "LEN")
}

func TestShutdown(t *testing.T) {
	var calls atomic.Int32
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Shutdown = func() { calls.Add(1) } })
	o := dialRedis(t, addr, 2)
	o.want("-ERR No shutdown in progress.", "SHUTDOWN", "ABORT")
	o.send("SHUTDOWN", "NOSAVE", "NOW", "FORCE")
	o.silent(50 * time.Millisecond)
	o.want("-ERR The shutdown has gone too far to be aborted.", "SHUTDOWN", "ABORT")
	o.send("SHUTDOWN")
	o.want("+PONG", "PING")
	if n := calls.Load(); n != 1 {
		t.Errorf("Shutdown was called %d times", n)
	}
}

// DEBUG is refused as Redis refuses it, unless a setting lets it through.
func TestDebugIsRefusedUnlessEnabled(t *testing.T) {
	redis := dialRedis(t, redistest.Start7(t), 2)
	for _, setting := range []string{"", "no"} {
		_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Debug = setting })
		o := dialRedis(t, addr, 2)
		for _, words := range [][]string{{"DEBUG", "SLEEP", "0"}, {"DEBUG", "nosuch"}, {"DEBUG"}, {"MULTI"}, {"DEBUG", "SLEEP", "0"}, {"EXEC"}} {
			o.want(redis.do(words...).String(), words...)
		}
	}
}

func TestDebugAndClock(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	start := time.Now()
	o.want("+OK", "DEBUG", "SLEEP", "0.05")
	if took := time.Since(start); took < 50*time.Millisecond {
		t.Errorf("slept for %v", took)
	}
	o.want("+OK", "DEBUG", "SLEEP", "abc")
	o.want("+OK", "DEBUG", "SLEEP", "-1")
	o.want("-ERR unknown subcommand or wrong number of arguments for 'nosuch'. Try DEBUG HELP.", "DEBUG", "nosuch")
	o.want("-ERR unknown subcommand or wrong number of arguments for 'SLEEP'. Try DEBUG HELP.", "DEBUG", "SLEEP")
	if n := len(o.do("DEBUG", "HELP").elems); n != 5 {
		t.Errorf("HELP has %d lines", n)
	}
	clock := o.do("TIME").elems
	if len(clock) != 2 || mustInt(t, clock[0].text) < start.Unix() || mustInt(t, clock[1].text) >= 1e6 {
		t.Errorf("TIME: %v", clock)
	}
	if at := mustInt(t, o.do("LASTSAVE").text); at < start.Unix()-60 || at > time.Now().Unix() {
		t.Errorf("LASTSAVE: %d", at)
	}
}
