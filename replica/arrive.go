package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Why a node refuses a stream.
var (
	// ErrNotLearner says that a stream is for ranges that this node does not receive,
	// by the newest state that it knows.
	ErrNotLearner = errors.New("not a learner of the range")
	// ErrReceiving says that this node receives from others already.
	ErrReceiving = errors.New("other nodes hand ranges to it first")
)

// Serve receives one stream from another node, until it ends.
func (e *Engine) Serve(ctx context.Context, from string, conn net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	a := &arrival{e: e, ctx: ctx, from: from, cancel: cancel}
	defer a.close()
	return Receive(conn, a)
}

// arrivals are the streams that a node receives.
type arrivals struct {
	mu   sync.Mutex
	from map[string]*arrival
	gone chan struct{} // closed when one has ended
}

// admit waits until an earlier stream of the same node has ended, which it ends, and
// lets one in if there are not too many.
func (as *arrivals) admit(ctx context.Context, a *arrival, most int) error {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.from == nil {
		as.from = make(map[string]*arrival)
	}
	for as.from[a.from] != nil {
		as.from[a.from].cancel()
		if as.gone == nil {
			as.gone = make(chan struct{})
		}
		gone := as.gone
		as.mu.Unlock()
		select {
		case <-gone:
		case <-ctx.Done():
		}
		as.mu.Lock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if len(as.from) >= most {
		return ErrReceiving
	}
	as.from[a.from] = a
	return nil
}

func (as *arrivals) end(a *arrival) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.from[a.from] == a {
		delete(as.from, a.from)
		if as.gone != nil {
			close(as.gone)
			as.gone = nil
		}
	}
}

// touch tells whether anything of a range is being received.
func (as *arrivals) touch(r ring.Range) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, a := range as.from {
		if slices.ContainsFunc(a.at, func(at ring.Range) bool { return touches(at, r) }) {
			return true
		}
	}
	return false
}

// over ends what is received of rows of which a node is the primary by a state. The sender ends
// its stream only later, and the store would refuse the units that are under way there then.
func (as *arrivals) over(st *table.State, primary string) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, a := range as.from {
		for i, r := range a.at {
			for row := range overlappingRows(st, r) {
				if row.Primary == primary {
					a.ranges[i].Over()
					break
				}
			}
		}
	}
}

// An arrival is one stream that is received.
type arrival struct {
	e       *Engine
	ctx     context.Context
	from    string
	cancel  context.CancelFunc
	purpose purpose
	ranges  []Incoming   // changed under arrivals.mu, by the goroutine of the stream only
	at      []ring.Range // of these; guarded by arrivals.mu
	rows    []table.Ref  // as they were when the ranges were begun
	seen    *table.State // by which they were still the sender's
}

func (a *arrival) close() {
	a.closeRanges()
	a.e.arrivals.end(a)
}

// closeRanges ends what is being received. If it came to nothing, what has arrived since
// the table said so is still to be dropped.
func (a *arrival) closeRanges() {
	if len(a.ranges) == 0 {
		return
	}
	for _, in := range a.ranges {
		in.Close()
	}
	a.receives(nil, nil)
	a.e.arrivedAgain()
}

func (a *arrival) receives(at []ring.Range, in []Incoming) {
	a.e.arrivals.mu.Lock()
	a.at, a.ranges = at, in
	a.e.arrivals.mu.Unlock()
}

// Open implements Receiver.
func (a *arrival) Open(text []byte) error {
	if err := json.Unmarshal(text, &a.purpose); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if a.purpose.From != a.from {
		return fmt.Errorf("%w: a stream of %.100q from %s", ErrFrame, a.purpose.From, a.from)
	}
	if a.purpose.Incarnation != a.e.cfg.Incarnation {
		return fmt.Errorf("%w: it is for incarnation %d", ErrNotLearner, a.purpose.Incarnation)
	}
	if a.e.resigning.Load() {
		return errResigning
	}
	if err := a.e.cfg.Store.Writable(); err != nil {
		return err
	}
	return a.e.arrivals.admit(a.ctx, a, a.e.cfg.Receives)
}

// Begin implements Receiver. It waits until this node knows that it is to receive the
// ranges, and nothing older: it would go on to a state by which they are to be dropped.
func (a *arrival) Begin(text []byte) error {
	var b beginning
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	ranges := b.Ranges
	within, cancel := context.WithTimeout(a.ctx, a.e.cfg.Retry)
	defer cancel()
	changes, end := a.e.cfg.Table.Changes()
	defer end()
	var rows []table.Ref
	for {
		var learns bool
		if rows, learns = a.e.learns(&a.purpose, &b); learns {
			break
		}
		select {
		case <-changes:
		case <-within.Done():
			return fmt.Errorf("%w: handoff %d", ErrNotLearner, a.purpose.Handoff)
		}
	}
	a.closeRanges()
	// Whoever fed this node there has stopped before; what is still on its way would undo
	// what is copied now.
	a.e.backupFeeds.beginCopy(a.from, a.purpose.Sender, &b)
	a.e.primaryFeed.addLearned(ranges)
	// What is being swept here is swept now, or not at all.
	a.e.foreign.sweeping.Lock()
	defer a.e.foreign.sweeping.Unlock()
	for _, r := range a.e.foreign.unfinished {
		if slices.ContainsFunc(ranges, func(at ring.Range) bool { return touches(at, r) }) {
			return fmt.Errorf("%w: in %v", ErrDamaged, r)
		}
	}
	if err := a.e.takeIn(ranges); err != nil {
		return err
	}
	a.rows, a.seen = rows, nil
	var in []Incoming
	for _, r := range ranges {
		in = append(in, a.e.cfg.Store.Take(r))
	}
	a.receives(ranges, in)
	a.e.reached(HandoffTaken)
	return nil
}

// current refuses what a sender still sends that is not the primary any more, by all that
// this node knows: its successor may have made the copy anew, or this node be it.
func (a *arrival) current() error {
	st := a.e.cfg.Table.State()
	if st == a.seen {
		return nil
	}
	for i := range a.rows {
		was := &a.rows[i]
		row, ok := st.Row(was.Range.Start)
		if !ok || row.Primary != a.from || row.Epoch != was.Epoch || row.Lineage != was.Lineage {
			return fmt.Errorf("%w: the epoch of %v, in which %s sent it, is over", ErrNotLearner, was.Range, a.from)
		}
	}
	a.seen = st
	return nil
}

// Apply implements Receiver.
func (a *arrival) Apply(r int, batch []byte, done func(error)) error {
	if r >= len(a.ranges) {
		return fmt.Errorf("%w: a batch of range %d", ErrFrame, r)
	}
	if err := a.current(); err != nil {
		return err
	}
	return a.ranges[r].Apply(batch, done)
}

// Ask implements Receiver.
func (a *arrival) Ask(r int, question []byte) ([]byte, error) {
	if r >= len(a.ranges) {
		return nil, fmt.Errorf("%w: a question about range %d", ErrFrame, r)
	}
	return a.ranges[r].Answer(question)
}

// learns returns the rows of ranges if this node is to receive them, by a state that is not
// older than the sender's.
func (e *Engine) learns(p *purpose, b *beginning) (rows []table.Ref, ok bool) {
	st := e.cfg.Table.State()
	for i, r := range b.Ranges {
		row, ok := st.Row(r.Start)
		old := ok && i < len(b.Versions) && row.Version < b.Versions[i]
		if !ok || old || row.Range != r || row.Primary != p.From || !slices.Contains(row.Learners, e.cfg.Self) ||
			row.Op.Handoff != p.Handoff {
			return nil, false
		}
		rows = append(rows, row.Ref())
	}
	return rows, true
}
