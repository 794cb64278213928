package storage

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Store implements replica.Store with a store of this process.
type Store struct {
	*store.Store
}

// New returns the store as the engine sees it.
func New(s *store.Store) Store { return Store{s} }

// StartCopies implements replica.Store.
func (s Store) StartCopies(ranges []ring.Range, sink func(i int, batch []byte), pace func()) ([]replica.OutgoingCopy, error) {
	return newOutgoingCopies(s.Store, ranges, sink, pace)
}

// EndCopies implements replica.Store.
func (s Store) EndCopies(copies []replica.OutgoingCopy) {
	taps := make([]*store.Tap, len(copies))
	for i, c := range copies {
		taps[i] = c.(*outgoingCopy).tap
	}
	store.CloseTaps(taps)
}

// ReceiveCopies implements replica.Store.
func (s Store) ReceiveCopies(ranges []ring.Range) []replica.IncomingCopy {
	all := make([]replica.IncomingCopy, len(ranges))
	for i, rc := range s.NewReceivers(ranges) {
		all[i] = &incomingCopy{store: s.Store, r: ranges[i], receiver: rc}
	}
	return all
}

// CloseCopies implements replica.Store.
func (s Store) CloseCopies(copies []replica.IncomingCopy) {
	receivers := make([]*store.Receiver, len(copies))
	for i, c := range copies {
		receivers[i] = c.(*incomingCopy).receiver
	}
	store.CloseReceivers(receivers)
}

// SetOwned implements replica.Store.
func (s Store) SetOwned(own []ring.Range) { s.SetActive(own...) }

// Drop implements replica.Store.
func (s Store) Drop(ranges ...ring.Range) error {
	return occupied(s.DropRanges(nil, ranges...))
}

// occupied converts an error of the store to one of the engine.
func occupied(err error) error {
	if errors.Is(err, store.ErrLatched) {
		return fmt.Errorf("%w: %w", replica.ErrOccupied, err)
	}
	return err
}

// Load implements replica.Store.
func (s Store) Load(r ring.Range) ring.Load {
	l, err := s.RangeLoad(r)
	if err != nil {
		return ring.Load{}
	}
	return ring.Load{Keys: l.Keys, Bytes: l.Bytes, Largest: l.Heaviest}
}

// incomingCopy implements replica.IncomingCopy.
type incomingCopy struct {
	store    *store.Store
	r        ring.Range
	receiver *store.Receiver
	last     *store.Digests // last digests sent to the sender
}

// Apply implements replica.IncomingCopy.
func (in *incomingCopy) Apply(batch []byte, done func(error)) error {
	wait, err := in.receiver.Apply(batch, waiterFunc(done))
	if err == nil && !wait {
		done(nil)
	}
	return err
}

// waiterFunc implements store.Waiter.
type waiterFunc func(error)

func (s waiterFunc) Settled(err error) { s(err) }

// Over implements replica.Incoming.
func (in *incomingCopy) End() { in.receiver.Revoke() }

// A question of a sender is a byte that says what it asks for, and
//
//	askDigests: a position: the digests of the first level from there on
//	askEntries: the numbers of groups of the digests that were sent last, each by how
//	            far it is behind the one before, as a uvarint: their second level
const (
	askDigests = 1
	askEntries = 2
)

const (
	// maxDigestEntries is the number of entries that one answer describes. It bounds the memory of
	// an answer on either side.
	maxDigestEntries = 16 << 10
	// groupEntries bounds the second level of one group, which may have grown since. A larger group
	// has only the first level.
	groupEntries = 1 << 10
)

// Answer implements replica.IncomingCopy.
func (in *incomingCopy) Answer(question []byte) ([]byte, error) {
	if len(question) == 0 {
		return nil, errQuestion
	}
	switch rest := question[1:]; question[0] {
	case askDigests:
		d, err := in.store.Digest(in.r, store.Position(rest), maxDigestEntries)
		if err != nil {
			return nil, err
		}
		in.last = d
		return d.Append(nil), nil
	case askEntries:
		if in.last == nil {
			return nil, errQuestion
		}
		var groups []int
		for i := uint64(0); len(rest) > 0; {
			step, w := binary.Uvarint(rest)
			if i += step; w <= 0 || i >= uint64(len(in.last.Groups)) || len(groups) > 0 && step == 0 {
				return nil, errQuestion
			}
			rest = rest[w:]
			groups = append(groups, int(i))
			g := &in.last.Groups[i]
			end := in.last.End
			if int(i)+1 < len(in.last.Groups) {
				end = in.last.Groups[i+1].Start
			}
			var err error
			if g.Entries, g.Detailed, err = in.store.DigestEntries(in.r, g.Start, end, groupEntries); err != nil {
				return nil, err
			}
		}
		return in.last.AppendEntries(nil, groups), nil
	}
	return nil, errQuestion
}

var errQuestion = errors.New("a question about a copy that makes no sense")
