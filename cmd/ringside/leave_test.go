package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/status"
)

// fakeNode answers RING LEAVE with a reply, RING STATUS JSON with a report, none if that is nil, and INFO with the id of
// the process, which may be nil.
func fakeNode(t *testing.T, l net.Listener, leave func() string, report func() *status.Report, process func() string) (stop func()) {
	t.Helper()
	return resptest.Serve(t, l, func(c net.Conn) {
		defer c.Close()
		for requests := resptest.NewRequests(c); ; {
			words, err := requests.Next()
			if err != nil {
				return
			}
			reply := "+OK\r\n" // to AUTH secret
			switch strings.Join(words, " ") {
			case "RING LEAVE":
				reply = leave()
			case "RING STATUS JSON":
				reply = "-ERR this node is not in its cluster yet\r\n"
				if r := report(); r != nil {
					text, _ := json.Marshal(r)
					reply = fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
				}
			case "INFO server":
				reply = "-NOPERM\r\n"
				if process != nil {
					text := "# Server\r\nrun_id:" + process() + "\r\n"
					reply = fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
				}
			case "AUTH secret":
			default:
				reply = "-ERR unexpected\r\n"
			}
			if reply == "" {
				return
			}
			_, _ = c.Write([]byte(reply))
		}
	})
}

// TestLeaveNeedsProof has a node n1 that leaves end after some reports, and n2 tell of it.
func TestLeaveNeedsProof(t *testing.T) {
	member := status.Node{ID: "n1", State: status.Member, Primaries: 3}
	leaving := status.Node{ID: "n1", State: status.Leaving, Primaries: 2, Backups: 1}
	empty := status.Node{ID: "n1", State: status.Leaving}
	for _, test := range []struct {
		name    string
		leave   string
		own     []status.Node // reports until it ends
		other   []status.Node // what n2 tells of n1; without it, n2 cannot be reached
		noOther bool
		fault   string
	}{
		{name: "left, as the other node says", leave: "+OK\r\n", own: []status.Node{member, leaving}},
		{name: "left, as it has said itself", leave: "+OK\r\n", own: []status.Node{member, leaving, empty}, noOther: true},
		{name: "stopped before the reply", own: []status.Node{member, leaving, empty}, noOther: true},
		{name: "refused", leave: "-ERR the last store of a cluster cannot leave\r\n", own: []status.Node{member}, fault: "the last store of a cluster cannot leave"},
		{name: "killed", leave: "+OK\r\n", own: []status.Node{member, leaving}, noOther: true, fault: "no node tells that it has left: keep its directory, start it again, and repeat the command; n1 has copies of 3 ranges"},
		{name: "killed, as the other node says", leave: "+OK\r\n", own: []status.Node{member, leaving}, other: []status.Node{leaving}, fault: "n1 has copies of 3 ranges"},
		{name: "killed before the order is known", own: []status.Node{member}, other: []status.Node{member}, fault: "keep its directory"},
		{name: "empty before it was told to leave", own: []status.Node{empty}, noOther: true, fault: "keep its directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			here, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			there, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			other := status.Node{ID: "n2", State: status.Member, Addr: there.Addr().String(), Primaries: 5}
			if test.noOther {
				_ = there.Close()
			} else {
				defer fakeNode(t, there, nil, func() *status.Report {
					return &status.Report{Asked: "n2", Leader: "n2", Nodes: append([]status.Node{other}, test.other...)}
				}, nil)()
			}
			var asked atomic.Int64
			defer fakeNode(t, here, func() string {
				if len(test.own) == 1 {
					_ = here.Close()
				}
				return test.leave
			}, func() *status.Report {
				i := int(asked.Add(1))
				if i > 1 && i == len(test.own) {
					_ = here.Close()
				}
				return &status.Report{Asked: "n1", Leader: "n2", Nodes: []status.Node{test.own[i-1], other}}
			}, nil)()
			l := &leaver{own: status.Source{Addr: path, Password: "secret"}, poll: time.Millisecond, patience: 20 * time.Millisecond}
			err = l.leave(t.Context())
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("leaving: %v, want %q", err, test.fault)
			}
		})
	}
}

// TestLeaveNoticesRestarts has a node n1 be started again while it leaves, so fast that it always answers.
func TestLeaveNoticesRestarts(t *testing.T) {
	member := &status.Node{ID: "n1", State: status.Member, Primaries: 3}
	leaving := &status.Node{ID: "n1", State: status.Leaving, Primaries: 2}
	empty := &status.Node{ID: "n1", State: status.Leaving}
	joining := &status.Node{ID: "n1", State: status.Joining}
	stray := &status.Node{ID: "n1", State: status.Stray}
	type look struct {
		process string
		own     *status.Node // what n1 tells of itself; nil: it is not in its cluster yet
		other   *status.Node // what n2 tells of it; nil: it knows no n1
	}
	for _, test := range []struct {
		name   string
		looks  []look
		orders int64
		fault  string // else it has left, and its process has ended
	}{
		{name: "has joined again", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", joining, joining}}, orders: 1, fault: "something starts the node again"},
		{name: "stops a moment after it has left", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"a", stray, nil}}, orders: 1},
		{name: "leaves after a crash", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", leaving, leaving}, {"b", stray, nil}}, orders: 1},
		{name: "has joined later", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", leaving, leaving}, {"b", joining, joining}}, orders: 1, fault: "something starts the node again"},
		{name: "is about to join", looks: []look{{"a", member, member}, {"a", empty, leaving}, {"b", nil, nil}}, orders: 1, fault: "something starts the node again"},
		{name: "is gone a moment later", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", nil, leaving}, {"b", nil, nil}}, orders: 1, fault: "something starts the node again"},
		{name: "knows an old table", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", member, leaving}, {"b", empty, leaving}}, orders: 1},
		{name: "goes on", looks: []look{{"a", member, member}, {"a", leaving, leaving}, {"b", leaving, leaving}, {"c", empty, empty}}, orders: 1},
		{name: "has not noted the order", looks: []look{{"a", member, member}, {"b", member, member}, {"b", empty, leaving}}, orders: 2},
		{name: "joins each time", looks: []look{{"a", member, member}, {"b", member, member}, {"c", member, member}}, orders: 2, fault: "something starts the node again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			here, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			there, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			other := status.Node{ID: "n2", State: status.Member, Addr: there.Addr().String(), Primaries: 5}
			var at, orders atomic.Int64 // INFO comes first in each look
			at.Store(-1)
			now := func() look { return test.looks[min(int(at.Load()), len(test.looks)-1)] }
			report := func(asked string, n1 *status.Node) *status.Report {
				r := &status.Report{Asked: asked, Leader: "n2", Nodes: []status.Node{other}}
				if n1 != nil {
					r.Nodes = append(r.Nodes, *n1)
				}
				return r
			}
			defer fakeNode(t, there, nil, func() *status.Report { return report("n2", now().other) }, nil)()
			defer fakeNode(t, here, func() string {
				orders.Add(1)
				return "+OK\r\n"
			}, func() *status.Report {
				if test.fault == "" && int(at.Load()) >= len(test.looks)-1 {
					_ = here.Close()
				}
				if now().own == nil {
					return nil
				}
				return report("n1", now().own)
			}, func() string {
				at.Add(1)
				return now().process
			})()
			l := &leaver{own: status.Source{Addr: path}, poll: time.Millisecond, patience: 20 * time.Millisecond}
			err = l.leave(t.Context())
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) || orders.Load() != test.orders {
				t.Errorf("leaving: %v, want %q; %d orders, want %d", err, test.fault, orders.Load(), test.orders)
			}
		})
	}
}

func TestLeaveFailsWithoutNode(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, ctx := range []context.Context{t.Context(), ended} {
		l := &leaver{own: status.Source{Addr: filepath.Join(t.TempDir(), "none")}, poll: time.Millisecond}
		if err := l.leave(ctx); err == nil {
			t.Error("no error without a node")
		}
	}
	if code, _, stderr := ringside(nil, "leave", "--if-scaled-down", "ringside"); code != 1 || !strings.Contains(stderr, "does not run in Kubernetes") {
		t.Errorf("outside of Kubernetes: exit code %d, %q", code, stderr)
	}
}
