package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// callLimit bounds a single command.
const callLimit = 10 * time.Second

// A conn is one client's connection. It is for one goroutine.
type conn struct {
	net.Conn
	replies *wire.ReplyReader
	cursors map[string]string // of scans, by key
}

func dial(ctx context.Context, addr string) (*conn, error) {
	d := net.Dialer{Timeout: callLimit}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}

func newConn(c net.Conn) *conn { return &conn{Conn: c, replies: wire.NewReplyReader(c)} }

// do sends one command and returns its reply.
func (c *conn) do(args ...string) (string, error) {
	if err := c.SetDeadline(time.Now().Add(callLimit)); err != nil {
		return "", err
	}
	if _, err := c.Write(wire.AppendRequest(nil, args...)); err != nil {
		return "", err
	}
	reply, err := c.reply()
	if err != nil {
		return "", err
	}
	return reply.Joined()
}

// reply reads a reply. A reply that is an error is a [wire.ReplyError].
func (c *conn) reply() (*wire.Reply, error) {
	reply, err := c.replies.Read()
	if err == nil && reply.Kind == '-' {
		err = wire.ReplyError(reply.Text)
	}
	return reply, err
}

// exchange sends requests and reads as many replies.
func (c *conn) exchange(requests []byte, n int) error {
	if _, err := c.Write(requests); err != nil {
		return err
	}
	for range n {
		if _, err := c.reply(); err != nil {
			return err
		}
	}
	return nil
}

// scan sends a command of the SCAN family and returns the cursor for the next one.
func (c *conn) scan(args ...string) (cursor string, err error) {
	if _, err := c.Write(wire.AppendRequest(nil, args...)); err != nil {
		return "", err
	}
	reply, err := c.reply()
	if err != nil {
		return "", err
	}
	if len(reply.Values) != 2 || reply.Values[0] == nil {
		return "", errNoCursor
	}
	return string(reply.Values[0]), nil
}

var errNoCursor = errors.New("a reply without a cursor")

// infoField finds a field in the reply to INFO.
func infoField(info, name string) (string, bool) {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value, true
		}
	}
	return "", false
}
