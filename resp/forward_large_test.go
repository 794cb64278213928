package resp

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// spyLink notes what it is given, and answers OK to everything.
type spyLink struct{ sent chan spied }

type spied struct {
	batch    []byte
	requests int
	timeout  time.Duration
}

type spyWay struct {
	*spyLink
	requests int
}

func (l *spyLink) Way() Way { return &spyWay{spyLink: l} }

func (w *spyWay) Send(batch []byte, requests int, _ Terms, timeout time.Duration, arrived func()) error {
	w.requests = requests
	w.sent <- spied{bytes.Clone(batch), requests, timeout}
	if arrived != nil {
		arrived()
	}
	return nil
}

func (w *spyWay) Wait() (r Replies, err error) {
	for range w.requests {
		r.Bytes = append(r.Bytes, "+OK\r\n"...)
		r.Ends = append(r.Ends, len(r.Bytes))
	}
	return r, nil
}

// What is large has longer, in proportion, and arrives whole whatever stands beside it.
func TestForwardTimeoutGrowsWithTheSize(t *testing.T) {
	randomtest.DrawShort(t, 4)
	r := routedTest(t, 2)
	spy := &spyLink{make(chan spied, 10)}
	r.links["n1"] = Route{ID: "n1", Link: spy}
	p, err := ring.NewPlacement([]ring.Row{{Primary: "n1"}})
	if err != nil {
		t.Fatal(err)
	}
	r.place(0, p, nil)
	o := resptest.Dial(t, r.addrs[0], 2)
	limit := r.servers[0].forwardTimeout()
	o.Want("+OK", "SET", "a", "small")
	if s := <-spy.sent; s.timeout < limit || s.timeout > limit+time.Second {
		t.Errorf("a small value has %v", s.timeout)
	}
	value := strings.Repeat("x", 4*forwardPace)
	for range 2 { // nothing of the first is left behind
		o.Want("+OK", "SET", "a", value)
		s := <-spy.sent
		if s.timeout < limit+4*time.Second || s.timeout > limit+5*time.Second {
			t.Errorf("%d bytes have %v", len(s.batch), s.timeout)
		}
		if s.requests != 1 || !bytes.Contains(s.batch, []byte(value)) || len(s.batch) > len(value)+100 {
			t.Errorf("%d requests of %d bytes", s.requests, len(s.batch))
		}
	}
	// One that is not copied, and others with it.
	large := strings.Repeat("y", 2*keepInput)
	pipe := redisCommand("SET", "a", large)
	for range 3 {
		pipe = append(pipe, redisCommand("SET", "b", "small")...)
	}
	want := bytes.Clone(pipe)
	if _, err := o.C.Write(pipe); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if v, err := o.Read(); err != nil || v.String() != "+OK" {
			t.Fatal(v, err)
		}
	}
	var got []byte
	for len(got) < len(want) {
		got = append(got, (<-spy.sent).batch...)
	}
	if !bytes.Equal(got, want) {
		t.Error("they do not arrive as they were sent")
	}
	o.Want("+OK", "SET", "c", "small")
	if s := <-spy.sent; !bytes.Contains(s.batch, []byte("small")) || bytes.Contains(s.batch, []byte("yy")) {
		t.Errorf("%d bytes of what was before", len(s.batch))
	}
}

func redisCommand(args ...string) (b []byte) {
	b = wire.AppendArray(b, len(args))
	for _, arg := range args {
		b = wire.AppendBulkString(b, arg)
	}
	return b
}
