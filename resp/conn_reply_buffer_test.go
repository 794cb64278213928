package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// A connection whose replies were large holds no memory of the budget for them once they have left,
// only that of its requests.
func TestLargeReplyBufferIsGivenBack(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	text := strings.Repeat("x", 3<<10)
	for i := range 64 {
		o.Want("+OK", "SET", fmt.Sprint("k", i), text)
	}
	for range 4 {
		for i := range 64 {
			o.Send("GET", fmt.Sprint("k", i))
		}
		for range 64 {
			if got := o.Next().Text; got != text {
				t.Fatalf("a reply of %d bytes", len(got))
			}
		}
		resptest.WaitFor(t, "the memory of replies is given back", func() bool { return srv.budget.InUse() < keepReply })
	}
}

// The next replies go into the buffer of the last ones, which is charged for as long as it is in
// use, unless memory is short.
func TestReplyBufferIsChargedWhileInUse(t *testing.T) {
	srv, _ := serveTest(t, nil)
	c := &conn{srv: srv}
	c.replyBuf = replyBuffer{c: c, large: true}
	buf := make([]byte, 0, 2*keepReply)
	for range 100 { // the race detector has a pool lose some
		replyBuffers.Put(&buf)
		if c.replyBuf.take(); c.out.Buf != nil {
			break
		}
	}
	if c.out.Buf == nil {
		t.Fatal("no buffer was taken")
	}
	if used := srv.budget.InUse(); used != int64(cap(c.out.Buf)) {
		t.Errorf("%d bytes are charged for a buffer of %d", used, cap(c.out.Buf))
	}
	c.out.Buf = c.out.Buf[:keepReply+1]
	if c.replyBuf.reset(); c.out.Buf != nil || srv.budget.InUse() != 0 || !c.replyBuf.large {
		t.Errorf("%d bytes are charged, large %v", srv.budget.InUse(), c.replyBuf.large)
	}
	srv.settings.ClientMemory.Store(keepReply)
	for range 100 {
		replyBuffers.Put(&buf)
		if c.replyBuf.take(); c.out.Buf != nil {
			t.Fatal("a buffer was taken though memory is short")
		}
	}
}
