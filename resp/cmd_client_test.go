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
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

func TestClientListIsReadable(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CLIENT", "SETINFO", "LIB-NAME", "mine")
	o.Want("+OK", "CLIENT", "SETINFO", "lib-ver", "1.2")
	o.Want("-ERR Unrecognized option 'nosuch'", "CLIENT", "SETINFO", "nosuch", "1")
	o.Want("-ERR lib-ver cannot contain spaces, newlines or special characters.", "CLIENT", "SETINFO", "lib-ver", "a b")
	o.Want("-ERR Client names cannot be longer than 4096 bytes.", "CLIENT", "SETNAME", strings.Repeat("x", 4097))

	c := redistest.Client(&redis.Options{Addr: addr, ClientName: "them", Protocol: 3})
	defer c.Close()
	info, err := c.ClientInfo(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	if info.Name != "them" || info.Resp != 3 || info.LastCmd != "client|info" || info.User != "default" || info.FD < 1 {
		t.Errorf("%+v", info)
	}
	list := o.Do("CLIENT", "LIST").Text
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines: %q", len(lines), list)
	}
	for _, want := range []string{" lib-name=mine lib-ver=1.2", " cmd=client|list ", " resp=2 ", " flags=N "} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("no %q in %q", want, lines[0])
		}
	}
	if got := o.Do("CLIENT", "LIST", "ID", "12345", fmt.Sprint(info.ID)).Text; !strings.HasPrefix(got, fmt.Sprintf("id=%d ", info.ID)) {
		t.Errorf("LIST ID: %q", got)
	}
	if got := o.Do("CLIENT", "LIST", "TYPE", "normal").Text; strings.Count(got, "\n") != 2 {
		t.Errorf("LIST TYPE normal: %q", got)
	}
}

func TestClientKill(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	other := func() (*resptest.Conn, string) {
		c := resptest.Dial(t, addr, 2)
		return c, strconv.FormatInt(mustInt(t, c.Do("CLIENT", "ID").Text), 10)
	}

	c, id := other()
	o.Want(":1", "CLIENT", "KILL", "ID", id)
	c.Ended()
	o.Want(":0", "CLIENT", "KILL", "ID", id)

	c, _ = other()
	o.Want("+OK", "CLIENT", "KILL", c.C.LocalAddr().String())
	c.Ended()

	c, _ = other()
	o.Want(":1", "CLIENT", "KILL", "ADDR", c.C.LocalAddr().String(), "LADDR", addr, "USER", "default")
	c.Ended()

	c, _ = other()
	o.Want(":1", "CLIENT", "KILL", "TYPE", "normal")
	c.Ended()

	c, id = other()
	o.Want(":0", "CLIENT", "KILL", "MAXAGE", "3600")
	srv.connection(mustInt(t, id)).session.started -= time.Hour
	o.Want(":0", "CLIENT", "KILL", "MAXAGE", "7200")
	o.Want(":0", "CLIENT", "KILL", "MAXAGE", "9223372036854775807")
	o.Want(":1", "CLIENT", "KILL", "MAXAGE", "3600", "ID", id)
	c.Ended()
	o.Want("-ERR maxage should be greater than 0", "CLIENT", "KILL", "MAXAGE", "0")
	o.Want("-ERR maxage is not an integer or out of range", "CLIENT", "KILL", "MAXAGE", "x")

	me := o.Do("CLIENT", "ID").Text
	o.Want(":0", "CLIENT", "KILL", "ID", me)
	o.Want("+PONG", "PING")
	o.Want(":1", "CLIENT", "KILL", "ID", me, "SKIPME", "no")
	o.Ended()

	o = resptest.Dial(t, addr, 2)
	o.Want("+OK", "CLIENT", "KILL", o.C.LocalAddr().String())
	o.Ended()
}

// Who was killed is gone at once for everybody, also while its last steps are still made.
func TestKilledClientsVanishAtOnce(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	id := resptest.Dial(t, addr, 2).Do("CLIENT", "ID").Text
	c := srv.snapshot()[1]
	c.pushes.mu.Lock() // it cannot end
	defer c.pushes.mu.Unlock()
	o.Want(":1", "CLIENT", "KILL", "ID", id)
	o.Want(":0", "CLIENT", "KILL", "ID", id)
	if len(srv.snapshot()) != 2 {
		t.Fatal("it has ended all the same")
	}
	if list := o.Do("CLIENT", "LIST").Text; strings.Count(list, "\n") != 1 {
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
	admin, reader, writer := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	admin.Want("+OK", "SET", "a", "1")
	admin.Want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	// A shorter pause does not end the longer one.
	admin.Want("+OK", "CLIENT", "PAUSE", "1", "WRITE")
	// A read before the write in the same pipeline is answered.
	writer.Send("GET", "a")
	writer.Send("SET", "a", "2")
	writer.Send("GET", "a")
	if got := writer.Next().String(); got != "$1" {
		t.Errorf("GET: %s", got)
	}
	writer.Silent(50 * time.Millisecond)
	// What Redis would tell its replicas of is held, too.
	counter, teller := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	counter.Send("PFCOUNT", "h")
	teller.Send("PUBLISH", "channel", "x")
	counter.Silent(50 * time.Millisecond)
	teller.Silent(50 * time.Millisecond)
	reader.Want("$1", "GET", "a")
	if got := reader.Do("CLIENT", "LIST").Text; !strings.Contains(got, " flags=b ") {
		t.Errorf("no waiting client in %q", got)
	}
	admin.Want("+OK", "CLIENT", "UNPAUSE")
	for _, want := range []string{"+OK", "$2"} {
		if got := writer.Next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if a, b := counter.Next().String(), teller.Next().String(); a != ":0" || b != ":0" {
		t.Errorf("%s, %s", a, b)
	}
}

func TestPauseHoldsAllButTheWayOut(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin, reader := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	admin.Want("+OK", "CLIENT", "PAUSE", "100000")
	reader.Send("GET", "a")
	reader.Silent(50 * time.Millisecond)
	pinger := resptest.Dial(t, addr, 2)
	pinger.Send("PING")
	pinger.Silent(50 * time.Millisecond)
	admin.Want("+OK", "CLIENT", "UNPAUSE")
	if got := pinger.Next().String(); got != "+PONG" {
		t.Errorf("PING: %s", got)
	}
	if got := reader.Next().String(); got != "_$" {
		t.Errorf("GET: %s", got)
	}
}

func TestPauseEndsByItself(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CLIENT", "PAUSE", "60", "ALL")
	start := time.Now()
	o.Want("+OK", "SET", "a", "1")
	if took := time.Since(start); took < 40*time.Millisecond {
		t.Errorf("SET waited only %v", took)
	}
	o.Want("+OK", "SET", "a", "1")
}

func TestPausedClientCanBeKilled(t *testing.T) {
	srv, addr := serveTest(t, nil)
	admin, writer := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	admin.Want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	writer.Send("SET", "a", "1")
	resptest.WaitFor(t, "the write waits", func() bool { return srv.stats.Waiting.Load() == 1 })
	admin.Want(":1", "CLIENT", "KILL", "TYPE", "normal")
	resptest.WaitFor(t, "the connection ends", func() bool { return srv.count.Load() == 1 })
}

func TestResetWithPassword(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	o := resptest.DialRaw(t, addr)
	o.Want("-NOAUTH Authentication required.", "GET", "a")
	o.Want("+OK", "AUTH", "secret")
	if v := o.Do("HELLO", "3", "SETNAME", "me"); v.Kind != '%' {
		t.Fatalf("HELLO: %v", v)
	}
	// What follows RESET in the same pipeline has lost its rights, too.
	o.Send("RESET")
	o.Send("GET", "a")
	o.Send("PING")
	o.Send("AUTH", "secret")
	o.Send("GET", "a")
	o.Send("CLIENT", "GETNAME")
	for _, want := range []string{"+RESET", "-" + command.MsgNoAuth, "-" + command.MsgNoAuth, "+OK", "_$", "_$"} {
		if got := o.Next().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestWatchedKeysAreCounted counts them in CLIENT LIST and INFO until the transaction is over.
func TestWatchedKeysAreCounted(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	shows := func(watched string, watching string) {
		t.Helper()
		if got := other.Do("CLIENT", "LIST", "ID", o.Do("CLIENT", "ID").Text).Text; !strings.Contains(got, " watch="+watched+" ") {
			t.Errorf("%s keys are watched, and CLIENT LIST shows %q", watched, got)
		}
		if f := infoFields(other.Do("INFO", "clients").Text); f["watching_clients"] != watching || f["total_watched_keys"] != watched {
			t.Errorf("%s keys are watched, and INFO shows %v", watched, f)
		}
	}
	shows("0", "0")
	o.Want("+OK", "WATCH", "a", "b", "a")
	shows("2", "1")
	o.Want("+OK", "UNWATCH")
	shows("0", "0")
	o.Want("+OK", "WATCH", "a")
	o.Want("+OK", "MULTI")
	o.Want("*", "EXEC")
	shows("0", "0")
}
