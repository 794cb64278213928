package resp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// A handedWay leaves it to the test when a batch is answered, and with what.
type handedWay struct {
	sent    chan *handedBatch
	there   chan struct{} // the replies are
	replies Replies
	err     error
}

type handedBatch struct {
	way     *handedWay
	bytes   string
	arrived func()
}

// handedLink gives the first server such ways to the second. What is sent arrives at the
// channel.
func (r *routed) handedLink() chan *handedBatch {
	l := handedLink{make(chan *handedBatch, 100)}
	nodes := map[string]Route{"n0": r.links["n0"], "n1": {ID: "n1", Addr: r.addrs[1], Link: l}}
	r.servers[0].SetRoutes(&Routes{Placement: r.servers[1].routes.Load().Placement, Self: "n0", Nodes: nodes})
	return l.sent
}

type handedLink struct{ sent chan *handedBatch }

func (l handedLink) Way() Way { return &handedWay{sent: l.sent, there: make(chan struct{}, 1)} }

func (w *handedWay) Send(batch []byte, _ int, _ Terms, _ time.Duration, arrived func()) error {
	w.sent <- &handedBatch{w, string(batch), arrived}
	return nil
}

func (w *handedWay) Wait() (Replies, error) {
	<-w.there
	return w.replies, w.err
}

// answer is the goroutine of a link that brings replies: it is not kept waiting.
func (b *handedBatch) answer(err error, replies ...string) {
	b.way.err, b.way.replies = err, Replies{}
	for _, reply := range replies {
		b.way.replies.Bytes = append(b.way.replies.Bytes, reply...)
		b.way.replies.Ends = append(b.way.replies.Ends, len(b.way.replies.Bytes))
		if reply == "-NOTMINE\r\n" {
			b.way.replies.Statuses = relay.SetStatus(b.way.replies.Statuses, len(b.way.replies.Ends)-1, StatusNotRun)
		}
	}
	b.way.there <- struct{}{}
	if b.arrived == nil {
		return
	}
	told := make(chan struct{})
	go func() {
		b.arrived()
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(resptest.Patience):
		panic("who brings replies is kept waiting")
	}
}

func await[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(resptest.Patience):
		t.Fatalf("%s: did not happen", what)
	}
	return v
}

// theOnly is the connection of the only client of the first server.
func (r *routed) theOnly(t *testing.T) *conn {
	t.Helper()
	conns := r.servers[0].snapshot()
	if len(conns) != 1 {
		t.Fatalf("%d connections", len(conns))
	}
	return conns[0]
}

// What a client sends while a request is on its way to another node is read, is not run
// before the reply is there, and does not change the request, should it be sent again.
func TestNextRequestWaitsForForwardedOne(t *testing.T) {
	for _, value := range []string{"1", strings.Repeat("v", minInput), strings.Repeat("v", freeInput)} {
		r, keys := halves(t)
		sent := r.handedLink()
		o := resptest.Dial(t, r.addrs[0], 2)
		c := r.theOnly(t)
		write := func(words ...string) {
			before := c.session.bytesIn.Load()
			wire := wire.AppendRequest(nil, words...)
			if _, err := o.C.Write(wire); err != nil {
				t.Fatal(err)
			}
			if len(value) == 1 { // else it is read only in part
				resptest.WaitFor(t, "it is read", func() bool { return c.session.bytesIn.Load() == before+int64(len(wire)) })
			}
		}
		for round := range 10 {
			first := fmt.Sprint("first ", round, value)
			write("SET", keys[1], first)
			b := await(t, "the write is sent", sent)
			write("APPEND", keys[0], "x")
			if n := len(r.servers[1].forwards.running()); n > 0 {
				t.Errorf("%d batches run", n)
			}
			if round%2 == 0 {
				b.answer(nil, "-NOTMINE\r\n")
			} else {
				b.answer(ErrNotSent)
			}
			again := await(t, "the write is sent again", sent)
			if again.bytes != b.bytes || !strings.Contains(again.bytes, first) {
				t.Fatalf("%.100q is sent again as %.100q", b.bytes, again.bytes)
			}
			again.answer(nil, "+OK\r\n")
			if got := o.Next().String(); got != "+OK" {
				t.Fatal(got)
			}
			if got := o.Next().String(); got != fmt.Sprint(":", round+1) {
				t.Fatal(got)
			}
		}
	}
}

// Who brings replies does not wait for a client that does not read them, and the client
// gets all of them when it does.
func TestSlowClientDoesNotHoldUpTheRepliesOfOthers(t *testing.T) {
	r, keys := halves(t)
	sent := r.handedLink()
	value := strings.Repeat("v", 32<<10)
	reply := fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
	var link sync.WaitGroup
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		link.Wait()
	})
	link.Go(func() {
		for {
			select {
			case b := <-sent:
				b.answer(nil, reply)
			case <-stop:
				return
			}
		}
	})
	slow := resptest.Dial(t, r.addrs[0], 2)
	c := r.theOnly(t)
	asked := 0
	resptest.WaitFor(t, "replies do not fit the sockets any more", func() bool {
		slow.Send("GET", keys[1])
		asked++
		return c.blockedAt.Load() > 0
	})
	other := resptest.Dial(t, r.addrs[0], 2)
	for range 20 {
		if got := other.Do("GET", keys[1]).Text; got != value {
			t.Fatalf("%.50q", got)
		}
	}
	for range asked {
		if got := slow.Next().Text; got != value {
			t.Fatalf("%.50q", got)
		}
	}
}

// A server that closes sends the replies that are still to come; a client that goes
// leaves nothing behind.
func TestClosingWhileAPipelineIsAway(t *testing.T) {
	r, keys := halves(t)
	sent := r.handedLink()
	gone := resptest.Dial(t, r.addrs[0], 2)
	gone.Send("SET", keys[1], "1")
	b := await(t, "the write is sent", sent)
	_ = gone.C.Close()
	b.answer(ErrUnknownOutcome)
	resptest.WaitFor(t, "the client is forgotten", func() bool { return r.servers[0].count.Load() == 0 })
	if used := r.servers[0].budget.InUse(); used != 0 {
		t.Errorf("%d bytes are left", used)
	}

	o := resptest.Dial(t, r.addrs[0], 2)
	o.Send("SET", keys[1], "1")
	b = await(t, "the write is sent", sent)
	closed := make(chan error, 1)
	go func() { closed <- r.servers[0].Close(context.Background()) }()
	resptest.WaitFor(t, "the server closes", r.servers[0].closed)
	b.answer(nil, "+OK\r\n")
	if got := o.Next().String(); got != "+OK" {
		t.Error(got)
	}
	if err := await(t, "the server is closed", closed); err != nil {
		t.Error(err)
	}
}

// Replies to several nodes' batches leave in the order of the requests, whichever comes
// first, with an error at its place.
func TestRepliesFromSeveralNodesKeepTheirOrder(t *testing.T) {
	r := routedTest(t, 3)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 30}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 30, End: 1 << 31}, Primary: "n1"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	links := map[string]Route{"n0": r.links["n0"]}
	sent := make(map[string]chan *handedBatch)
	for _, id := range []string{"n1", "n2"} {
		sent[id] = make(chan *handedBatch, 10)
		links[id] = Route{ID: id, Link: handedLink{sent[id]}}
	}
	r.servers[0].SetRoutes(&Routes{Placement: p, Self: "n0", Nodes: links})
	keys := make(map[string]string)
	for i := 0; len(keys) < 3; i++ {
		key := fmt.Sprint("k", i)
		keys[p.Lookup(r.token([]byte(key))).Primary] = key
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	for _, first := range []string{"n1", "n2"} {
		var pipeline []byte
		for _, id := range []string{"n1", "n2", "n2", "n1"} {
			pipeline = wire.AppendRequest(pipeline, "SET", keys[id], "x")
		}
		if _, err := o.C.Write(pipeline); err != nil {
			t.Fatal(err)
		}
		batches := map[string]*handedBatch{}
		for id := range sent {
			batches[id] = await(t, "a batch is sent", sent[id])
		}
		if first == "n1" {
			batches["n1"].answer(nil, "+1\r\n", "+4\r\n")
			batches["n2"].answer(ErrUnknownOutcome)
		} else {
			batches["n2"].answer(nil, "+2\r\n", "+3\r\n")
			batches["n1"].answer(nil, "+1\r\n", "+4\r\n")
		}
		var got []string
		for range 4 {
			got = append(got, strings.Fields(o.Next().String())[0])
		}
		want := "[+1 +2 +3 +4]"
		if first == "n1" {
			want = "[+1 -UNKNOWN -UNKNOWN +4]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s first: %v, want %s", first, got, want)
		}
	}
}
