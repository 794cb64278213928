package store

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Deleting or replacing a value with sub entries costs one small entry that names
// its key and generation; the entries themselves, which nothing can reach any
// more, are removed in the background:
//
//	kind | place | length of user key | user key | generation 8 B BE
//
// A long string is written piece by piece before its header is. Its generation is
// named as garbage first, so that a crash in between leaves nothing behind, and
// the header's batch takes the name back. generations.building keeps the collector
// away meanwhile.

func garbageKey(dst []byte, p Place, key []byte, gen uint64) []byte {
	dst = append(dst, layout.KindGarbage)
	dst = layout.AppendPlacedKey(dst, p, key)
	return binary.BigEndian.AppendUint64(dst, gen)
}

// housekeeper removes values that nothing can reach, writes counts to disk, and writes out memtables
// whose tombstones make reads slow.
type housekeeper struct {
	s       *Store
	garbage atomic.Int64 // generations named as garbage since the last look
	freed   atomic.Int64 // generations whose entries are gone
	// rangeTombstones is the weight of the range tombstones since flushRangeTombstones last wrote out
	// the memtable.
	rangeTombstones atomic.Int64
	// passedTombstones is how many tombstones and old values iterators over elements have passed since
	// flushTombstones looked last.
	passedTombstones atomic.Int64
}

const (
	garbageBatch  = 1024
	garbagePeriod = time.Second
)

// collectGarbage removes the entries of up to garbageBatch generations, and
// returns how many it found.
func (k *housekeeper) collectGarbage() (int, error) {
	// Before the iterator: what is not being built now, and was begun before, is
	// either garbage in the iterator's eyes or no longer named there.
	collectable := k.s.generations.Collectable()
	iter, err := k.s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{layout.KindGarbage},
		UpperBound: []byte{layout.KindGarbage + 1},
	})
	if err != nil {
		return 0, k.s.readFailed(err)
	}
	b := k.s.db.NewBatch()
	defer func() { _ = b.Close() }()
	n := 0
	for iter.First(); iter.Valid() && n < garbageBatch; iter.Next() {
		p, key, gen, splitErr := layout.SplitPlacedKey(iter.Key()[1:])
		if splitErr != nil || len(gen) != layout.GenSize {
			err = layout.ErrKey
			break
		}
		if !collectable(binary.BigEndian.Uint64(gen)) {
			k.garbage.Add(1) // look again
			continue
		}
		start := append(layout.AppendDataPrefix(nil, p, key), gen...)
		end := layout.PrefixEnd(append([]byte(nil), start...))
		_ = b.DeleteRange(start, end, nil)
		_ = b.Delete(iter.Key(), nil)
		n++
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return 0, k.s.readFailed(err)
	}
	if n == 0 {
		return 0, nil
	}
	if err := k.s.writeRemoval(b); err != nil {
		return n, err
	}
	k.freed.Add(int64(n))
	k.rangeTombstones.Add(int64(n))
	k.flushRangeTombstones()
	return n, nil
}

// loop collects garbage and writes counts until the store is closed.
func (k *housekeeper) loop() {
	tick := time.NewTicker(garbagePeriod)
	defer tick.Stop()
	for {
		select {
		case <-k.s.stop:
			return
		case <-tick.C:
		}
		if k.s.AcceptsRemovals() != nil {
			continue
		}
		k.flushTombstones()
		if k.s.expirer.sweepPending.Load() {
			if err := k.s.expirer.sweepDropped(); err != nil {
				k.s.log.Error("deleting expiry times of dropped ranges failed", "err", err)
			}
		}
		for k.garbage.Swap(0) > 0 && !k.s.isStopping() {
			n, err := k.collectGarbage()
			if err != nil {
				k.s.log.Error("deleting removed values failed", "err", err)
			}
			if n < garbageBatch {
				break
			}
			k.garbage.Add(1)
		}
		if k.s.counts.WantsCheckpoint() {
			if err := k.checkpointCounts(); err != nil {
				k.s.log.Error("writing key counts failed", "err", err)
			}
		}
	}
}
