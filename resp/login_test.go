package resp

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A strangerConn is a connection from an address of the test's choice. It keeps what
// is written.
type strangerConn struct {
	net.Conn
	from    string
	written []byte
	closed  bool
}

func (c *strangerConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 4711}
}
func (c *strangerConn) SetDeadline(time.Time) error { return nil }
func (c *strangerConn) Close() error                { c.closed = true; return nil }
func (c *strangerConn) Write(b []byte) (int, error) {
	c.written = append(c.written, b...)
	return len(b), nil
}

func stranger(srv *Server, from string) *conn {
	return &conn{srv: srv, net: &strangerConn{from: from}, gone: make(chan struct{})}
}

func TestWrongPasswordsTakeLonger(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv := &Server{stop: make(chan struct{})}
		try := func(from string, right bool) time.Duration {
			start := time.Now()
			if srv.logins.check(stranger(srv, from), func() bool { return right }) != right {
				t.Error("the answer is wrong")
			}
			return time.Since(start)
		}
		const a, b = "10.0.0.1", "10.0.0.2"
		for i, want := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000} {
			if got := try(a, false); got != want*time.Millisecond {
				t.Errorf("attempt %d took %v, want %d ms", i, got, want)
			}
		}
		if got := try(b, false); got != 10*time.Millisecond {
			t.Errorf("another address: %v", got)
		}
		if got := try(a, true); got != 0 {
			t.Errorf("the right password: %v", got)
		}
		if got := try(a, false); got != 10*time.Millisecond {
			t.Errorf("after the right password: %v", got)
		}
		for range 5 {
			try(a, false)
		}
		time.Sleep(loginMemory + time.Second)
		if got := try(a, false); got != 10*time.Millisecond {
			t.Errorf("long after: %v", got)
		}
	})
}

// TestHangingUpDoesNotHelp: guesses whose connections are gone still take their time,
// and only so many of an address are looked at meanwhile.
func TestHangingUpDoesNotHelp(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv := &Server{stop: make(chan struct{})}
		for range 9 { // 5 s from now on
			srv.logins.check(stranger(srv, "10.0.0.1"), func() bool { return false })
		}
		looked := 0
		const guesses = 100
		done := make(chan struct{}, guesses)
		for range guesses {
			c := stranger(srv, "10.0.0.1")
			go func() {
				srv.logins.check(c, func() bool { looked++; return false })
				done <- struct{}{}
			}()
			synctest.Wait()
			close(c.gone)
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if looked != loginSlots {
			t.Errorf("%d passwords were looked at in a second, want %d", looked, loginSlots)
		}
		for range guesses {
			<-done
		}
		if looked != loginSlots {
			t.Errorf("%d passwords were looked at", looked)
		}
	})
}

func TestLoginsForgetAddresses(t *testing.T) {
	var l logins
	for i := range maxLoginAddrs + 100 {
		l.of(net.IPv4(10, byte(i>>16), byte(i>>8), byte(i)).String(), true)
	}
	if len(l.fails) > maxLoginAddrs {
		t.Errorf("%d addresses are remembered", len(l.fails))
	}
}

func TestAuth(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	o := resptest.DialRaw(t, addr)
	o.Want("-"+msgWrongPass, "AUTH", "wrong")
	o.Want("-"+command.MsgNoAuth, "PING")
	o.Want("-"+msgWrongPass, "AUTH", "nobody", "secret")
	o.Want("-"+msgWrongPass, "HELLO", "3", "AUTH", "default", "wrong")
	if v := o.Do("HELLO", "3"); v.Kind != '-' {
		t.Errorf("HELLO without a password: %v", v)
	}
	o.Want("-ERR unknown command 'nosuch', with args beginning with: ", "nosuch")
	o.Want("-ERR wrong number of arguments for 'get' command", "GET")
	o.Want("+OK", "AUTH", "default", "secret")
	o.Want("+PONG", "PING")
	if v := resptest.DialRaw(t, addr).Do("HELLO", "3", "AUTH", "default", "secret"); v.Kind != '%' {
		t.Errorf("HELLO AUTH: %v", v)
	}
}
