package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// access is how nodes are talked to.
type access struct {
	password string
	tls      *tls.Config // nil: without
	username string
}

// patience is how long a node may take to answer.
const patience = 2 * time.Second

// dial connects and logs in. Commands with a context fail when the node takes longer than patience.
func (a access) dial(ctx context.Context, addr string) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if a.tls != nil {
		of := a.tls.Clone()
		if of.ServerName == "" {
			of.ServerName, _, _ = net.SplitHostPort(addr)
		}
		conn = tls.Client(conn, of)
	}
	l := Over(conn)
	if a.password != "" {
		words := []string{"AUTH", a.password}
		if a.username != "" {
			words = []string{"AUTH", a.username, a.password}
		}
		if _, err := l.do(ctx, words...); err != nil {
			l.Close()
			return nil, fmt.Errorf("log in: %w", err)
		}
	}
	return l, nil
}

// do sends a command and reads its reply.
func (c *Conn) do(ctx context.Context, words ...string) (reply string, err error) {
	defer c.bound(ctx)()
	return c.Do(words...)
}

// bound ends what waits for the node when ctx does, or the node's time is over.
func (c *Conn) bound(ctx context.Context) (free func()) { return c.boundWithin(ctx, patience) }

func (c *Conn) boundWithin(ctx context.Context, d time.Duration) (free func()) {
	_ = c.net.SetDeadline(time.Now().Add(d))
	stop := context.AfterFunc(ctx, func() { _ = c.net.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// ask sends one command, over a connection of its own.
func (f *Cluster) ask(ctx context.Context, addr string, words ...string) (string, error) {
	l, err := f.access().dial(ctx, addr)
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.do(ctx, words...)
}

func (f *Cluster) access() access { return access{password: f.cfg.Password} }

var errNobody = errors.New("no node is up")
