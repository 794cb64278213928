package main

import (
	"context"
	"net"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A conn is one client's connection, for one goroutine. It is closed when the context ends.
type conn struct {
	*cluster.Conn
	raw    net.Conn
	unhook func() bool
}

func dial(ctx context.Context, addr string) (*conn, error) {
	var d net.Dialer
	raw, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newConn(ctx, raw), nil
}

func newConn(ctx context.Context, raw net.Conn) *conn {
	return &conn{cluster.Over(raw), raw, context.AfterFunc(ctx, func() { _ = raw.Close() })}
}

// Close ends the connection.
func (c *conn) Close() {
	c.unhook()
	c.Conn.Close()
}

// exchange sends requests and reads n replies.
func (c *conn) exchange(requests []byte, n int) error {
	if _, err := c.raw.Write(requests); err != nil {
		return err
	}
	for range n {
		if _, err := c.Reply(); err != nil {
			return err
		}
	}
	return nil
}

// ask sends one command over a connection of its own.
func ask(ctx context.Context, addr string, args ...string) (string, error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Do(args...)
}
