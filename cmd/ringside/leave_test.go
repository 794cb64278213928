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

// fakeNode answers RING LEAVE with a reply, and RING STATUS JSON with a report.
func fakeNode(t *testing.T, l net.Listener, leave func() string, report func() *status.Report) (stop func()) {
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
				text, _ := json.Marshal(report())
				reply = fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
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
				})()
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
			})()
			l := &leaver{own: status.Source{Addr: path, Password: "secret"}, poll: time.Millisecond, patience: 20 * time.Millisecond}
			err = l.leave(t.Context())
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("leaving: %v, want %q", err, test.fault)
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
