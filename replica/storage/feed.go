package storage

import (
	"errors"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// NewTap implements feed.Store.
func (s Store) NewTap(sink func(number uint64, batch []byte), pace func()) feed.Tap {
	tap, _ := s.Store.Tap(func(c store.Change) { sink(c.Number, c.Batch) }) // a tap without ranges overlaps no other
	if pace != nil {
		tap.Pace(pace)
	}
	return tap
}

var errNotOurs = errors.New("what should follow a range, or end its copy, is not of this store")

// Retap implements feed.Store.
func (s Store) Retap(moves []feed.TapMove, end []feed.Copy, at func()) error {
	to := make([]store.Move, len(moves))
	for i, m := range moves {
		to[i].Range = m.Range
		if m.To == nil {
			continue
		}
		tap, ok := m.To.(*store.Tap)
		if !ok {
			return errNotOurs
		}
		to[i].To = tap
	}
	taps := make([]*store.Tap, len(end))
	for i, out := range end {
		o, ok := out.(*outgoingCopy)
		if !ok {
			return errNotOurs
		}
		taps[i] = o.tap
	}
	return s.Store.Retap(to, taps, at)
}

// ReceiveFeed implements feed.Store.
func (s Store) ReceiveFeed() feed.IncomingFeed {
	return &incomingFeed{store: s.Store, receiver: s.NewReceiver()}
}

// incomingFeed implements feed.IncomingFeed.
type incomingFeed struct {
	store    *store.Store
	receiver *store.Receiver
}

// SetRanges implements feed.IncomingFeed.
func (f *incomingFeed) SetRanges(ranges []ring.Range) { f.receiver.SetRanges(ranges...) }

// Apply implements feed.IncomingFeed.
func (f *incomingFeed) Apply(batches [][]byte, done func(error)) error {
	wait, err := f.receiver.ApplyAll(batches, waiterFunc(done))
	if err == nil && !wait {
		done(nil)
	}
	return err
}

// Cut implements feed.IncomingFeed.
func (f *incomingFeed) Cut(batch []byte, to []ring.Range) ([]byte, error) {
	return f.store.BatchWithin(batch, to...)
}

// Close implements feed.IncomingFeed.
func (f *incomingFeed) Close() { f.receiver.Close() }
