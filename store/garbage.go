package store

import (
	"encoding/binary"
	"errors"
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

const (
	garbageBatch  = 1024
	garbagePeriod = time.Second
)

// collectGarbage removes the entries of up to garbageBatch generations, and
// returns how many it found.
func (s *Store) collectGarbage() (int, error) {
	// Before the iterator: what is not being built now, and was begun before, is
	// either garbage in the iterator's eyes or no longer named there.
	collectable := s.generations.collectable()
	iter, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: []byte{layout.KindGarbage},
		UpperBound: []byte{layout.KindGarbage + 1},
	})
	if err != nil {
		return 0, s.readFailed(err)
	}
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	n := 0
	for iter.First(); iter.Valid() && n < garbageBatch; iter.Next() {
		p, key, gen, splitErr := layout.SplitPlacedKey(iter.Key()[1:])
		if splitErr != nil || len(gen) != layout.GenSize {
			err = layout.ErrKey
			break
		}
		if !collectable(binary.BigEndian.Uint64(gen)) {
			s.garbage.Add(1) // look again
			continue
		}
		start := append(layout.AppendDataPrefix(nil, p, key), gen...)
		end := layout.PrefixEnd(append([]byte(nil), start...))
		_ = b.DeleteRange(start, end, nil)
		_ = b.Delete(iter.Key(), nil)
		n++
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return 0, s.readFailed(err)
	}
	if n == 0 {
		return 0, nil
	}
	if err := s.writeRemoval(b, pebble.NoSync); err != nil {
		return n, err
	}
	s.rangeTombstones.Add(int64(n))
	s.flushRangeTombstones()
	return n, nil
}

// housekeepingLoop collects garbage and writes counts until the store is closed.
func (s *Store) housekeepingLoop() {
	tick := time.NewTicker(garbagePeriod)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if s.AcceptsRemovals() != nil {
			continue
		}
		s.flushTombstones()
		if s.sweepPending.Load() {
			if err := s.sweepDropped(); err != nil {
				s.log.Error("deleting expiry times of dropped ranges failed", "err", err)
			}
		}
		for s.garbage.Swap(0) > 0 && !s.isStopping() {
			n, err := s.collectGarbage()
			if err != nil {
				s.log.Error("deleting removed values failed", "err", err)
			}
			if n < garbageBatch {
				break
			}
			s.garbage.Add(1)
		}
		if s.counts.WantsCheckpoint() {
			if err := s.checkpointCounts(); err != nil {
				s.log.Error("writing key counts failed", "err", err)
			}
		}
	}
}
