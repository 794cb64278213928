package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/client"
)

// withSmallCaches makes the caches of a node small.
func withSmallCaches(c Config) Config {
	c.Cache, c.BlockCache, c.MinFreeDisk = 1<<20, 1<<20, 0
	return c
}

// TestInProcessNodeOpensNoPort opens a node without ports, uses it in both ways, and opens its directory again.
func TestInProcessNodeOpensNoPort(t *testing.T) {
	defer goneInTheEnd(t)
	dir, ctx := t.TempDir(), t.Context()
	before := openSockets(t)
	cfg := withSmallCaches(InProcessConfig(dir))
	cfg.RequirePass = "secret" // which the program itself need not give
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if after := openSockets(t); after > before {
		t.Errorf("the process has %d sockets, and had %d before", after, before)
	}
	if err := n.Do(ctx, "SET", "key", "value\r\n").Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := n.Do(ctx, "GET", "key").Text(); got != "value\r\n" || err != nil {
		t.Errorf("GET: %q, %v", got, err)
	}
	if err := n.Do(ctx, "RPUSH", "list", "message", "1", "2").Err(); err != nil {
		t.Error(err)
	}
	// This list has the form of a message in RESP2.
	if got, err := n.Do(ctx, "LRANGE", "list", "0", "-1").Texts(); fmt.Sprint(got) != "[message 1 2]" || err != nil {
		t.Errorf("LRANGE: %q, %v", got, err)
	}
	if err := n.Do(ctx, "INCR", "key").Err(); err == nil || !strings.Contains(err.Error(), "not an integer") {
		t.Errorf("INCR: %v", err)
	}
	for _, args := range [][]string{{"SUBSCRIBE", "c"}, {"multi"}, {"CLIENT", "REPLY", "OFF"}, {"RESET"}} {
		if err := n.Do(ctx, args...).Err(); !errors.Is(err, client.ErrUnshared) || !errors.Is(err, client.ErrNotSent) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := errors.Join(n.Do(ctx).Err(), n.Do(ctx, "").Err()); !errors.Is(err, client.ErrNotSent) {
		t.Errorf("no command: %v", err)
	}

	waiting := make(chan client.Reply)
	go func() { waiting <- n.Do(ctx, "BLPOP", "queue", "0") }()
	if err := n.Do(ctx, "RPUSH", "queue", "work").Err(); err != nil {
		t.Error(err)
	}
	if got, err := (<-waiting).Texts(); fmt.Sprint(got) != "[queue work]" || err != nil {
		t.Errorf("BLPOP: %q, %v", got, err)
	}
	ended, cancel := context.WithCancel(ctx)
	go func() { waiting <- n.Do(ended, "BLPOP", "queue", "0") }()
	resptest.WaitFor(t, "the command waits", func() bool {
		info, err := n.Do(ctx, "INFO", "clients").Text()
		return err == nil && strings.Contains(info, "blocked_clients:1\r\n")
	})
	cancel()
	if err := (<-waiting).Err(); !errors.Is(err, context.Canceled) || !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("BLPOP whose context has ended: %v", err)
	}
	if err := n.Do(ended, "GET", "key").Err(); !errors.Is(err, context.Canceled) || !errors.Is(err, client.ErrNotSent) {
		t.Errorf("a command whose context has ended before: %v", err)
	}

	rdb := redistest.Client(&redis.Options{Dialer: n.Dial, MaxRetries: -1})
	defer rdb.Close()
	pipe := rdb.TxPipeline()
	sum := pipe.IncrBy(ctx, "n", 2)
	big := pipe.Set(ctx, "big", strings.Repeat("x", 3<<20), 0)
	if _, err := pipe.Exec(ctx); err != nil || sum.Val() != 2 || big.Val() != "OK" {
		t.Errorf("EXEC: %v, %d, %s", err, sum.Val(), big.Val())
	}
	sub := rdb.Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := n.Do(ctx, "PUBLISH", "news", "hello").Int(); got != 1 || err != nil {
		t.Errorf("PUBLISH: %d, %v", got, err)
	}
	if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
		t.Errorf("%v, %v", m, err)
	}
	if list := rdb.ClientList(ctx).Val(); !strings.Contains(list, "addr=memory:0 laddr=memory:0") {
		t.Errorf("CLIENT LIST: %s", list)
	}
	if err := n.Ready(); err != nil {
		t.Errorf("the node is not ready: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if err := n.Do(ctx, "PING").Err(); !errors.Is(err, client.ErrClosed) {
		t.Errorf("Do after Close: %v", err)
	}
	if _, err := n.Dial(ctx, "", ""); err == nil {
		t.Error("Dial after Close works")
	}

	n, err = Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := n.Do(ctx, "GET", "n").Int(); got != 2 || err != nil {
		t.Errorf("after a restart: %d, %v", got, err)
	}
	n.Kill()
	if err := n.Do(ctx, "PING").Err(); !errors.Is(err, client.ErrClosed) {
		t.Errorf("Do after Kill: %v", err)
	}
}

// openSockets counts the sockets of this process.
func openSockets(t *testing.T) int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	sockets := 0
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			sockets++
		}
	}
	return sockets
}

// TestDirectoryWithoutPortsJoinsLater opens the directory of a lone node with ports; another joins it, and then it
// may not be opened without ports any more.
func TestDirectoryWithoutPortsJoinsLater(t *testing.T) {
	defer goneInTheEnd(t)
	dir, ctx := t.TempDir(), t.Context()
	n, err := Open(withSmallCaches(InProcessConfig(dir)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := n.Do(ctx, "SET", fmt.Sprint("k", i), "v").Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	a := openMemberIn(t, dir, "")
	b := openMember(t, "b", a.gossipAddr())
	resptest.WaitFor(t, "the second node is in the cluster", func() bool { return len(a.cluster.table.State().MembersOf()) == 2 })
	if got, err := b.Do(ctx, "DBSIZE").Int(); got != 100 || err != nil {
		t.Errorf("%d keys, %v", got, err)
	}
	for _, n := range []*Node{a, b} {
		n.Kill()
	}
	n, err = Open(withSmallCaches(InProcessConfig(dir)))
	if err == nil { // the table is known once this node leads it
		<-n.Done()
		err = n.Err()
		n.Kill()
	}
	if fault := new(Fault); !errors.As(err, &fault) || fault.Setting != "bus-addr" || !strings.Contains(err.Error(), "several nodes") {
		t.Errorf("without ports: %v", err)
	}
}

func TestValidateWithoutPorts(t *testing.T) {
	for _, test := range []struct {
		change func(*Config)
		want   string // in the error; empty: none
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Addr = "127.0.0.1:0" }, ""},
		{func(c *Config) { c.HTTPAddr = "" }, ""},
		{func(c *Config) { c.TLSCert = "missing.pem" }, "tls-key: missing"},
		{func(c *Config) { c.BusAddr = "" }, `gossip-addr: "off"`},
		{func(c *Config) { c.GossipAddr = "127.0.0.1:0" }, `bus-addr: "off"`},
		{func(c *Config) { c.Join = []string{"127.0.0.1:7379"} }, "bus-addr: off keeps the node alone"},
		{func(c *Config) { c.Role = RoleProxy }, "bus-addr: off keeps the node alone"},
		{func(c *Config) { c.BootstrapExpect = 3 }, "bus-addr: off keeps the node alone"},
		{func(c *Config) { c.Advertise = "host" }, "bus-addr: off keeps the node alone"},
	} {
		c := InProcessConfig(t.TempDir())
		test.change(&c)
		c.EnsureDefaults()
		err := c.Validate()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: got %v", test.want, err)
		}
	}
}

// TestNodeWithTLSServesProgramItself has a port with TLS, which connections within the process do not speak.
func TestNodeWithTLSServesProgramItself(t *testing.T) {
	cfg := withSmallCaches(InProcessConfig(t.TempDir()))
	cfg.Addr = "127.0.0.1:0"
	cfg.TLSCert, cfg.TLSKey = selfSigned(t)
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if got, err := n.Do(t.Context(), "ECHO", "x").Text(); got != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	rdb := redistest.Client(&redis.Options{Addr: n.Addr().String(), TLSConfig: &tls.Config{InsecureSkipVerify: true}, MaxRetries: -1})
	defer rdb.Close()
	if got, err := rdb.Echo(t.Context(), "y").Result(); got != "y" || err != nil {
		t.Errorf("through the port: %q, %v", got, err)
	}
}

// BenchmarkInProcessGet is a GET through Do; by go-redis with Dial; and by go-redis over TCP.
func BenchmarkInProcessGet(b *testing.B) {
	cfg := withSmallCaches(InProcessConfig(b.TempDir()))
	cfg.Addr = "127.0.0.1:0"
	n, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	ctx := context.Background()
	if err := n.Do(ctx, "SET", "key", "value").Err(); err != nil {
		b.Fatal(err)
	}
	b.Run("do", func(b *testing.B) {
		for b.Loop() {
			if err := n.Do(ctx, "GET", "key").Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, opt := range map[string]*redis.Options{"dial": {Dialer: n.Dial}, "tcp": {Addr: n.Addr().String()}} {
		b.Run(name, func(b *testing.B) {
			rdb := redistest.Client(opt)
			defer rdb.Close()
			for b.Loop() {
				if err := rdb.Get(ctx, "key").Err(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
