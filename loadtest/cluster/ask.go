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

// A line is a connection to a node, which breaks when the node takes too long.
type line struct {
	*Conn
	net net.Conn
}

func (a access) dial(ctx context.Context, addr string) (*line, error) {
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
	l := &line{Over(conn), conn}
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
func (l *line) do(ctx context.Context, words ...string) (reply string, err error) {
	defer l.bound(ctx)()
	return l.Do(words...)
}

// bound ends what waits for the node when ctx does, or the node's time is over.
func (l *line) bound(ctx context.Context) (free func()) {
	_ = l.net.SetDeadline(time.Now().Add(patience))
	stop := context.AfterFunc(ctx, func() { _ = l.net.SetDeadline(time.Unix(1, 0)) })
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
