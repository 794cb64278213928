package resp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// halves are two nodes that have half of the tokens each, with a key of each. They wait for each
// other however slow the machine is: the values of some tests are large.
func halves(t *testing.T) (r *routed, keys [2]string) {
	t.Helper()
	return halvesOf(t, routedTestWith(t, 2, patientForwards))
}

func halvesOf(t *testing.T, r *routed) (_ *routed, keys [2]string) {
	t.Helper()
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	for i := 0; keys[0] == "" || keys[1] == ""; i++ {
		key := fmt.Sprint("k", i)
		keys[r.token([]byte(key))>>31] = key
	}
	return r, keys
}

// forwarded runs requests as another node would have sent them.
func forwarded(t *testing.T, srv *Server, requests ...[]string) (replies []string, err error) {
	t.Helper()
	var b []byte
	for _, words := range requests {
		b = wire.AppendRequest(b, words...)
	}
	runForwarded(srv, b, len(requests), false, func(r Replies, e error) {
		err = e
		at := 0
		for _, end := range r.Ends {
			replies = append(replies, string(r.Bytes[at:end]))
			at = end
		}
	})
	return replies, err
}

// runForwarded runs one batch and returns after its answer.
func runForwarded(srv *Server, batch []byte, requests int, resp3 bool, answer func(Replies, error)) {
	answered := make(chan struct{})
	srv.RunForwarded([]Forwarded{{Batch: batch, Requests: requests, RESP3: resp3, Answer: func(r Replies, err error) {
		answer(r, err)
		close(answered)
	}}}, nil)
	<-answered
}

// Once a request of a batch was sent back, so are those behind it: else two writes of
// one key could change places while its range arrives.
func TestReturnedRequestIsNotOvertaken(t *testing.T) {
	r, keys := halves(t)
	replies, err := forwarded(t, r.servers[0], []string{"SET", keys[0], "1"}, []string{"SET", keys[1], "1"}, []string{"SET", keys[0], "2"}, []string{"GET", keys[0]})
	if want := []string{"+OK\r\n", "-NOTMINE\r\n", "-NOTMINE\r\n", "-NOTMINE\r\n"}; err != nil || fmt.Sprint(replies) != fmt.Sprint(want) {
		t.Errorf("replies %q, %v", replies, err)
	}
	resptest.Dial(t, r.addrs[1], 2).Want("$1", "GET", keys[0])
	if _, err := forwarded(t, r.servers[0], []string{"GET", keys[0]}, []string{}); err == nil {
		t.Error("a batch of another number of requests is accepted")
	}
}

// A batch that is cut off leaves nothing behind for the next one.
func TestBatchThatIsCutOff(t *testing.T) {
	srv, _ := serveTest(t, nil)
	for _, cut := range []string{"*2\r\n$4\r\nECHO\r\n$100\r\nabc", "PING without an end", "*3\r\n$4", "*x\r\nrest"} {
		runForwarded(srv, []byte(cut), 1, false, func(_ Replies, err error) {
			if err == nil {
				t.Errorf("%q is accepted", cut)
			}
		})
		if replies, err := forwarded(t, srv, []string{"PING"}); err != nil || replies[0] != "+PONG\r\n" {
			t.Errorf("after %q: %q %v", cut, replies, err)
		}
		runForwarded(srv, []byte("0"), 1, false, func(_ Replies, err error) {
			if err == nil {
				t.Error("half a line is accepted")
			}
		})
	}
}

// What belongs to a connection, or waits, is not for a connection that all share.
func TestNodesForwardNothingElse(t *testing.T) {
	srv, _ := serveTest(t, nil)
	for _, line := range []string{
		"CLIENT REPLY OFF", "HELLO 3", "MONITOR", "WAIT 1 0", "SHUTDOWN", "HASHMASK SUBSCRIBE", "RING ROUTE redirect",
		"QUIT", "RESET", "DEBUG SLEEP 100", "AUTH x", "CONFIG SET requirepass x", "CONFIG SET maxmemory 1 timeout 1", "CONFIG GET *", "SELECT 0",
	} {
		replies, err := forwarded(t, srv, strings.Fields(line), []string{"GET", "k"})
		if err != nil || len(replies) != 2 || !strings.HasSuffix(replies[0], "is not forwarded\r\n") || replies[1] != "$-1\r\n" {
			t.Errorf("%s: %q %v", line, replies, err)
		}
	}
}

// However much a batch asks for, not much more than one reply is held.
func TestRepliesToABatchAreBounded(t *testing.T) {
	randomtest.DrawShort(t, 4)
	r, keys := halves(t)
	value := strings.Repeat("v", 3<<20)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "SET", keys[0], value)
	var many [][]string
	for range 50 {
		many = append(many, []string{"GET", keys[0]})
	}
	replies, err := forwarded(t, r.servers[0], many...)
	if err != nil || len(replies) != 50 {
		t.Fatalf("%d replies, %v", len(replies), err)
	}
	whole := 0
	for i, reply := range replies {
		if reply != "-NOTMINE\r\n" {
			whole++
			if i >= whole {
				t.Errorf("reply %d comes after one that was sent back", i)
			}
		}
	}
	if whole == 0 || whole > 3 {
		t.Errorf("%d replies of 3 MiB in one batch", whole)
	}
	resptest.WaitFor(t, "the batch's memory to be given back", func() bool { return r.servers[0].budget.InUse() <= 1<<20 })
	// The client does not notice.
	far := resptest.Dial(t, r.addrs[1], 2)
	for range 20 {
		far.Send("GET", keys[0])
		far.Send("GET", keys[1])
	}
	for i := range 20 {
		if got := far.Next(); got.Text != value {
			t.Fatalf("reply %d has %d bytes", i, len(got.Text))
		}
		if got := far.Next(); got.Kind != '_' {
			t.Fatalf("reply %d: %v", i, got)
		}
	}
	resptest.WaitFor(t, "the replies' memory to be given back", func() bool { return r.servers[1].budget.InUse() <= 1<<20 })
}

// A value larger than the output buffer goes through another node as well.
func TestLargeValueThroughAnotherNode(t *testing.T) {
	r, keys := halves(t)
	for _, srv := range r.servers {
		srv.settings.OutputBuffer.Store(1 << 20)
	}
	value := strings.Repeat("0123456789", 500_000)
	far := resptest.Dial(t, r.addrs[1], 3)
	far.Want("+OK", "SET", keys[0], value)
	if got := far.Do("GET", keys[0]); got.Text != value {
		t.Errorf("%d bytes: %.100s", len(got.Text), got.Text)
	}
	if got := far.Do("MGET", keys[0], keys[1]); got.Kind != '-' {
		t.Errorf("MGET: %c", got.Kind)
	}
	far.Want("+PONG", "PING")
}

// No memory for the replies: the batch fails, and the next one runs.
func TestBatchWithoutMemoryForItsReplies(t *testing.T) {
	r, keys := halves(t)
	srv := r.servers[0]
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "SET", keys[0], strings.Repeat("v", 4<<20))
	// What o's request took is given back after its reply has left.
	settled := func() bool { return srv.budget.InUse() <= 1<<16 }
	resptest.WaitFor(t, "the request's memory to be given back", settled)
	holder := srv.snapshot()[0]
	srv.settings.ClientMemory.Store(1 << 20)
	srv.budget.Take(&holder.Account, 1<<20)
	srv.budget.Occupy(&holder.Account, 0)
	if _, err := forwarded(t, srv, []string{"GET", keys[0]}); err == nil {
		t.Error("4 MiB are held without memory for them")
	}
	srv.budget.Release(&holder.Account, 1<<20)
	if replies, err := forwarded(t, srv, []string{"EXISTS", keys[0]}); err != nil || replies[0] != ":1\r\n" {
		t.Errorf("%q %v", replies, err)
	}
	resptest.WaitFor(t, "the batches' memory to be given back", settled)
}

// CLIENT REPLY holds for what other nodes answer, too.
func TestClientReplyWithForwardedRequests(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[1], 2)
	o.Send("CLIENT", "REPLY", "SKIP")
	o.Send("SET", keys[0], "1")
	o.Send("INCR", keys[0])
	if got := o.Next().String(); got != ":2" {
		t.Errorf("after SKIP: %s", got)
	}
	o.Send("CLIENT", "REPLY", "OFF")
	o.Send("SET", keys[0], strings.Repeat("x", 300<<10))
	o.Send("GET", keys[0])
	o.Send("MGET", keys[0], keys[1])
	o.Send("GET", keys[1])
	o.Send("DBSIZE")
	o.Send("CLIENT", "REPLY", "ON")
	if got := o.Next().String(); got != "+OK" {
		t.Errorf("after OFF: %.40s", got)
	}
}

// The protocol changes in the middle of a pipeline, for far and near replies alike.
func TestProtocolChangesWithinAPipeline(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	var b bytes.Buffer
	for _, proto := range []string{"2", "3", "2"} {
		resptest.Write(&b, "HELLO", proto)
		resptest.Write(&b, "GET", keys[1])
		resptest.Write(&b, "GET", keys[0])
		resptest.Write(&b, "MGET", keys[0], keys[1])
	}
	if _, err := o.C.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 0, 4096)
	for len(all) < 3*40 || !bytes.HasSuffix(all, []byte("*2\r\n$-1\r\n$-1\r\n")) || bytes.Count(all, []byte("*2\r\n")) < 3 {
		buf := make([]byte, 4096)
		_ = o.C.SetReadDeadline(time.Now().Add(resptest.Patience))
		n, err := o.C.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, all)
		}
		all = append(all, buf[:n]...)
	}
	nulls := strings.Count(string(all), "$-1\r\n")
	if news := strings.Count(string(all), "_\r\n"); nulls != 8 || news != 4 {
		t.Errorf("%d old nulls, %d new ones: %q", nulls, news, all)
	}
}

// A pause at the other node holds back what is forwarded there, in its order.
func TestPauseAtTheOtherNode(t *testing.T) {
	r, keys := halves(t)
	o, far := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
	o.Want("+OK", "CLIENT", "PAUSE", "600", "WRITE")
	for i := range 5 {
		far.Send("APPEND", keys[0], fmt.Sprint(i))
	}
	for i := range 5 {
		if got := far.Next().String(); got != fmt.Sprint(":", i+1) {
			t.Errorf("APPEND %d: %s", i, got)
		}
	}
	far.Want("$01234", "GET", keys[0])
}

// Whatever a node sends, it gets as many replies as requests, or an error.
func FuzzRunForwarded(f *testing.F) {
	f.Add([]byte("*1\r\n$4\r\nPING\r\n"), 1)
	f.Add([]byte("*3\r\n$4\r\nRING\r\n$4\r\nPART\r\n$1\r\n0\r\n"), 1)
	f.Add([]byte("*2\r\n$8\r\nHASHMASK\r\n$9\r\nSUBSCRIBE\r\n*1\r\n$7\r\nMONITOR\r\n"), 2)
	f.Add([]byte("PING\r\n*-1\r\n$"), 7)
	srv, _ := serveTest(f, nil)
	f.Fuzz(func(t *testing.T, batch []byte, requests int) {
		runForwarded(srv, batch, requests, rand.IntN(2) == 0, func(r Replies, err error) {
			if err == nil && len(r.Ends) != requests {
				t.Errorf("%d replies to %d requests", len(r.Ends), requests)
			}
		})
	})
}

// A write of which a part was made does not end as if it had not run.
func TestSplitWriteThatIsMadeInPart(t *testing.T) {
	r, keys := halves(t)
	half, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]Route{"n0": r.links["n0"], "n1": {ID: "n1", Addr: r.addrs[1], Link: lostLink{}}}
	r.servers[0].SetRoutes(&Routes{Placement: half, Self: "n0", Nodes: nodes})
	o := resptest.Dial(t, r.addrs[0], 2)
	if got := o.Do("MSET", keys[0], "1", keys[1], "1"); !strings.HasPrefix(got.Text, "UNKNOWN A part ") {
		t.Errorf("MSET: %v", got)
	}
	if got := o.Do("SET", keys[1], "1"); !strings.HasPrefix(got.Text, "UNKNOWN ") {
		t.Errorf("SET: %v", got)
	}
	if got := o.Do("GET", keys[1]); got.Text != msgUnreachable {
		t.Errorf("GET: %v", got)
	}
	if got := o.Do("FLUSHALL"); !strings.HasPrefix(got.Text, "UNKNOWN ") {
		t.Errorf("FLUSHALL: %v", got)
	}
	if got := o.Do("DBSIZE"); got.Text != msgUnreachable {
		t.Errorf("DBSIZE: %v", got)
	}
}

// lostLink sends what nobody answers.
type lostLink struct{}

func (lostLink) Way() Way { return lostLink{} }

func (lostLink) Send(_ []byte, _ int, _ Terms, _ time.Duration, arrived func()) error {
	if arrived != nil {
		arrived()
	}
	return nil
}

func (lostLink) Wait() (Replies, error) { return Replies{}, ErrTimeout }
