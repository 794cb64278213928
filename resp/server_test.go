package resp

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/memconn"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/store"
	"go.uber.org/goleak"
)

func TestTooManyClients(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.MaxClients = 2 })
	a, b := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	c := resptest.DialRaw(t, addr)
	if got := c.Next().String(); got != "-ERR max number of clients reached" {
		t.Errorf("got %s", got)
	}
	c.Ended()
	if n := srv.stats.Refused.Load(); n != 1 {
		t.Errorf("%d refused", n)
	}
	a.Want("+OK", "CONFIG", "SET", "maxclients", "3")
	resptest.Dial(t, addr, 2).Want("+PONG", "PING")
	b.Want("+OK", "QUIT")
}

func TestProtectedMode(t *testing.T) {
	for name, test := range map[string]struct {
		from    string
		open    bool
		pass    string
		refused bool
	}{
		"another host":                  {"192.0.2.1", false, "", true},
		"another host by IPv6":          {"2001:db8::1", false, "", true},
		"this host":                     {"127.0.0.1", false, "", false},
		"this host by IPv6":             {"::1", false, "", false},
		"another host, with a password": {"192.0.2.1", false, "secret", false},
		"another host, not protected":   {"192.0.2.1", true, "", false},
	} {
		srv := new(Server)
		srv.settings.Protected.Store(!test.open)
		srv.settings.MaxClients.Store(1)
		srv.users.Catalog = acl.NewCatalog(newCommandTable())
		if err := srv.users.Open(test.pass); err != nil {
			t.Fatal(err)
		}
		c := &strangerConn{from: test.from}
		if refused := srv.refusal(c) != ""; refused != test.refused {
			t.Errorf("%s: refused: %v", name, refused)
		}
	}
	srv, _ := serveTest(t, nil)
	c := &strangerConn{from: "192.0.2.1"}
	srv.accept(c)
	if text := string(c.written); !strings.HasPrefix(text, "-DENIED ") || !strings.HasSuffix(text, "\r\n") || !c.closed {
		t.Errorf("answered %q, closed: %v", text, c.closed)
	}
}

func TestIdleClientsAreClosed(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.IdleTimeout = 200 * time.Millisecond })
	idle, watch := resptest.DialRaw(t, addr), resptest.DialRaw(t, addr)
	watch.Want("+OK", "MONITOR")
	idle.Want("+PONG", "PING")
	idle.Ended()
	o := resptest.DialRaw(t, addr)
	o.Want("+OK", "SET", "a", "1")
	for {
		if strings.Contains(watch.Next().Text, `"SET" "a" "1"`) { // it is still there
			break
		}
	}
}

// TestClose: a command that runs finishes and its reply leaves; nothing is left.
func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t)
	st, err := store.Open(store.Config{Dir: t.TempDir(), Strategy: "buckets", Hash: "native", Token: buckets.Token})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := NewServer(Config{Store: st, Debug: "yes"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()

	addr := l.Addr().String()
	idle, paused, asleep, watch, half := resptest.DialRaw(t, addr), resptest.DialRaw(t, addr), resptest.DialRaw(t, addr), resptest.DialRaw(t, addr), resptest.DialRaw(t, addr)
	idle.Want("+OK", "SET", "a", "1")
	watch.Want("+OK", "MONITOR")
	half.C.Write([]byte("*2\r\n$3\r\nGET\r\n$1"))
	idle.Want("+OK", "CLIENT", "PAUSE", "100000", "WRITE")
	paused.Send("SET", "a", "2")
	asleep.Send("DEBUG", "SLEEP", "1000")
	resptest.WaitFor(t, "both wait", func() bool { return srv.stats.Waiting.Load() == 2 })

	ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
	defer cancel()
	if err := srv.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-served; !errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	for _, o := range []*resptest.Conn{paused, asleep} {
		if got := o.Next().String(); got != "+OK" {
			t.Errorf("got %s", got)
		}
	}
	for _, o := range []*resptest.Conn{idle, paused, asleep, half} {
		o.Ended()
	}
	if err := srv.Close(ctx); !errors.Is(err, ErrServerClosed) {
		t.Errorf("second Close: %v", err)
	}
	l, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(l); !errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve after Close: %v", err)
	}
}

// TestCloseCutsOff: a client that does not read cannot hold the server up.
func TestCloseCutsOff(t *testing.T) {
	defer goleak.VerifyNone(t)
	st, err := store.Open(store.Config{Dir: t.TempDir(), Strategy: "buckets", Hash: "native", Token: buckets.Token})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	srv, err := NewServer(Config{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	l := memconn.Listen() // a socket may take one more reply later
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	client, err := l.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 100 {
			resptest.Write(client, "ECHO", strings.Repeat("x", 1<<20))
		}
	}()
	resptest.WaitFor(t, "a reply is stuck", func() bool {
		full := srv.stats.BytesOut.Load() > memconn.Window-1<<20 // the next reply is longer than the rest
		return full && slices.ContainsFunc(srv.snapshot(), func(c *conn) bool { return c.blockedAt.Load() > 0 })
	})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := srv.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	<-served
	client.Close()
	<-sent
	if n := srv.budget.InUse(); n != 0 {
		t.Errorf("%d bytes are still charged", n)
	}
}
