package importer

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/store/rdbfile"
)

// A loader writes whole values to the target, in parallel: keys are spread over lanes by their hash, and
// each lane has one batch on its way. So two writes of a key keep their order. put, large and drain are for
// one goroutine.
type loader struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	target *cluster
	stats  *Stats
	most   time.Duration // how long a batch is tried again

	seed    maphash.Seed
	lanes   []lane
	running sync.WaitGroup
	pending sync.WaitGroup // batches on their way
	parts   *partWriter    // of the key that comes in parts now
}

// A lane takes the keys of some hashes.
type lane struct {
	open *batch // being filled; may be nil
	in   chan *batch
	free chan *batch
}

// A batch is keys of one database with their payloads.
type batch struct {
	database int
	data     []byte
	items    []item
	failed   []int // items that are to be sent again
	pipe     *client.Pipeline
	of       *client.Ring // of pipe
	again    bool         // the keys have been written before
}

// An item is a key in a batch: data[key:payload] and data[payload:end].
type item struct {
	key, payload, end int
	expireAt          int64
	del               bool   // the key is to be deleted
	reason            string // why it is, where it has a value that cannot be taken
}

// Of a batch: when it is full. Larger ones cost less work for each key, and more memory.
const (
	batchKeys  = 128
	batchBytes = 256 << 10
)

func newLoader(ctx context.Context, target *cluster, stats *Stats, lanes int, most time.Duration) *loader {
	l := &loader{target: target, stats: stats, most: most, seed: maphash.MakeSeed(), lanes: make([]lane, lanes)}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	for i := range l.lanes {
		n := &l.lanes[i]
		n.in, n.free = make(chan *batch, 1), make(chan *batch, 3)
		for range cap(n.free) {
			n.free <- &batch{}
		}
		l.running.Go(func() {
			for b := range n.in {
				if err := l.deliver(b); err != nil {
					l.cancel(err)
				}
				l.pending.Done()
				n.free <- b
			}
		})
	}
	return l
}

// close ends the loader. What drain has not waited for may be lost.
func (l *loader) close() {
	l.cancel(context.Canceled)
	for i := range l.lanes {
		close(l.lanes[i].in)
	}
	l.running.Wait()
}

// err is why the loader has ended.
func (l *loader) err() error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}

// put writes a value, later. It does not keep key and payload.
func (l *loader) put(database int, key, payload []byte, expireAt int64) error {
	n := &l.lanes[maphash.Bytes(l.seed, key)%uint64(len(l.lanes))]
	if n.open != nil && n.open.database != database {
		if err := l.send(n); err != nil {
			return err
		}
	}
	if n.open == nil {
		select {
		case n.open = <-n.free:
			n.open.reset(database)
		case <-l.ctx.Done():
			return l.err()
		}
	}
	n.open.add(key, payload, expireAt, false)
	if n.open.full() {
		return l.send(n)
	}
	return nil
}

func (b *batch) reset(database int) {
	b.database, b.items = database, b.items[:0]
	if b.data = b.data[:0]; cap(b.data) > 8*batchBytes {
		b.data = nil // a large value has come by
	}
}

func (b *batch) full() bool { return len(b.items) >= batchKeys || len(b.data) >= batchBytes }

func (b *batch) add(key, payload []byte, expireAt int64, del bool) {
	i := item{key: len(b.data), expireAt: expireAt, del: del}
	b.data = append(b.data, key...)
	i.payload = len(b.data)
	b.data = append(b.data, payload...)
	i.end = len(b.data)
	b.items = append(b.items, i)
}

// send puts the open batch of a lane on its way.
func (l *loader) send(n *lane) error {
	b := n.open
	n.open = nil
	l.pending.Add(1)
	select {
	case n.in <- b:
		return nil
	case <-l.ctx.Done():
		l.pending.Done()
		return l.err()
	}
}

// drain waits until all is written.
func (l *loader) drain() error {
	for i := range l.lanes {
		if n := &l.lanes[i]; n.open != nil {
			if err := l.send(n); err != nil {
				return err
			}
		}
	}
	l.pending.Wait()
	return l.err()
}

// deliver writes a batch. What fails for now is sent again.
func (l *loader) deliver(b *batch) error {
	ring, err := l.target.ring(l.ctx, b.database)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return b.deliver(l.ctx, ring, l.stats, l.most)
}

var (
	wordRestore = []byte("RESTORE")
	wordReplace = []byte("REPLACE")
	wordAbsTTL  = []byte("ABSTTL")
	wordDel     = []byte("DEL")
)

// deliver writes a batch by a client. Each item is a whole value or a deletion, so sending it twice does
// what sending it once does.
func (b *batch) deliver(ctx context.Context, ring *client.Ring, stats *Stats, most time.Duration) error {
	if b.pipe == nil || b.of != ring {
		b.pipe, b.of = ring.Pipeline(), ring
	}
	b.failed = b.failed[:0]
	for i := range b.items {
		b.failed = append(b.failed, i)
	}
	p := patience{most: most}
	for {
		again, err := b.once(ctx, stats)
		if len(b.failed) == 0 || err != nil {
			return err
		}
		if err := p.wait(ctx, again); err != nil {
			return fmt.Errorf("target: %w", err)
		}
	}
}

// once sends what is in failed, and leaves there what is to be sent again, with one of the reasons.
func (b *batch) once(ctx context.Context, stats *Stats) (again, fatal error) {
	var ttl [20]byte
	for _, i := range b.failed {
		it := &b.items[i]
		key := b.data[it.key:it.payload]
		if it.del {
			b.pipe.DoBytes(wordDel, key)
			continue
		}
		expiry := it.expireAt
		if expiry < 0 {
			expiry = 1 // long ago
		}
		b.pipe.DoBytes(wordRestore, key, strconv.AppendInt(ttl[:0], expiry, 10), b.data[it.payload:it.end], wordReplace, wordAbsTTL)
	}
	replies, err := b.pipe.Exec(ctx)
	if err == nil {
		for _, i := range b.failed {
			b.written(i, stats)
		}
		b.failed = b.failed[:0]
		return nil, nil
	}
	open := b.failed[:0]
	for n, i := range b.failed {
		err := replies[n].Err()
		switch judge(ctx, err) {
		case done:
			b.written(i, stats)
		case lost:
			stats.lose(Loss{Database: b.database, Key: string(b.key(i)), Reason: err.Error()})
		case later:
			open = append(open, i)
			again = err
		case failed:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("target: %w", err)
		}
	}
	b.failed = open
	return again, nil
}

func (b *batch) key(i int) []byte { return b.data[b.items[i].key:b.items[i].payload] }

func (b *batch) written(i int, stats *Stats) {
	it := &b.items[i]
	if it.reason != "" {
		stats.lose(Loss{Database: b.database, Key: string(b.key(i)), Reason: it.reason})
		return
	}
	stats.found(b.database, b.key(i))
	if b.again && !stats.scanning.Load() {
		stats.changes.Add(1)
		return
	}
	stats.keys.Add(1)
	stats.bytes.Add(int64(it.end - it.payload))
}

// entry writes a key of a file, or a part of one.
func (l *loader) entry(e *rdbfile.Entry, database int) error {
	switch {
	case e.Payload == nil:
		l.stats.lose(Loss{Database: database, Key: string(e.Key), Reason: e.Reason})
		return nil
	case e.Metadata && e.Part == 0:
		l.stats.metadata.Add(1)
	}
	if !e.More && e.Part == 0 {
		return l.put(database, e.Key, e.Payload, e.ExpireAt)
	}
	if e.Part == 0 {
		if err := l.drain(); err != nil { // an earlier value of the same key
			return err
		}
		ring, err := l.target.ring(l.ctx, database)
		if err != nil {
			return fmt.Errorf("target: %w", err)
		}
		l.parts = &partWriter{ctx: l.ctx, ring: ring, stats: l.stats, most: l.most, database: database}
	}
	return l.parts.write(e)
}
