package resp

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A pipeline travels to another node as a whole once its client has shown how much it
// sends at once: in pieces, each would wait for the replies to the one before it.
func TestPipelineGoesToAnotherNodeInOneBatch(t *testing.T) {
	r, keys := halves(t)
	counter := &countingLink{Link: r.links["n1"].Link}
	route := r.links["n1"]
	route.Link = counter
	r.links["n1"] = route
	r.placeAll(r.servers[0].routes.Load().Placement)
	var pipeline []byte
	const depth = 60
	for range depth {
		pipeline = wire.AppendRequest(pipeline, "SET", keys[1], strings.Repeat("v", 200))
	}
	if len(pipeline) <= freeInput {
		t.Fatalf("a pipeline of %d bytes fits a small buffer", len(pipeline))
	}
	o := resptest.Dial(t, r.addrs[0], 2)
	resptest.WaitFor(t, "a pipeline of one batch", func() bool {
		before := counter.sent.Load()
		if _, err := o.C.Write(pipeline); err != nil {
			t.Fatal(err)
		}
		for range depth {
			if got := o.Next().String(); got != "+OK" {
				t.Fatal(got)
			}
		}
		return counter.sent.Load() == before+1
	})
}

// A countingLink counts the batches that go there.
type countingLink struct {
	Link
	sent atomic.Int64
}

func (l *countingLink) Way() Way { return &countingWay{l.Link.Way(), l} }

type countingWay struct {
	Way
	link *countingLink
}

func (w *countingWay) Send(batch []byte, requests int, terms Terms, timeout time.Duration, arrived func()) error {
	w.link.sent.Add(1)
	return w.Way.Send(batch, requests, terms, timeout, arrived)
}

// Buffers grow for pipelines out of the half of the budget that requests can spare, and
// the requests are answered without, too.
func TestBuffersForPipelinesLeaveHalfOfTheMemory(t *testing.T) {
	const limit = 1 << 20
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.ClientMemory = limit })
	var pipeline []byte
	const depth = 500
	for i := range depth {
		pipeline = wire.AppendRequest(pipeline, "SET", fmt.Sprint("k", i), strings.Repeat("v", 500))
	}
	for client := range 30 {
		o := resptest.Dial(t, addr, 2)
		go o.C.Write(pipeline)
		for i := range depth {
			if got := o.Next().String(); got != "+OK" {
				t.Fatalf("client %d, request %d: %s", client, i, got)
			}
		}
	}
	resptest.WaitFor(t, "memory but for the kept buffers to be given back", func() bool { return srv.budget.InUse() <= limit/2+30*freeInput })
	if used := srv.budget.InUse(); used < limit/4 {
		t.Errorf("%d bytes are in use: no buffer has grown", used)
	}
}
