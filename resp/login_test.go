package resp

import (
	"net"
	"testing"
	"time"

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
