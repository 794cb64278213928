package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"
)

// A talk is a connection on which one goroutine asks and waits: to log in, and to learn
// of the cluster.
type talk struct {
	conn    net.Conn
	replies *replyReader
	next    func() (Reply, error) // where replies come from
	out     []byte
	pushes  []Reply // what came between the replies
}

// do asks and waits for the reply. An error of the server is one of the reply's.
func (t *talk) do(args ...string) (Reply, error) {
	t.out = appendCommand(t.out[:0], args)
	if _, err := t.conn.Write(t.out); err != nil {
		return Reply{}, err
	}
	for {
		r, err := t.next()
		if err != nil {
			return Reply{}, err
		}
		if !r.isPush() {
			return r, nil
		}
		t.pushes = append(t.pushes, r)
	}
}

// isPush tells a message of a channel from the reply to a command: in RESP2 by its form.
func (r *Reply) isPush() bool {
	return r.push || r.kind == List && len(r.elems) == 3 && string(r.elems[0].text) == "message"
}

// greet connects, logs in and sets the connection up.
func (c *Config) greet(ctx context.Context, addr string) (*talk, error) {
	conn, err := c.Dial(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	if c.TLS != nil {
		conf := c.TLS
		if conf.ServerName == "" && !conf.InsecureSkipVerify {
			conf = conf.Clone()
			conf.ServerName, _, _ = net.SplitHostPort(addr)
		}
		conn = tls.Client(conn, conf)
	}
	t := &talk{conn: conn, replies: newReplyReader(conn, c.MaxReply)}
	t.next = t.replies.next
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = t.setUp(c)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return nil, fmt.Errorf("greet %s: %w", addr, err)
	}
	return t, nil
}

// open connects for a lane.
func (c *Config) open(ctx context.Context, addr string) (net.Conn, *replyReader, error) {
	t, err := c.greet(ctx, addr)
	if err != nil {
		return nil, nil, err
	}
	return t.conn, t.replies, nil
}

func (t *talk) setUp(c *Config) error {
	user := c.Username
	if user == "" {
		user = "default"
	}
	hello := []string{"HELLO", "3"}
	if c.Password != "" {
		hello = append(hello, "AUTH", user, c.Password)
	}
	old := c.RESP2
	if !old {
		r, err := t.do(hello...)
		if err != nil {
			return err
		}
		// A server that does not know HELLO, or version 3, may know the rest.
		if refusesClient(r.Err()) && (r.code() != "NOAUTH" || c.Password == "") {
			return r.Err()
		}
		old = r.kind == Error
	}
	if old && c.Password != "" {
		auth := []string{"AUTH", c.Password}
		if c.Username != "" {
			auth = []string{"AUTH", c.Username, c.Password}
		}
		if err := t.must(auth...); err != nil {
			return err
		}
	}
	// Servers that do not know names do well without.
	r, err := t.do("CLIENT", "SETNAME", c.Name)
	if err != nil {
		return err
	}
	if err := r.Err(); refusesClient(err) {
		return err
	}
	if c.Route != "" {
		// A node alone has no routes, nor has Redis.
		if _, err := t.do("RING", "ROUTE", c.Route); err != nil {
			return err
		}
	}
	if c.Database != 0 {
		if err := t.must("SELECT", strconv.Itoa(c.Database)); err != nil {
			return fmt.Errorf("select database %d: %w", c.Database, err)
		}
	}
	return nil
}

// must asks for something without which there is no going on.
func (t *talk) must(args ...string) error {
	r, err := t.do(args...)
	if err != nil {
		return err
	}
	return r.Err()
}
