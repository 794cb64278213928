package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// A groupAnswers collects the answers to batches that are run together.
type groupAnswers struct {
	batches []Forwarded
	replies [][]string
	errs    []error
	each    []chan struct{} // closed by the answer
}

func (g *groupAnswers) add(requests ...[]string) *Forwarded {
	var b []byte
	for _, words := range requests {
		b = wire.AppendRequest(b, words...)
	}
	i := len(g.batches)
	done := make(chan struct{})
	g.replies, g.errs, g.each = append(g.replies, nil), append(g.errs, nil), append(g.each, done)
	g.batches = append(g.batches, Forwarded{Batch: b, Requests: len(requests), Answer: func(r Replies, err error) {
		at := 0
		for _, end := range r.Ends {
			g.replies[i] = append(g.replies[i], string(r.Bytes[at:end]))
			at = end
		}
		g.errs[i] = err
		close(done)
	}})
	return &g.batches[i]
}

func (g *groupAnswers) wait(t *testing.T, i int) {
	t.Helper()
	select {
	case <-g.each[i]:
	case <-time.After(resptest.Patience):
		t.Fatalf("batch %d has no answer", i)
	}
}

func (g *groupAnswers) want(t *testing.T, i int, replies ...string) {
	t.Helper()
	g.wait(t, i)
	if fmt.Sprintf("%q", g.replies[i]) != fmt.Sprintf("%q", replies) || g.errs[i] != nil {
		t.Errorf("batch %d: %q %v, want %q", i, g.replies[i], g.errs[i], replies)
	}
}

// Each batch of a group has its own replies, as if it were alone, and what is wrong with
// one is not the others' fault.
func TestBatchesOfAGroupKeepApart(t *testing.T) {
	r, keys := halves(t)
	var g groupAnswers
	g.add([]string{"SET", keys[0], "1"}, []string{"GET", keys[0]})
	g.add([]string{"SET", keys[1], "x"}, []string{"SET", keys[0], "x"})
	g.add([]string{"INCR", keys[0]}, []string{"NOSUCH"}, []string{"GET", keys[0]})
	g.add([]string{"MONITOR"}, []string{"GET", keys[0]})
	torn := g.add([]string{"GET", keys[0]})
	torn.Batch = torn.Batch[:len(torn.Batch)-1]
	g.add([]string{"GET", keys[0]}).Requests = 2
	g.add([]string{"GET", keys[0]}).Requests = 0
	g.add([]string{"GET", keys[0]}).RESP3 = true
	late := g.add([]string{"INCR", keys[0]})
	late.Deadline = 1
	g.add([]string{"BITCOUNT", keys[0]}, []string{"GET", keys[0]})
	g.add([]string{"SET", keys[0], strings.Repeat("v", 100<<10)}, []string{"STRLEN", keys[0]})
	r.servers[0].RunForwarded(g.batches, nil)
	g.want(t, 0, "+OK\r\n", "$1\r\n1\r\n")
	g.want(t, 1, "-NOTMINE\r\n", "-NOTMINE\r\n")
	g.want(t, 2, ":2\r\n", "-ERR unknown command 'NOSUCH', with args beginning with: \r\n", "$1\r\n2\r\n")
	g.want(t, 3, "-ERR 'monitor' is not forwarded\r\n", "$1\r\n2\r\n")
	g.want(t, 8, "-LATE\r\n")
	for _, i := range []int{4, 5, 6} {
		g.wait(t, i)
		if g.errs[i] == nil || len(g.replies[i]) > 0 {
			t.Errorf("batch %d: %q %v", i, g.replies[i], g.errs[i])
		}
	}
	if errors.Is(g.errs[4], ErrNotSent) {
		t.Error(g.errs[4])
	}
	g.want(t, 7, "$1\r\n2\r\n")
	g.want(t, 9, ":3\r\n", "$1\r\n2\r\n")
	g.want(t, 10, "+OK\r\n", ":102400\r\n")
}

// held gives the first server routes by which a half of the circle is on hold.
func (r *routed) hold(t *testing.T, half int) {
	t.Helper()
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.place(0, p, map[int]bool{half: true})
}

// While one batch of a group waits for a range on hold, those before it have their
// answer, and those behind it are run by somebody else.
func TestBatchesDoNotWaitBehindRangeOnHold(t *testing.T) {
	r, keys := halves(t)
	var mine [2]string // keys of the other half
	for i, n := 0, 0; n < 2; i++ {
		if key := fmt.Sprint("m", i); r.token([]byte(key))>>31 == 0 {
			mine[n] = key
			n++
		}
	}
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.place(0, p, map[int]bool{1: true})
	var g groupAnswers
	g.add([]string{"SET", mine[0], "1"})
	g.add([]string{"SET", mine[0], "2"}, []string{"SET", keys[1], "held"}, []string{"GET", mine[0]})
	g.add([]string{"SET", mine[1], "3"})
	var others sync.WaitGroup
	released := false
	r.servers[0].RunForwarded(g.batches, func(n int) {
		released = true
		if n != 2 {
			t.Errorf("%d batches are kept", n)
		}
		g.want(t, 0, "+OK\r\n")
		others.Go(func() { r.servers[0].RunForwarded(g.batches[n:], nil) })
		g.want(t, 2, "+OK\r\n")
		r.place(0, p, nil)
	})
	others.Wait()
	if !released {
		t.Error("nobody else may go on meanwhile")
	}
	// Patience may end before the test goes on; then nothing behind has run, either.
	g.wait(t, 1)
	if first := g.replies[1][1]; first == "+OK\r\n" {
		g.want(t, 1, "+OK\r\n", "+OK\r\n", "$1\r\n2\r\n")
	} else {
		g.want(t, 1, "+OK\r\n", "-NOTMINE\r\n", "-NOTMINE\r\n")
	}
}

// What waits for a range is not run once nobody waits for it, and says so in time.
func TestDeadlineWhileARangeIsOnHold(t *testing.T) {
	r, keys := halves(t)
	r.hold(t, 0)
	var g groupAnswers
	clock := r.servers[0].cfg.Clock
	g.add([]string{"INCR", keys[0]}).Deadline = clock() + 40*time.Millisecond
	r.servers[0].RunForwarded(g.batches, nil)
	g.want(t, 0, "-NOTMINE\r\n")
	r.servers[0].SetRoutes(&Routes{Placement: r.servers[1].routes.Load().Placement, Self: "n0", Nodes: r.links})
	resptest.Dial(t, r.addrs[0], 2).Want(":0", "EXISTS", keys[0])

	f := &forwardedConn{conn: &conn{srv: r.servers[0]}}
	for _, left := range []time.Duration{-time.Second, 0, 10 * time.Millisecond, 100 * time.Millisecond, time.Hour} {
		f.group.batches = []Forwarded{{Deadline: clock() + left}}
		if got := f.remainingWait(&request{}, heldTimeout); got > left*3/4 && left > 0 || got > heldTimeout || left <= 0 && got > 0 {
			t.Errorf("with %v left, it waits for %v", left, got)
		}
	}
}

// A batch whose parts of commands for all nodes cannot be done waits once, not for each.
func TestPartsThatDoNotAgreeWaitOnce(t *testing.T) {
	r, keys := halves(t)
	var g groupAnswers
	requests := [][]string{{"GET", keys[0]}}
	for range 1000 {
		requests = append(requests, []string{"RING", "PART", "0", "", "DBSIZE"})
	}
	g.add(append(requests, []string{"GET", keys[0]})...)
	r.servers[0].RunForwarded(g.batches, nil)
	g.wait(t, 0)
	if len(g.replies[0]) != 1002 || g.replies[0][0] != "$-1\r\n" || g.replies[0][1] != "-NOTMINE\r\n" || g.replies[0][1001] != "-NOTMINE\r\n" {
		t.Errorf("%d replies, %.200q", len(g.replies[0]), g.replies[0])
	}
}

// slowWay answers only when it is let.
type slowWay struct {
	sent chan struct{}
	let  chan struct{}
}

func (w *slowWay) Way() Way { return w }

func (w *slowWay) Send([]byte, int, Terms, time.Duration, func()) error {
	close(w.sent)
	return nil
}

func (w *slowWay) Wait() (Replies, error) {
	<-w.let
	return Replies{Bytes: []byte("$3\r\nfar\r\n"), Ends: []int{9}}, nil
}

// What a pipeline has for this node runs while the rest is on its way: before another
// node has answered, others see it.
func TestNearRunsWhileFarIsUnderWay(t *testing.T) {
	r, keys := halves(t)
	w := &slowWay{sent: make(chan struct{}), let: make(chan struct{})}
	p := r.servers[0].routes.Load().Placement
	r.servers[0].SetRoutes(&Routes{Placement: p, Self: "n0", Nodes: map[string]Route{"n0": {ID: "n0"}, "n1": {ID: "n1", Link: w}}})
	o, other := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[0], 2)
	var b strings.Builder
	for _, words := range [][]string{{"SET", keys[0], "near"}, {"GET", keys[1]}, {"APPEND", keys[0], "est"}, {"GET", keys[0]}} {
		b.Write(wire.AppendRequest(nil, words...))
	}
	if _, err := o.C.Write([]byte(b.String())); err != nil {
		t.Fatal(err)
	}
	<-w.sent
	for end := time.Now().Add(30 * time.Second); other.Do("GET", keys[0]).String() != "$nearest"; {
		if time.Now().After(end) {
			close(w.let)
			t.Fatal("it waits for the other node")
		}
	}
	close(w.let)
	for _, want := range []string{"+OK", "$far", ":7", "$nearest"} {
		if got := o.Next().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Replies too large to be kept take their turn between those of other nodes.
func TestLargeRepliesAmongForwardedOnes(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r, keys := halves(t)
	lone, addr := serveTest(t, nil)
	lone.settings.OutputBuffer.Store(256 << 10)
	clients := []*resptest.Conn{resptest.Dial(t, addr, 2), resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)}
	for _, srv := range r.servers {
		srv.settings.OutputBuffer.Store(256 << 10)
	}
	for _, c := range clients[:2] {
		for i, key := range keys {
			c.Want("+OK", "SET", "large:"+key, strings.Repeat(fmt.Sprint(i), 300<<10))
		}
	}
	for round := range 20 {
		var words [][]string
		for range 1 + rnd.IntN(12) {
			key := keys[rnd.IntN(2)]
			words = append(words, [][]string{
				{"GET", "large:" + key}, {"APPEND", key, "x"}, {"GETRANGE", "large:" + key, "7", "200000"}, {"GET", key}, {"STRLEN", key}, {"DEL", key},
			}[rnd.IntN(6)])
		}
		for _, c := range []*resptest.Conn{clients[0], clients[1+round%2]} {
			for _, w := range words {
				c.Send(w...)
			}
		}
		for i, w := range words {
			want, got := clients[0].Next().String(), clients[1+round%2].Next().String()
			if want != got {
				t.Fatalf("round %d, %d of %q: %.60s, want %.60s", round, i, w, got, want)
			}
		}
	}
}

// Whatever is forwarded together, each batch has one answer: as many replies as requests,
// or an error; and what was run gets the replies that it would get alone.
func FuzzGroup(f *testing.F) {
	f.Add([]byte("*1\r\n$4\r\nPING\r\n|*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"), uint64(1))
	f.Add([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n|PING|*-1\r\n|$"), uint64(2))
	f.Add([]byte("*1\r\n$7\r\nMONITOR\r\n|*3\r\n$4\r\nRING\r\n$4\r\nPART\r\n$1\r\n0\r\n||*2\r\n$4\r\nDUMP\r\n$1\r\nk\r\n"), uint64(3))
	srv, _ := serveTest(f, nil)
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		parts := bytes.SplitN(data, []byte("|"), 8)
		answered := make([]chan struct{}, len(parts))
		batches := make([]Forwarded, len(parts))
		for i, part := range parts {
			answered[i] = make(chan struct{})
			requests := bytes.Count(part, []byte("*")) + rnd.IntN(6)/5
			batches[i] = Forwarded{Batch: part, Requests: requests, RESP3: rnd.IntN(4) == 0, Answer: func(r Replies, err error) {
				defer close(answered[i])
				if err != nil {
					return
				}
				at := 0
				for _, end := range r.Ends {
					if end < at || end > len(r.Bytes) {
						t.Errorf("batch %d: ends %v in %d bytes", i, r.Ends, len(r.Bytes))
						return
					}
					at = end
				}
				if len(r.Ends) != requests || at != len(r.Bytes) {
					t.Errorf("batch %d: %d replies to %d requests, %d of %d bytes", i, len(r.Ends), requests, at, len(r.Bytes))
				}
			}}
		}
		var run func(batches []Forwarded)
		var others sync.WaitGroup
		run = func(batches []Forwarded) {
			srv.RunForwarded(batches, func(n int) { others.Go(func() { run(batches[n:]) }) })
		}
		run(batches)
		others.Wait()
		for _, done := range answered {
			<-done
		}
	})
}
