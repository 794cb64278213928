package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// TestLargeRepliesInAPipeline: a reply that is too large to wait for a pipeline's
// commit comes in its place among the others, none of which gets lost.
func TestLargeRepliesInAPipeline(t *testing.T) {
	randomtest.DrawShort(t, 4)
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	large := strings.Repeat("0123456789abcdef", 3*command.LargeReply/16)
	o.Do("SET", "large", large)
	var lines, want []string
	rounds := 40
	if testing.Short() {
		rounds = 6 // the race detector needs a second for some of such replies
	}
	for i := range rounds {
		n := strconv.Itoa(i)
		lines = append(lines, "SET k "+n, "GET k", "GET large", "GET k", "GET large", "GET large")
		want = append(want, "OK", n, large, n, large, large)
	}
	go func() { _, _ = o.C.Write([]byte(strings.Join(lines, "\r\n") + "\r\n")) }()
	for i, line := range lines {
		v, err := o.Read()
		if err != nil {
			t.Fatalf("reply %d, to %s: %v", i, line, err)
		}
		if v.Text != want[i] {
			t.Fatalf("reply %d, to %s: %d bytes, want %d", i, line, len(v.Text), len(want[i]))
		}
	}
}

// TestLargeRepliesThatAreNotWanted: CLIENT REPLY holds for them as well.
func TestLargeRepliesThatAreNotWanted(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "large", strings.Repeat("x", 3*command.LargeReply))
	for _, c := range srv.snapshot() {
		c.session.replies = replySkip
	}
	if _, err := o.C.Write([]byte("GET large\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	if v, err := o.Read(); err != nil || v.Text != "PONG" {
		t.Errorf("after a skipped reply: %.20s, %v", v, err)
	}
}
