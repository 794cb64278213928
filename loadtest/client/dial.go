package client

import (
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
	deadline time.Duration // when it gives up, as it is set
	wake     func()        // ends a read
	cut      func() bool   // ends the watch that closes it with the load
}

// dial connects and logs in. The connection ends with its life.
func (l *Load) dial(life context.Context, addr string) (*conn, error) {
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
