package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Reasons to refuse a stream.
var (
	// ErrNotLearner says that this node is no learner of the stream's ranges, by the newest state
	// that it knows.
	ErrNotLearner = errors.New("not a learner of the range")
)

// Serve receives one stream from another node until it ends.
func (e *Engine) Serve(ctx context.Context, from string, conn net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	a := &receivedStream{e: e, ctx: ctx, from: from, cancel: cancel}
	defer a.close()
	return stream.Receive(conn, a)
}

// receivedStreams are the streams that this node receives, one for each sender.
type receivedStreams struct {
	mu   sync.Mutex
	from map[string]*receivedStream
	gone chan struct{} // closed when a stream has ended; nil while no goroutine waits
}

// admit ends an earlier stream of the same node, waits for it, and admits the new one if there are
// fewer than most.
func (as *receivedStreams) admit(ctx context.Context, a *receivedStream, most int) error {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.from == nil {
		as.from = make(map[string]*receivedStream)
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
		return stream.ErrReceiving
	}
	as.from[a.from] = a
	return nil
}

func (as *receivedStreams) remove(a *receivedStream) {
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

// isReceiving reports whether any part of a range is being received.
func (as *receivedStreams) isReceiving(r ring.Range) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, a := range as.from {
		if slices.ContainsFunc(a.at, func(at ring.Range) bool { return spans.Overlap(at, r) }) {
			return true
		}
	}
	return false
}

// endOwned ends copies of rows whose primary, by st, is this node. The sender ends its stream only
// later, and until then the store would refuse the units that run there.
func (as *receivedStreams) endOwned(st *table.State, primary string) {
	as.mu.Lock()
	defer as.mu.Unlock()
	for _, a := range as.from {
		for i, r := range a.at {
			for row := range spans.Rows(st, r) {
				if row.Primary == primary {
					a.ranges[i].End()
					break
				}
			}
		}
	}
}

// A receivedStream is one stream that this node receives.
type receivedStream struct {
	e            *Engine
	ctx          context.Context
	from         string
	cancel       context.CancelFunc
	purpose      streamPurpose
	ranges       []IncomingCopy // changed under receivedStreams.mu, by the goroutine of the stream only
	at           []ring.Range   // the ranges of these copies; receivedStreams.mu guards them
	rows         []table.Ref    // when the copies began
	checkedState *table.State   // the last state in which the sender was still the primary
}

func (s *receivedStream) close() {
	s.closeRanges()
	s.e.received.remove(s)
}

// closeRanges ends the copies. If the copy was in vain, the sweep drops what has arrived.
func (s *receivedStream) closeRanges() {
	if len(s.ranges) == 0 {
		return
	}
	s.e.cfg.Store.CloseCopies(s.ranges)
	s.setRanges(nil, nil)
	s.e.sweeper.sweepReceived()
}

func (s *receivedStream) setRanges(at []ring.Range, in []IncomingCopy) {
	s.e.received.mu.Lock()
	s.at, s.ranges = at, in
	s.e.received.mu.Unlock()
}

// Open implements stream.Receiver.
func (s *receivedStream) Open(text []byte) error {
	if err := json.Unmarshal(text, &s.purpose); err != nil {
		return fmt.Errorf("%w: %w", frame.ErrMalformed, err)
	}
	if s.purpose.From != s.from {
		return fmt.Errorf("%w: a stream of %.100q from %s", frame.ErrMalformed, s.purpose.From, s.from)
	}
	if s.purpose.Incarnation != s.e.cfg.Incarnation {
		return fmt.Errorf("%w: it is for incarnation %d", ErrNotLearner, s.purpose.Incarnation)
	}
	if s.e.resigning.Load() {
		return errResigning
	}
	if err := s.e.cfg.Store.Writable(); err != nil {
		return err
	}
	return s.e.received.admit(s.ctx, s, s.e.cfg.Receives)
}

// Begin implements stream.Receiver. It waits until this node knows that it is a learner of the
// ranges, by a state no older than the sender's: after an older one a state may follow that drops
// them.
func (s *receivedStream) Begin(text []byte) error {
	var b streamRanges
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("%w: %w", frame.ErrMalformed, err)
	}
	ranges := b.Ranges
	within, cancel := context.WithTimeout(s.ctx, s.e.cfg.Retry)
	defer cancel()
	changes, end := s.e.cfg.Table.Changes()
	defer end()
	var rows []table.Ref
	for {
		var learns bool
		if rows, learns = s.e.learnerRows(&s.purpose, &b); learns {
			break
		}
		select {
		case <-changes:
		case <-within.Done():
			return fmt.Errorf("%w: handoff %d", ErrNotLearner, s.purpose.Handoff)
		}
	}
	s.closeRanges()
	// An earlier primary no longer feeds this node there. Its changes that are still under way
	// would undo the copy.
	s.e.feed.BeginCopy(s.from, s.purpose.Sender, b.Ranges, b.Session, b.Frame)
	// A sweep of these ranges ends first, or does not begin.
	s.e.sweeper.mu.Lock()
	defer s.e.sweeper.mu.Unlock()
	for _, r := range s.e.sweeper.undiscarded {
		if slices.ContainsFunc(ranges, func(at ring.Range) bool { return spans.Overlap(at, r) }) {
			return fmt.Errorf("%w: in %v", scrub.ErrDamaged, r)
		}
	}
	if err := s.e.sweeper.prepareLineage(ranges); err != nil {
		return err
	}
	s.rows, s.checkedState = rows, nil
	s.setRanges(ranges, s.e.cfg.Store.ReceiveCopies(ranges))
	s.e.reached(step.HandoffTaken)
	return nil
}

// checkSender refuses batches of a sender that is no longer the primary, as far as this node knows.
// Its successor may have copied the range again, or may be this node.
func (s *receivedStream) checkSender() error {
	st := s.e.cfg.Table.State()
	if st == s.checkedState {
		return nil
	}
	for i := range s.rows {
		was := &s.rows[i]
		row, ok := st.Row(was.Range.Start)
		if !ok || row.Primary != s.from || row.Epoch != was.Epoch || row.Lineage != was.Lineage {
			return fmt.Errorf("%w: the epoch of %v, in which %s sent it, is over", ErrNotLearner, was.Range, s.from)
		}
	}
	s.checkedState = st
	return nil
}

// Apply implements stream.Receiver.
func (s *receivedStream) Apply(r int, batch []byte, done func(error)) error {
	if r >= len(s.ranges) {
		return fmt.Errorf("%w: a batch of range %d", frame.ErrMalformed, r)
	}
	if err := s.checkSender(); err != nil {
		return err
	}
	return s.ranges[r].Apply(batch, done)
}

// Ask implements stream.Receiver.
func (s *receivedStream) Ask(r int, question []byte) ([]byte, error) {
	if r >= len(s.ranges) {
		return nil, fmt.Errorf("%w: a question about range %d", frame.ErrMalformed, r)
	}
	return s.ranges[r].Answer(question)
}

// learnerRows returns the rows of the ranges, if this node is a learner of all of them by a state
// no older than the sender's.
func (e *Engine) learnerRows(p *streamPurpose, b *streamRanges) (rows []table.Ref, ok bool) {
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
