package node

import (
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// data is the store as the replication engine sees it.
type data struct {
	*store.Store
}

// Tap implements replica.Store. Replies do not wait for what is tapped: a learner's
// copy does not count.
func (d data) Tap(r ring.Range, sink func(batch []byte)) (cancel func(), err error) {
	var tap atomic.Pointer[store.Tap]
	t, err := d.Store.Tap(r, func(c store.Change) {
		sink(c.Batch)
		if t := tap.Load(); t != nil {
			t.Acked(c.Number)
		}
	})
	if err != nil {
		return nil, err
	}
	tap.Store(t)
	t.Acked(t.Last()) // what came before the pointer was there
	return func() { t.Close(nil) }, nil
}

// Copy implements replica.Store.
func (d data) Copy(r ring.Range, from []byte, limit int, sink func(batch []byte)) (next []byte, err error) {
	c, err := d.NewCopy(r, from)
	if err != nil {
		return nil, err
	}
	err = c.Chunk(limit, nil, func(batch []byte, _ store.Position) {
		if batch != nil {
			sink(batch)
		}
	})
	if err != nil || c.Done() {
		return nil, err
	}
	return c.Position(), nil
}

// Receive implements replica.Store.
func (d data) Receive(r ring.Range) (apply func(batch []byte) error, end func()) {
	receiver := d.NewReceiver(r)
	var durable store.Signal
	return func(batch []byte) error {
		wait, err := receiver.Apply(batch, &durable)
		if err == nil && wait {
			err = durable.Wait()
		}
		return err
	}, receiver.Close
}

// Drop implements replica.Store.
func (d data) Drop(ranges ...ring.Range) error {
	return d.DropRanges(nil, ranges...)
}

// Load implements replica.Store.
func (d data) Load(r ring.Range) ring.Load {
	l, err := d.RangeLoad(r)
	if err != nil {
		return ring.Load{}
	}
	return ring.Load{Keys: l.Keys, Bytes: l.Bytes, Largest: l.Heaviest}
}
