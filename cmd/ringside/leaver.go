package main

import (
	"cmp"
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

	id      string   // of the node; empty before its first report
	process string   // that answered last, as its run_id; empty if it does not tell
	others  []string // addresses of the other nodes
	state   string   // of the node when a node last told
	leaving bool     // it has been status.Leaving
	orders  int      // RING LEAVE was sent so often
	empty   bool     // the node has said that it has no copy of a range
	copies  string   // that it had when a node last told
}

var (
	errStartedAgain = errors.New("something starts the node again while it leaves: keep its directory, since it may have data again, stop what starts it, and repeat the command")
	errNoReply      = errors.New("the connection ended before the reply")
)

// maxLeaveOrders is how many processes of the node are told to leave. Each of them moves data.
const maxLeaveOrders = 2

// leave returns nil once the node has left and stopped.
func (l *leaver) leave(ctx context.Context) error {
	process, _, err := l.askOwn(ctx)
	if err != nil && !errors.Is(err, status.ErrAnswer) {
		return err
	}
	l.process = process
	l.empty = false // before it was told to leave, it may be given ranges
	if err := l.order(ctx); err != nil {
		return err
	}
	var away time.Time      // since when the node has not answered; zero if it has
	for again := false; ; { // a process answers that was started since, and has not said that it leaves
		process, answers, err := l.askOwn(ctx)
		another := process != "" && l.process != "" && process != l.process
		if process == "" || l.process == "" {
			another = answers && !away.IsZero()
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("%w%s", context.Cause(ctx), l.copies)
		case another:
			away, again, l.process = time.Time{}, !answers || l.state != status.Leaving, process
			l.empty = l.empty && answers
			if err := l.restarted(ctx); err != nil {
				return err
			}
		case answers:
			away, l.process = time.Time{}, cmp.Or(l.process, process)
			again = again && l.state != status.Leaving
			if l.leaving && (l.state == status.Joining || l.state == status.Member) && l.hasReturned(ctx) {
				return errStartedAgain
			}
		case l.empty || l.hasLeft(ctx):
			if again && process != "" {
				return errStartedAgain
			}
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

// restarted decides what becomes of a node that was started again: it goes on leaving, or is told to once more, where the
// cluster had not noted the order.
func (l *leaver) restarted(ctx context.Context) error {
	switch {
	case l.hasReturned(ctx), !l.leaving && l.orders == maxLeaveOrders:
		return errStartedAgain
	case l.leaving:
		return nil
	}
	return l.order(ctx)
}

// order sends RING LEAVE. The end of the connection before the reply is no error: what became of the order is seen later.
func (l *leaver) order(ctx context.Context) error {
	l.orders++
	if _, err := l.send(ctx, "RING", "LEAVE"); !errors.Is(err, errNoReply) {
		return err
	}
	return nil
}

// send sends the node a request and returns its reply, on a connection of its own.
func (l *leaver) send(ctx context.Context, words ...string) (string, error) {
	network := "tcp"
	if status.IsPath(l.own.Addr) {
		network = "unix"
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, l.own.Addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	requests := [][]string{words}
	if l.own.Password != "" {
		requests = [][]string{{"AUTH", l.own.Password}, words}
	}
	var out []byte
	for _, request := range requests {
		out = wire.AppendRequest(out, request...)
	}
	if _, err := conn.Write(out); err != nil {
		return "", errNoReply
	}
	replies, text := wire.NewReplyReader(conn), ""
	for range requests {
		reply, err := replies.Read()
		if errors.Is(err, wire.ErrReply) {
			return "", err
		}
		if err != nil {
			return "", errNoReply
		}
		if text = string(reply.Text); reply.Kind == wire.KindError && !strings.Contains(text, "without any password configured") {
			return "", errors.New(text)
		}
	}
	return text, nil
}

// runID returns the run_id of the process that answers, which each start of the node changes; empty if it does not tell.
func (l *leaver) runID(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, leaveAsk)
	defer cancel()
	info, err := l.send(ctx, "INFO", "server")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(info) {
		if id, ok := strings.CutPrefix(line, "run_id:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// askOwn asks the node which process it is, and for its report. answers is false if it cannot be reached, or tells nothing.
func (l *leaver) askOwn(ctx context.Context) (process string, answers bool, err error) {
	process = l.runID(ctx)
	r, err := fetch(ctx, l.own)
	if err != nil {
		return process, errors.Is(err, status.ErrPassword), err
	}
	l.id = r.Asked
	var others []string
	for _, n := range r.Nodes {
		if n.ID != l.id && n.Addr != "" {
			others = append(others, n.Addr)
		}
	}
	if len(others) > 0 { // a node that has just been started may not know them yet, nor that it is in the cluster
		l.others = others
	}
	l.note(r)
	return process, true, nil
}

// hasReturned reports whether the node has left, and has joined again or is about to. Another node decides, if one can be
// reached: a node that has just been started may know an old table.
func (l *leaver) hasReturned(ctx context.Context) bool {
	return l.hasLeft(ctx) || l.leaving && l.state != status.Leaving
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
	l.state, l.leaving = n.State, l.leaving || n.State == status.Leaving
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
