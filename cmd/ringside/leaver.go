package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

const (
	leavePoll     = 250 * time.Millisecond // between two looks at a node that leaves
	leavePatience = 15 * time.Second       // how long a node may be away that has not told that it has no data
	leaveAsk      = 10 * time.Second       // for one report
)

// A leaver has a node leave its cluster. The end of a connection says nothing about the data of the node: it can be a
// crash. The node has left when its own report, or that of another node, says so.
type leaver struct {
	own            status.Source
	poll, patience time.Duration

	id     string   // of the node; empty before its first report
	others []string // addresses of the other nodes
	empty  bool     // the node has said that it has no copy of a range
	copies string   // that it had when a node last told
}

// leave returns nil once the node has left and stopped.
func (l *leaver) leave(ctx context.Context) error {
	if _, err := l.askOwn(ctx); err != nil && !errors.Is(err, status.ErrAnswer) {
		return err
	}
	l.empty = false // before it was told to leave, it may be given ranges
	if err := l.order(ctx); err != nil {
		return err
	}
	var away time.Time // since when the node has not answered; zero if it has
	for {
		answers, err := l.askOwn(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w%s", context.Cause(ctx), l.copies)
		case answers && !away.IsZero():
			away = time.Time{}
			if err := l.order(ctx); err != nil { // it may have been started again before the cluster knew of the first order
				return err
			}
		case answers:
		case l.empty || l.hasLeft(ctx):
			return nil
		case away.IsZero():
			away = time.Now()
		case time.Since(away) > l.patience:
			return fmt.Errorf("the node does not answer any more, and no node tells that it has left: keep its directory, start it again, and repeat the command%s: %w", l.copies, err)
		}
		select {
		case <-time.After(l.poll):
		case <-ctx.Done():
		}
	}
}

// order sends RING LEAVE. The end of the connection before the reply is no error: what became of the order is seen later.
func (l *leaver) order(ctx context.Context) error {
	network := "tcp"
	if status.IsPath(l.own.Addr) {
		network = "unix"
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, l.own.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var requests []byte
	if l.own.Password != "" {
		requests = wire.AppendRequest(requests, "AUTH", l.own.Password)
	}
	if _, err := conn.Write(wire.AppendRequest(requests, "RING", "LEAVE")); err != nil {
		return nil
	}
	replies := wire.NewReplyReader(conn)
	for _, word := range []string{"AUTH", "RING"} {
		if word == "AUTH" && l.own.Password == "" {
			continue
		}
		reply, err := replies.Read()
		switch {
		case errors.Is(err, wire.ErrReply):
			return err
		case err != nil:
			return nil
		case reply.Kind == wire.KindError && !strings.Contains(string(reply.Text), "without any password configured"):
			return errors.New(string(reply.Text))
		}
	}
	return nil
}

// askOwn asks the node for its report. answers is false if it cannot be reached, or tells nothing.
func (l *leaver) askOwn(ctx context.Context) (answers bool, err error) {
	r, err := fetch(ctx, l.own)
	if err != nil {
		return errors.Is(err, status.ErrPassword), err
	}
	l.id = r.Asked
	l.others = l.others[:0]
	for _, n := range r.Nodes {
		if n.ID != l.id && n.Addr != "" {
			l.others = append(l.others, n.Addr)
		}
	}
	l.note(r) // a node that has just been started may not know yet that it is in the cluster
	return true, nil
}

// hasLeft reports whether another node says that the node has left.
func (l *leaver) hasLeft(ctx context.Context) bool {
	for _, addr := range l.others {
		r, err := fetch(ctx, status.Source{Addr: addr, Password: l.own.Password})
		if err == nil && r.Leader != "" {
			return l.note(r)
		}
	}
	return false
}

// note takes in what a report says of the node, and reports whether it is gone.
func (l *leaver) note(r *status.Report) (gone bool) {
	at := slices.IndexFunc(r.Nodes, func(n status.Node) bool { return n.ID == l.id })
	if at < 0 {
		return true
	}
	n := &r.Nodes[at]
	copies := n.Primaries + n.Backups + n.Learners
	l.empty, l.copies = copies == 0 && n.State == status.Leaving, ""
	if copies > 0 {
		l.copies = fmt.Sprintf("; %s has copies of %d ranges", l.id, copies)
	}
	return false
}

func fetch(ctx context.Context, from status.Source) (*status.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, leaveAsk)
	defer cancel()
	return from.Fetch(ctx)
}
