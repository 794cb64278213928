package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/spanset"
	"github.com/ringside-kv/ringside/ring"
)

// A node that has flushed does not flush again because another one has not yet: what is
// written there in between stays.
func TestFlushIsNotRepeatedWhereItWasMade(t *testing.T) {
	for _, command := range []string{"FLUSHALL", "FLUSHDB"} {
		r, keys, links := spreadTest(t)
		o, other := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
		o.Want("+OK", "MSET", keys[0], "old", keys[1], "old")
		for i := range links {
			links[i].ran.Store(0)
			links[i].sent.Store(0)
		}
		// The second node is asked again only after a write to the first is acknowledged.
		links[1].fate = partMoved
		again := make(chan struct{})
		gate := &gatedLink{Link: links[1], second: again}
		route := r.links["n2"]
		route.Link = gate
		r.links["n2"] = route
		r.place(0, r.servers[0].routes.Load().Placement, nil)
		done := make(chan string, 1)
		go func() { done <- o.Do(command).String() }()
		resptest.WaitFor(t, "the first node has flushed", func() bool { return other.Do("GET", keys[0]).String() == "_$" })
		other.Want("+OK", "SET", keys[0], "new")
		close(again)
		if got := await(t, "the reply", done); got != "+OK" {
			t.Errorf("%s: %s", command, got)
		}
		other.Want("$new", "GET", keys[0])
		other.Want("_$", "GET", keys[1])
		if n := links[0].ran.Load(); n != 1 {
			t.Errorf("%s was executed %d times by the first node", command, n)
		}
	}
}

// A gatedLink holds all batches behind the first until second is closed.
type gatedLink struct {
	Link
	second chan struct{}
	sent   bool
}

func (l *gatedLink) Way() Way { return gatedWay{l.Link.Way(), l} }

type gatedWay struct {
	Way
	l *gatedLink
}

func (w gatedWay) Send(batch []byte, n int, terms Terms, timeout time.Duration, arrived func()) error {
	if w.l.sent {
		<-w.l.second
	}
	w.l.sent = true
	return w.Way.Send(batch, n, terms, timeout, arrived)
}

// A part whose range has changed hands goes to its new owner, and covers nothing else there.
func TestOpenPartGoesToTheNextOwner(t *testing.T) {
	r, keys, links := spreadTest(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "MSET", keys[0], "v", keys[1], "v")
	links[1].fate = partMoved
	links[1].sent.Store(0)
	moved := make(chan struct{})
	route := r.links["n2"]
	route.Link = &gatedLink{Link: links[1], second: moved}
	r.links["n2"] = route
	r.place(0, r.servers[0].routes.Load().Placement, nil)
	// By the time of the second round all is the first node's.
	done := make(chan string, 1)
	go func() { done <- o.Do("DBSIZE").String() }()
	resptest.WaitFor(t, "the second node was asked", func() bool { return links[1].sent.Load() > 0 })
	r.placeAll(r.all(1))
	close(moved)
	if got := await(t, "the reply", done); got != ":2" {
		t.Errorf("DBSIZE: %s", got)
	}
}

func TestSpansAreCutAndReported(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	some := func() (spans []ring.Range) {
		at := uint64(0)
		for range rnd.IntN(6) {
			first := at + uint64(rnd.IntN(1<<30))
			last := first + uint64(rnd.IntN(1<<30))
			if rnd.IntN(4) == 0 {
				last = first
			}
			if last > 1<<32-1 {
				break
			}
			spans = append(spans, ring.Range{Start: ring.Token(first), End: ring.Token(last + 1)})
			at = last + 1
		}
		return spans
	}
	in := func(spans []ring.Range, token ring.Token) bool {
		return slices.ContainsFunc(spans, func(s ring.Range) bool { return s.Contains(token) })
	}
	for range 500 {
		a, b := some(), some()
		both := spanset.Intersect(a, b)
		if told, ok := spanset.Parse(spanset.Append(nil, both)); !ok || fmt.Sprint(told) != fmt.Sprint(both) {
			t.Fatalf("%v is told as %v", both, told)
		}
		if !spanset.Cover(a, both) || !spanset.Cover(b, both) || !spanset.Cover([]ring.Range{ring.Whole}, a) {
			t.Fatalf("%v and %v have %v in common, which they do not cover", a, b, both)
		}
		if fmt.Sprint(spanset.Intersect(a, []ring.Range{ring.Whole})) != fmt.Sprint(a) {
			t.Fatalf("%v is cut by the whole circle", a)
		}
		for range 50 {
			token := ring.Token(rnd.Uint32())
			for _, s := range slices.Concat(a, b) {
				if rnd.IntN(3) == 0 {
					token = s.Start - ring.Token(rnd.IntN(2))
				}
			}
			if in(both, token) != (in(a, token) && in(b, token)) {
				t.Fatalf("%v and %v have %v in common, by token %x", a, b, both, token)
			}
		}
		if len(both) < len(a) && spanset.Cover(b, a) {
			t.Fatalf("%v covers %v", b, a)
		}
	}
	for _, bad := range []string{"1234567", "\x00\x00\x00\x02\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x05\x00\x00\x00\x06"} {
		if spans, ok := spanset.Parse([]byte(bad)); ok {
			t.Errorf("%q is read as %v", bad, spans)
		}
	}
}
