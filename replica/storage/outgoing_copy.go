package storage

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// outgoingCopy implements replica.OutgoingCopy. Except for its tap, it belongs to one goroutine.
//
// Invariant: cursor is read under the latches of the changed keys, and moved under those of the
// keys that it passes. So a change is sent if and only if its keys have been copied, and before any
// later change of them.
type outgoingCopy struct {
	store  *store.Store
	r      ring.Range
	sink   func(batch []byte)
	tap    *store.Tap
	copy   *store.Copy
	cursor atomic.Pointer[store.Position]

	theirs   *store.Digests // of the receiver, from the cursor on
	question []byte
}

func newOutgoingCopies(s *store.Store, ranges []ring.Range, sink func(i int, batch []byte), pace func()) ([]replica.OutgoingCopy, error) {
	all := make([]replica.OutgoingCopy, len(ranges))
	copies := make([]*outgoingCopy, len(ranges))
	for i, r := range ranges {
		o := &outgoingCopy{store: s, r: r, sink: func(batch []byte) { sink(i, batch) }, question: []byte{askDigests}}
		o.cursor.Store(new(store.Position))
		var err error
		if o.copy, err = s.NewCopy(r, nil); err != nil {
			return nil, err
		}
		all[i], copies[i] = o, o
	}
	taps := s.ListenEach(ranges, func(i int, c store.Change) { copies[i].changed(c.Batch) })
	for i, t := range taps {
		copies[i].tap = t
		t.Pace(pace)
	}
	return all, nil
}

// changed sends what a change has changed of the part that has been copied.
func (o *outgoingCopy) changed(change []byte) {
	batch, err := o.store.CutBatch(change, o.r, *o.cursor.Load())
	if err != nil {
		batch = change // the receiver cannot read it either, and reports that
	}
	if batch != nil {
		o.sink(batch)
	}
}

// Close implements replica.OutgoingCopy.
func (o *outgoingCopy) Close() { o.tap.Close(nil) }

// Ask implements replica.OutgoingCopy.
func (o *outgoingCopy) Ask() []byte { return o.question }

// Answer implements replica.OutgoingCopy.
func (o *outgoingCopy) Answer(answer []byte) error {
	asked := o.question[0]
	o.question = nil
	if asked == askEntries {
		return answered(o.store.TakeEntries(o.theirs, answer))
	}
	var err error
	if o.theirs, err = store.ParseDigests(answer); err != nil {
		return answered(err)
	}
	groups, err := o.store.DifferingGroups(o.r, o.theirs)
	if err != nil || len(groups) == 0 {
		return err
	}
	o.question = []byte{askEntries}
	last := 0
	for _, g := range groups {
		o.question = binary.AppendUvarint(o.question, uint64(g-last))
		last = g
	}
	return nil
}

func answered(err error) error {
	if err != nil {
		return fmt.Errorf("an answer about a copy: %w", err)
	}
	return nil
}

// Step implements replica.OutgoingCopy.
func (o *outgoingCopy) Step(limit int) (done bool, err error) {
	err = o.copy.Chunk(limit, o.theirs, func(batch []byte, next store.Position) {
		o.cursor.Store(&next)
		if batch != nil {
			o.sink(batch)
		}
	})
	if err != nil || o.copy.Done() {
		return err == nil, occupied(err)
	}
	if at := o.copy.Position(); string(at) == string(o.theirs.End) {
		o.question = append([]byte{askDigests}, at...)
	}
	return false, nil
}

// Progress implements replica.OutgoingCopy.
func (o *outgoingCopy) Progress() (keys, bytes int64) { return o.copy.Passed() }
