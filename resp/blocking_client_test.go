package resp

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"go.uber.org/goleak"
)

func TestClientUnblockAnswersAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		for _, words := range []string{"1000000", "x", "1000000 BAH", "1000000 ERROR X", "-1", "99999999999999999999", "x BAH", "0 timeout"} {
			d.do(append([]string{"CLIENT", "UNBLOCK"}, strings.Fields(words)...)...)
		}
		d.do("CLIENT", "UNBLOCK")
		for _, how := range []string{"", "TIMEOUT", "error"} {
			for _, command := range []string{"BLPOP l 0", "BLMOVE l l LEFT LEFT 0", "XREAD BLOCK 0 STREAMS s $", "WAIT 1 0"} {
				var replies [2]string
				for i, addr := range []string{d.redis.C.RemoteAddr().String(), d.ours.C.RemoteAddr().String()} {
					o, admin := resptest.Dial(t, addr, d.proto), resptest.Dial(t, addr, d.proto)
					id := o.Do("CLIENT", "ID").Text
					o.Send(strings.Fields(command)...)
					awaitBlocked(t, admin, 1)
					if list := admin.Do("CLIENT", "LIST", "ID", id).Text; !strings.Contains(list, " flags=b ") || !strings.Contains(list, " cmd="+strings.ToLower(strings.Fields(command)[0])+" ") {
						t.Errorf("%s: %s", addr, list)
					}
					admin.Want(":1", append([]string{"CLIENT", "UNBLOCK", id}, strings.Fields(how)...)...)
					replies[i] = o.Next().String()
					awaitBlocked(t, admin, 0)
					o.Want("+PONG", "PING")
				}
				if replies[0] != replies[1] {
					t.Errorf("%s, %q: got %s, want %s", command, how, replies[1], replies[0])
				}
			}
		}
	})
}

// A client that is gone, or was killed, takes nothing.
func TestClosedClientTakesNothing(t *testing.T) {
	srv, addr := serveTest(t, nil)
	admin := resptest.Dial(t, addr, 2)
	for _, kill := range []bool{false, true} {
		o := resptest.Dial(t, addr, 2)
		o.Send("BLPOP", "l", "0")
		o.Send("PING")
		awaitBlocked(t, admin, 1)
		if kill {
			admin.Want(":1", "CLIENT", "KILL", "SKIPME", "yes")
		} else {
			_ = o.C.Close()
		}
		awaitBlocked(t, admin, 0)
		admin.Want(":1", "RPUSH", "l", "x")
		admin.Want("$x", "LPOP", "l")
	}
	if n := len(srv.blocked.keys); n > 0 {
		t.Errorf("%d keys are waited for", n)
	}
}

// What a client sends while it waits is run afterwards, also if it is more than is read
// meanwhile.
func TestRequestsSentDuringWaitRunAfterwards(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	pipe := resptest.EncodeCommands([][]string{{"BLPOP", "l", "0"}})
	const n = 5000
	for i := range n {
		pipe = append(pipe, resptest.EncodeCommands([][]string{{"ECHO", fmt.Sprint(i, strings.Repeat("x", 40))}})...)
	}
	go o.C.Write(pipe)
	awaitBlocked(t, other, 1)
	other.Want(":1", "RPUSH", "l", "v")
	if got := o.Next().String(); got != "*($l $v)" {
		t.Error(got)
	}
	for i := range n {
		if got := o.Next().Text; !strings.HasPrefix(got, fmt.Sprint(i, "x")) {
			t.Fatalf("%d: %s", i, got)
		}
	}
}

func TestClosingServerEndsWaits(t *testing.T) {
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
	srv, addr := serveTest(t, nil)
	var waiting []*resptest.Conn
	for range 5 {
		o := resptest.Dial(t, addr, 2)
		o.Send("BLPOP", "l", "0")
		waiting = append(waiting, o)
	}
	admin := resptest.Dial(t, addr, 2)
	awaitBlocked(t, admin, 5)
	srv.EndWaits()
	for _, o := range waiting[:3] {
		if got := o.Next().String(); got != "_*" {
			t.Errorf("at the last moment: %s", got)
		}
	}
	if err := srv.Close(t.Context()); err != nil {
		t.Error(err)
	}
	waiting[0].Ended()
	if n := srv.stats.Waiting.Load(); n != 0 {
		t.Errorf("%d wait", n)
	}
}

// A client that waits for some time at most gets the reply of that time's end when the server closes; one that waits
// for ever sees its connection end, as with Redis.
func TestClosingServerAnswersTimedWaits(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, key := range []string{"stream", "group"} {
		resptest.Dial(t, addr, 2).Do("XADD", key, "1-1", "f", "v")
	}
	resptest.Dial(t, addr, 2).Do("XGROUP", "CREATE", "group", "g", "$")
	waits := map[string]string{
		"BLPOP l 100": "_*", "BZPOPMIN z 100": "_*", "BLMOVE l m LEFT RIGHT 100": "_*", "XREAD BLOCK 100000 STREAMS stream $": "_*",
		"XREADGROUP GROUP g c BLOCK 100000 STREAMS group >": "_*", "BLPOP l 0": "", "XREAD BLOCK 0 STREAMS stream $": "",
	}
	waiting := make(map[string]*resptest.Conn)
	for command := range waits {
		o := resptest.Dial(t, addr, 2)
		o.Send(strings.Fields(command)...)
		waiting[command] = o
	}
	awaitBlocked(t, resptest.Dial(t, addr, 2), len(waits))
	if err := srv.Close(t.Context()); err != nil {
		t.Error(err)
	}
	for command, want := range waits {
		if o := waiting[command]; want == "" {
			o.Ended()
		} else if got := o.Next().String(); got != want {
			t.Errorf("%s: %s, not %s", command, got, want)
		}
	}
}

// Very many clients wait for one key: each costs a connection, and is served in its turn.
func TestManyWaitForOneKey(t *testing.T) {
	randomtest.Draw(t, 3)
	n := 5000
	if testing.Short() {
		n = 300
	}
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.MaxClients = 20000 })
	admin := resptest.Dial(t, addr, 2)
	conns := make([]net.Conn, n)
	for i := range conns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		resptest.Write(c, "BLPOP", "l", "0")
		conns[i] = c
		if i%50 == 0 || i == n-1 {
			awaitBlocked(t, admin, i+1) // in so many groups they come in order
		}
	}
	if most := 2*n + 200; runtime.NumGoroutine() > most {
		t.Errorf("%d goroutines", runtime.NumGoroutine())
	}
	admin.Want(":1", "RPUSH", "l", "first")
	want := []byte("*2\r\n$1\r\nl\r\n$5\r\nfirst\r\n")
	got := make([]byte, len(want))
	if _, err := conns[0].Read(got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the first one got %q, %v", got, err)
	}
	words := []string{"RPUSH", "l"}
	for range n - 1 {
		words = append(words, "x")
	}
	admin.Want(":"+itoa(n-1), words...)
	awaitBlocked(t, admin, 0)
	admin.Want(":0", "EXISTS", "l")
	if len(srv.blocked.keys) > 0 {
		t.Error("somebody waits")
	}
}

// More movers wait than a unit looks ahead for.
func TestManyMoversAreServedByOneCommand(t *testing.T) {
	_, addr := serveTest(t, nil)
	admin := resptest.Dial(t, addr, 2)
	var elements []string
	var waiting []*resptest.Conn
	for i := range 2 * maxMovers {
		o := resptest.Dial(t, addr, 2)
		o.Send("BLMOVE", "l", fmt.Sprint("to", i), "LEFT", "LEFT", "0")
		waiting = append(waiting, o)
		elements = append(elements, itoa(i))
	}
	awaitBlocked(t, admin, len(waiting))
	admin.Do(append([]string{"RPUSH", "from"}, elements...)...)
	admin.Want("+OK", "RENAME", "from", "l")
	seen := make(map[string]bool)
	for _, o := range waiting {
		seen[o.Next().String()] = true
	}
	if len(seen) != len(waiting) {
		t.Errorf("%d elements for %d clients", len(seen), len(waiting))
	}
	awaitBlocked(t, admin, 0)
}

func TestLibrariesWait(t *testing.T) {
	_, addr := serveTest(t, nil)
	ctx := t.Context()
	push := redistest.Client(&redis.Options{Addr: addr})
	defer push.Close()
	c := redistest.Client(&redis.Options{Addr: addr})
	defer c.Close()
	results := make(chan error, 2)
	go func() {
		got, err := c.BLPop(context.Background(), 0, "a", "b").Result()
		if err == nil && fmt.Sprint(got) != "[b 1]" {
			err = fmt.Errorf("%v", got)
		}
		results <- err
	}()
	admin := resptest.Dial(t, addr, 2)
	awaitBlocked(t, admin, 1)
	push.RPush(ctx, "b", 1)
	if err := <-results; err != nil {
		t.Error(err)
	}
	if err := c.BLPop(ctx, time.Second, "a").Err(); err != redis.Nil {
		t.Errorf("nothing: %v", err)
	}
	if v, err := c.BLMove(ctx, "a", "b", "left", "left", time.Second).Result(); err != redis.Nil {
		t.Errorf("nothing: %v %v", v, err)
	}
	r, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		got, err := r.Do(context.Background(), r.B().Blmpop().Timeout(0).Numkeys(2).Key("a", "b").Left().Count(2).Build()).ToArray()
		if err == nil && len(got) != 2 {
			err = fmt.Errorf("%v", got)
		}
		results <- err
	}()
	awaitBlocked(t, admin, 1)
	push.RPush(ctx, "b", 1, 2, 3)
	if err := <-results; err != nil {
		t.Error(err)
	}
}

func TestWaitsOverTLS(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}
	})
	dial := func() *redis.Client {
		c := redistest.Client(&redis.Options{Addr: addr, TLSConfig: &tls.Config{InsecureSkipVerify: true}})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	a, b := dial(), dial()
	results := make(chan string, 1)
	go func() {
		got, err := a.BLPop(context.Background(), 0, "l").Result()
		results <- fmt.Sprint(got, err)
	}()
	resptest.WaitFor(t, "somebody to wait", func() bool { return strings.Contains(b.Info(t.Context(), "clients").Val(), "blocked_clients:1") })
	b.RPush(t.Context(), "l", "v")
	if got := <-results; got != "[l v] <nil>" {
		t.Error(got)
	}
	if err := a.BLPop(t.Context(), time.Second, "l").Err(); err != redis.Nil {
		t.Error(err)
	}
	if err := a.Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}
