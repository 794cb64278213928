package resp

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// closesAfter returns how long it takes until the server closes a connection that sends no more.
func closesAfter(c net.Conn) time.Duration {
	began := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(began)
}

func TestUnauthenticatedClientIsClosedAfterATime(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv, dial := serveBubble(t, func(c *Config) { c.Settings.Password = "secret" })
		in, reset := dial(), dial()
		for _, c := range []net.Conn{in, reset} {
			if got := ask(t, c, "AUTH secret"); got != "+OK" {
				t.Fatal(got)
			}
		}
		silent, asking := dial(), dial()
		if got := ask(t, asking, "PING"); got != "-"+command.MsgNoAuth {
			t.Fatal(got)
		}
		for _, c := range []net.Conn{silent, asking} {
			if took := closesAfter(c); took > time.Minute+2*time.Second || c == silent && took < time.Minute-time.Second {
				t.Errorf("it is closed after %v, want a minute", took)
			}
		}
		time.Sleep(10 * time.Minute)
		if got := ask(t, in, "PING"); got != "+PONG" {
			t.Errorf("who has authenticated gets %s", got)
		}
		if got := ask(t, reset, "RESET"); got != "+RESET" {
			t.Error(got)
		}
		if took := closesAfter(reset); took < time.Minute-time.Second || took > time.Minute+2*time.Second {
			t.Errorf("after RESET it is closed after %v, want a minute", took)
		}
		if got := ask(t, in, "CONFIG SET auth-timeout 0"); got != "+OK" {
			t.Error(got)
		}
		late := dial()
		time.Sleep(10 * time.Minute)
		if got := ask(t, late, "AUTH secret"); got != "+OK" {
			t.Errorf("without auth-timeout: %s", got)
		}
		if got := srv.stats.Unauthenticated.Load(); got != 3 {
			t.Errorf("%d connections are counted, want 3", got)
		}
	})
}

func TestSilentClientStaysWhereNoPasswordIsNeeded(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		_, dial := serveBubble(t, func(c *Config) { c.Settings.MaxClients = 2 })
		first, second := dial(), dial()
		time.Sleep(10 * time.Minute)
		if got := ask(t, dial(), "PING"); got != "-ERR max number of clients reached" {
			t.Errorf("the third: %s", got)
		}
		if got := ask(t, first, "CONFIG SET requirepass secret"); got != "+OK" {
			t.Error(got)
		}
		time.Sleep(10 * time.Minute)
		for _, c := range []net.Conn{first, second} { // as in Redis
			if got := ask(t, c, "PING"); got != "+PONG" {
				t.Error(got)
			}
		}
	})
}

// A client that has begun before the password was taken away is in use without AUTH.
func TestClientStaysWhenPasswordIsRemoved(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		_, dial := serveBubble(t, func(c *Config) { c.Settings.Password, c.Settings.MaxClients = "secret", 2 })
		early, admin := dial(), dial()
		ask(t, admin, "AUTH secret")
		if got := ask(t, admin, `CONFIG SET requirepass ""`); got != "+OK" {
			t.Fatal(got)
		}
		time.Sleep(10 * time.Minute)
		if got := ask(t, dial(), "PING"); got != "-ERR max number of clients reached" {
			t.Errorf("the third: %s", got)
		}
		if got := ask(t, early, "PING"); got != "+PONG" {
			t.Error(got)
		}
	})
}

// TestOldestUnauthenticatedClientMakesRoom fills all places with silent connections.
func TestOldestUnauthenticatedClientMakesRoom(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		srv, dial := serveBubble(t, func(c *Config) { c.Settings.Password, c.Settings.MaxClients = "secret", 4 })
		var in []net.Conn
		for range 2 {
			for range 20 {
				dial()
			}
			c := dial()
			in = append(in, c)
			if got := ask(t, c, "AUTH secret"); got != "+OK" {
				t.Errorf("with silent connections in all places: %s", got)
			}
			synctest.Wait()
			if n := srv.count.Load(); n > 4 {
				t.Errorf("%d connections", n)
			}
		}
		for range 2 {
			c := dial()
			in = append(in, c)
			ask(t, c, "AUTH secret")
		}
		if got := ask(t, dial(), "AUTH secret"); got != "-ERR max number of clients reached" {
			t.Errorf("with clients in all places: %s", got)
		}
		for _, c := range in {
			if got := ask(t, c, "PING"); got != "+PONG" {
				t.Error(got)
			}
		}
	})
}

func TestSlowHandshakeEnds(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		cert := selfSigned(t)
		_, dial := serveBubble(t, func(c *Config) {
			c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
			c.Settings.MaxClients = 2
		})
		for _, begin := range []string{"", "\x16\x03\x01"} {
			c := dial()
			_, _ = io.WriteString(c, begin)
			if took := closesAfter(c); took < 9*time.Second || took > 11*time.Second {
				t.Errorf("after %q the server waits for %v, want 10 s", begin, took)
			}
		}
		for i := range 2 {
			for range 10 {
				dial()
			}
			c := tls.Client(dial(), &tls.Config{InsecureSkipVerify: true})
			if got := ask(t, c, "PING"); got != "+PONG" {
				t.Errorf("client %d: %s", i, got)
			}
			time.Sleep(10 * time.Minute)
			if got := ask(t, c, "PING"); got != "+PONG" {
				t.Errorf("client %d is idle: %s", i, got)
			}
		}
	})
}
