package resp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

func TestClientListIsReadable(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	o.want("+OK", "CLIENT", "SETINFO", "LIB-NAME", "mine")
	o.want("+OK", "CLIENT", "SETINFO", "lib-ver", "1.2")
	o.want("-ERR Unrecognized option 'nosuch'", "CLIENT", "SETINFO", "nosuch", "1")
	o.want("-ERR lib-ver cannot contain spaces, newlines or special characters.", "CLIENT", "SETINFO", "lib-ver", "a b")
	o.want("-"+msgLongName, "CLIENT", "SETNAME", strings.Repeat("x", maxClientWord+1))

	c := redistest.Client(&redis.Options{Addr: addr, ClientName: "them", Protocol: 3})
	defer c.Close()
	info, err := c.ClientInfo(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if info.Name != "them" || info.Resp != 3 || info.LastCmd != "client|info" || info.User != "default" || info.FD < 1 {
		t.Errorf("%+v", info)
	}
	list := o.do("CLIENT", "LIST").text
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %q", len(lines), list)
	}
	for _, want := range []string{" lib-name=mine lib-ver=1.2", " cmd=client|list ", " resp=2 ", " flags=N "} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("no %q in %q", want, lines[0])
		}
	}
	if got := o.do("CLIENT", "LIST", "ID", "12345", fmt.Sprint(info.ID)).text; !strings.HasPrefix(got, fmt.Sprintf("id=%d ", info.ID)) {
		t.Errorf("LIST ID: %q", got)
	}
	if got := o.do("CLIENT", "LIST", "TYPE", "normal").text; strings.Count(got, "\n") != 2 {
		t.Errorf("LIST TYPE normal: %q", got)
	}
}

func TestClientKill(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	other := func() (*oracle, string) {
		c := dialRedis(t, addr, 2)
		return c, strconv.FormatInt(mustInt(t, c.do("CLIENT", "ID").text), 10)
	}

	c, id := other()
	o.want(":1", "CLIENT", "KILL", "ID", id)
	c.ended()
	o.want(":0", "CLIENT", "KILL", "ID", id)

	c, _ = other()
	o.want("+OK", "CLIENT", "KILL", c.c.LocalAddr().String())
	c.ended()

	c, _ = other()
	o.want(":1", "CLIENT", "KILL", "ADDR", c.c.LocalAddr().String(), "LADDR", addr, "USER", "default")
	c.ended()

	c, _ = other()
	o.want(":1", "CLIENT", "KILL", "TYPE", "normal")
	c.ended()

	me := o.do("CLIENT", "ID").text
	o.want(":0", "CLIENT", "KILL", "ID", me)
	o.want("+PONG", "PING")
	o.want(":1", "CLIENT", "KILL", "ID", me, "SKIPME", "no")
	o.ended()

	o = dialRedis(t, addr, 2)
	o.want("+OK", "CLIENT", "KILL", o.c.LocalAddr().String())
	o.ended()
}

// Who was killed is gone at once for everybody, also while its last steps are still made.
func TestKilledClientsVanishAtOnce(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	id := dialRedis(t, addr, 2).do("CLIENT", "ID").text
	c := srv.snapshot()[1]
	c.pushes.mu.Lock() // it cannot end
	defer c.pushes.mu.Unlock()
	o.want(":1", "CLIENT", "KILL", "ID", id)
	o.want(":0", "CLIENT", "KILL", "ID", id)
	if len(srv.snapshot()) != 2 {
		t.Fatal("it has ended all the same")
	}
	if list := o.do("CLIENT", "LIST").text; strings.Count(list, "\n") != 1 {
		t.Errorf("there are %q", list)
	}
}

func mustInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPauseHoldsWrites(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin, reader, writer := dialRedis(t, addr, 2), dialRedis(t, addr, 2), dialRedis(t, addr, 2)
	admin.want("+OK", "SET", "a", "1")
	admin.want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	// A shorter pause does not end the longer one.
	admin.want("+OK", "CLIENT", "PAUSE", "1", "WRITE")
	// A read before the write in the same pipeline is answered.
	writer.send("GET", "a")
	writer.send("SET", "a", "2")
	writer.send("GET", "a")
	if got := writer.next().String(); got != "$1" {
		t.Errorf("GET: %s", got)
	}
	writer.silent(50 * time.Millisecond)
	// What Redis would tell its replicas of is held, too.
	counter, teller := dialRedis(t, addr, 2), dialRedis(t, addr, 2)
	counter.send("PFCOUNT", "h")
	teller.send("PUBLISH", "channel", "x")
	counter.silent(50 * time.Millisecond)
	teller.silent(50 * time.Millisecond)
	reader.want("$1", "GET", "a")
	if got := reader.do("CLIENT", "LIST").text; !strings.Contains(got, " flags=b ") {
		t.Errorf("no waiting client in %q", got)
	}
	admin.want("+OK", "CLIENT", "UNPAUSE")
	for _, want := range []string{"+OK", "$2"} {
		if got := writer.next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if a, b := counter.next().String(), teller.next().String(); a != ":0" || b != ":0" {
		t.Errorf("%s, %s", a, b)
	}
}

func TestPauseHoldsAllButTheWayOut(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin, reader := dialRedis(t, addr, 2), dialRedis(t, addr, 2)
	admin.want("+OK", "CLIENT", "PAUSE", "100000")
	reader.send("GET", "a")
	reader.silent(50 * time.Millisecond)
	pinger := dialRedis(t, addr, 2)
	pinger.send("PING")
	pinger.silent(50 * time.Millisecond)
	admin.want("+OK", "CLIENT", "UNPAUSE")
	if got := pinger.next().String(); got != "+PONG" {
		t.Errorf("PING: %s", got)
	}
	if got := reader.next().String(); got != "_$" {
		t.Errorf("GET: %s", got)
	}
}

func TestPauseEndsByItself(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := dialRedis(t, addr, 2)
	o.want("+OK", "CLIENT", "PAUSE", "60", "ALL")
	start := time.Now()
	o.want("+OK", "SET", "a", "1")
	if took := time.Since(start); took < 40*time.Millisecond {
		t.Errorf("SET waited only %v", took)
	}
	o.want("+OK", "SET", "a", "1")
}

func TestPausedClientCanBeKilled(t *testing.T) {
	srv, addr := serveTest(t, nil)
	admin, writer := dialRedis(t, addr, 2), dialRedis(t, addr, 2)
	admin.want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	writer.send("SET", "a", "1")
	waitFor(t, "the write waits", func() bool { return srv.stats.Waiting.Load() == 1 })
	admin.want(":1", "CLIENT", "KILL", "TYPE", "normal")
	waitFor(t, "the connection ends", func() bool { return srv.count.Load() == 1 })
}

func TestResetWithPassword(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	o := dialRaw(t, addr)
	o.want("-NOAUTH Authentication required.", "GET", "a")
	o.want("+OK", "AUTH", "secret")
	if v := o.do("HELLO", "3", "SETNAME", "me"); v.kind != '%' {
		t.Fatalf("HELLO: %v", v)
	}
	// What follows RESET in the same pipeline has lost its rights, too.
	o.send("RESET")
	o.send("GET", "a")
	o.send("PING")
	o.send("AUTH", "secret")
	o.send("GET", "a")
	o.send("CLIENT", "GETNAME")
	for _, want := range []string{"+RESET", "-" + command.MsgNoAuth, "-" + command.MsgNoAuth, "+OK", "_$", "_$"} {
		if got := o.next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
