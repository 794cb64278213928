package main

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func TestLeaveWaitsUntilTheNodeStops(t *testing.T) {
	for _, test := range []struct{ name, reply, fault string }{
		{"left", "+OK\r\n", ""},
		{"refused", "-ERR the last store of a cluster cannot leave\r\n", "the last store of a cluster cannot leave"},
		{"stopped before the reply", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			asked := make(chan string, 2)
			stop := resptest.Serve(t, l, func(c net.Conn) {
				defer c.Close()
				requests := resptest.NewRequests(c)
				for range 2 {
					words, err := requests.Next()
					if err != nil {
						return
					}
					asked <- strings.Join(words, " ")
				}
				_, _ = c.Write([]byte("+OK\r\n" + test.reply))
			})
			defer stop()
			err = requestLeave(t.Context(), "unix", path, "secret")
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("leaving: %v", err)
			}
			if auth, leave := <-asked, <-asked; auth != "AUTH secret" || leave != "RING LEAVE" {
				t.Errorf("asked %q and %q", auth, leave)
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := requestLeave(ended, "unix", filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("no error without a node")
	}
	if code, _, stderr := ringside(nil, "leave", "--if-scaled-down", "ringside"); code != 1 || !strings.Contains(stderr, "does not run in Kubernetes") {
		t.Errorf("outside of Kubernetes: exit code %d, %q", code, stderr)
	}
}
