package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

var errNoTarget = errors.New("there is no target")

// A conn is a connection to one server.
type conn struct {
	net.Conn
	in       *wire.ReplyReader
	target   string
	moved    bool          // the server asked to be left
	moveTo   string        // for this address; empty: the one that the client has
	deadline time.Duration // when it gives up, as it is set
	wake     func()        // ends a read
	cut      func() bool   // ends the watch that closes it with the load
}

// dial connects, logs in, and asks for notices of maintenance. The connection ends with its life.
func (l *Load) dial(life context.Context, addr string) (*conn, error) {
	c, err := l.dialPlain(life, addr)
	if _, without := l.withoutNotices.Load(addr); err != nil || without || l.askForNotices(c) == nil {
		return c, err
	}
	c.close()
	l.withoutNotices.Store(addr, true)
	return l.dialPlain(life, addr)
}

// dialPlain connects and logs in.
func (l *Load) dialPlain(life context.Context, addr string) (*conn, error) {
	ctx, cancel := context.WithTimeout(life, min(l.cfg.Timeout, maxDial))
	defer cancel()
	raw, err := dialNet(ctx, addr, new(net.Dialer), l.cfg.TLS)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, in: wire.NewReplyReader(raw), target: addr}
	if err := l.login(c); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	c.wake = func() { _ = raw.SetReadDeadline(longAgo) }
	c.cut = context.AfterFunc(life, func() { _ = raw.Close() })
	return c, nil
}

func (l *Load) login(c *conn) error {
	if l.cfg.Password == "" {
		return nil
	}
	args := [][]byte{[]byte("AUTH"), []byte(l.cfg.Username), []byte(l.cfg.Password)}
	if l.cfg.Username == "" {
		args = append(args[:1], args[2])
	}
	r, err := l.ask(c, args)
	if err == nil && r.Kind == '-' {
		err = fmt.Errorf("log in to %s: %s", c.target, r.Text)
	}
	return err
}

// ask sends one command and waits for its reply.
func (l *Load) ask(c *conn, args [][]byte) (*wire.Reply, error) {
	if err := c.SetDeadline(time.Now().Add(l.cfg.Timeout)); err != nil {
		return nil, err
	}
	if _, err := c.Write(wire.AppendRequest(nil, args...)); err != nil {
		return nil, err
	}
	return c.in.Read()
}

// askForNotices asks for protocol 3 and for notices of maintenance, as client libraries do by default. Servers that
// know neither reply errors, which do not matter. Some proxies close the connection instead: that is the error.
func (l *Load) askForNotices(c *conn) error {
	c.in.Pushed = c.notice
	for _, command := range []string{"HELLO 3", "CLIENT MAINT_NOTIFICATIONS ON"} {
		if _, err := l.ask(c, bytes.Fields([]byte(command))); err != nil {
			return err
		}
	}
	return nil
}

// notice takes a push message: MOVING, a number, seconds, and an address or null.
func (c *conn) notice(message *wire.Reply) {
	if v := message.Values; len(v) == 4 && string(v[0]) == "MOVING" {
		c.moved, c.moveTo = true, string(v[3])
	}
}

// hold sees to it that the connection gives up in time. The timer is set only when the
// last setting is used up, so that an operation has up to an eighth longer.
func (c *conn) hold(now, timeout time.Duration) error {
	if c.deadline-now >= timeout {
		return nil
	}
	longer := timeout + timeout/8
	c.deadline = now + longer
	return c.SetDeadline(time.Now().Add(longer))
}

func (c *conn) close() {
	c.cut()
	_ = c.Close()
}
