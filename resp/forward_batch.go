package resp

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/relay"
	"github.com/ringside-kv/ringside/resp/internal/trace"
)

// Errors of a [Link].
var (
	ErrNotSent        = relay.ErrNotSent
	ErrUnknownOutcome = relay.ErrUnknownOutcome
	ErrTimeout        = relay.ErrTimeout
)

// keepBatch is how much memory for each other node a connection keeps, in bytes.
const keepBatch = 16 << 10

// A batch is what one pipeline forwards to one node.
type batch struct {
	link     *Route
	bytes    []byte
	shared   bool // bytes are the client's own buffer
	requests int

	way      Way
	wayOf    Link // whose way it is
	replies  Replies
	err      error
	received bool
	next     int    // the reply to take next
	status   Status // of the reply taken last

	departure trace.Departure
	atomic    bool // see isAtomic
	part      bool // as in Terms
}

// add adds a request. A large one that is alone is not copied: its bytes stay where they
// are until it is answered.
func (b *batch) add(wire []byte) {
	b.requests++
	if b.shared = b.requests == 1 && len(wire) > keepInput; b.shared {
		b.bytes = slices.Clip(wire)
		return
	}
	b.bytes = append(b.bytes, wire...)
}

// send sends the batch on its way; reply tells if that failed. If it has not, arrived,
// unless nil, is called as Way.Send says.
func (b *batch) send(terms Terms, timeout time.Duration, arrived func()) {
	b.received, b.next, b.err = false, 0, ErrNotSent
	terms.Known = b.link.known
	if b.link.Link == nil {
		b.received = true
		return
	}
	if b.way == nil || b.wayOf != b.link.Link {
		b.way, b.wayOf = b.link.Link.Way(), b.link.Link
	}
	if b.err = b.way.Send(b.bytes, b.requests, terms, timeout, arrived); b.err != nil {
		b.received = true
	}
}

// receive waits for the replies.
func (b *batch) receive() {
	if b.received {
		return
	}
	b.replies, b.err = b.way.Wait()
	b.received = true
	b.departure.Arrive(b.replies.At)
	if b.err == nil && len(b.replies.Ends) != b.requests {
		b.err = fmt.Errorf("%w: %d replies to %d requests", ErrUnknownOutcome, len(b.replies.Ends), b.requests)
	}
}

// reply returns the next reply, once they are there, and notes its status. A request that
// was not run has an error that matches ErrNotSent in place of a reply.
func (b *batch) reply() ([]byte, error) {
	b.receive()
	if b.err != nil {
		return nil, b.err
	}
	start := 0
	if b.next > 0 {
		start = b.replies.Ends[b.next-1]
	}
	b.next++
	if b.status = b.replies.Status(b.next - 1); b.status.HasNotRun() {
		return nil, outcome.ErrNotRun
	}
	return b.replies.Bytes[start:b.replies.Ends[b.next-1]], nil
}

// fate returns the fate of the request after its batch failed with err, or got a reply.
func (r *request) fate(err error) outcome.Fate {
	if f := outcome.WriteFate(err); f != outcome.Unknown || r.cmd.MayWrite {
		return f
	}
	return outcome.ReadFate(err)
}
