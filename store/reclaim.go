package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// What is removed gives its space back when the tables that hold it are merged, which Pebble
// does when that pays for reads and writes. On a disk that has too little free space, writes
// would be refused until then. So as long as the disk is short, the parts of the data from
// which most was removed are merged, one after the other, and only where the result has room.

const (
	// reclaimParts are the parts into which all tokens are divided: by their first byte.
	reclaimParts = 256
	// reclaimLeast is how many bytes must have been removed from a part to merge it, and
	// reclaimWorth bounds how many times as many bytes are merged for that.
	reclaimLeast = 64 << 10
	reclaimWorth = 8
	// reclaimLeaves is the part of the reserve that a merge leaves free: an eighth.
	reclaimLeaves = 8
	// reclaimTried is how many parts are considered at a time.
	reclaimTried = 16
)

// reclaim merges tables to free space.
type reclaim struct {
	s *Store
	// removed is what was removed from the data since it was merged last, in bytes for each part.
	removed [reclaimParts]atomic.Int64
	wake    chan struct{} // has a value when the disk is found to be short
	// result is how many bytes the merge under way writes, at most, before it frees more.
	result atomic.Int64
}

func partOf(slice uint16) int { return int(slice) / (1 << 16 / reclaimParts) }

func (r *reclaim) remove(slice uint16, bytes int64) { r.removed[partOf(slice)].Add(bytes) }

// most returns the parts from which enough was removed, those with most first.
func (r *reclaim) most() (parts []int) {
	var removed [reclaimParts]int64
	for i := range r.removed {
		if removed[i] = r.removed[i].Load(); removed[i] >= reclaimLeast {
			parts = append(parts, i)
		}
	}
	slices.SortFunc(parts, func(a, b int) int { return cmp.Compare(removed[b], removed[a]) })
	return parts
}

// loop merges parts while the disk is short, until the store is closed.
func (r *reclaim) loop() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	r.s.loops.Go(func() {
		select {
		case <-r.s.stop:
			cancel()
		case <-ended:
		}
	})
	estimated := false
	for {
		select {
		case <-r.s.stop:
			return
		case <-r.s.health.fatal:
			return
		case <-r.wake:
		}
		if !r.s.health.isRefusedFor(reasonDiskLow) || r.s.AcceptsRemovals() != nil {
			continue
		}
		if !estimated { // an earlier process may have removed something
			r.estimateRemoved()
			estimated = true
		}
		if err := r.reclaimMost(ctx); err != nil && !r.s.isStopping() {
			r.s.log.Error("merging tables to free space failed", "err", err)
		}
	}
}

// estimateRemoved takes what the tables hold beyond what is counted for removed.
func (r *reclaim) estimateRemoved() {
	const slices = 1 << 16 / reclaimParts
	for part := range reclaimParts {
		lower, upper := partBounds(part)
		used, err := r.s.db.EstimateDiskUsage(lower, upper)
		if err != nil {
			return
		}
		live := int64(0)
		for slice := part * slices; slice < (part+1)*slices; slice++ {
			live += r.s.counts.Of(uint16(slice)).Bytes
		}
		r.removed[part].Add(max(int64(used)-live-r.removed[part].Load(), 0))
	}
}

// reclaimMost merges the tables of the part from which most was removed, of those where that
// is worth it and the result has room.
func (r *reclaim) reclaimMost(ctx context.Context) error {
	parts := r.most()
	for _, part := range parts[:min(len(parts), reclaimTried)] {
		m, err := r.mergeOf(part)
		if err != nil {
			return err
		}
		if m.removed < max(reclaimLeast, m.bytes/reclaimWorth) {
			continue
		}
		usage, err := r.s.cfg.FS.GetDiskUsage(r.s.cfg.Dir)
		if err != nil {
			return fmt.Errorf("free space of %s: %w", r.s.cfg.Dir, err)
		}
		// The result is there beside the tables that it replaces, and leaves room to the log
		// and to other tables.
		result := m.bytes - min(m.removed, m.bytes)
		if usage.AvailBytes < uint64(result+r.s.health.minFreeDisk.Load()/reclaimLeaves) {
			continue
		}
		r.result.Store(result)
		err = r.merge(ctx, m)
		r.result.Store(0)
		r.s.health.checkDisk() // wakes the loop again if the disk is still short
		return err
	}
	return nil
}

// A tableMerge is the data that lie in the tables of one part.
type tableMerge struct {
	lower, upper []byte
	bytes        int64 // of the tables, which are written anew
	removed      int64 // from the parts of which all data lie within
	first, end   int   // those parts
}

// mergeOf returns what is merged with a part: tables are merged as a whole.
func (r *reclaim) mergeOf(part int) (m tableMerge, err error) {
	m.lower, m.upper = partBounds(part)
	m.first, m.end = part, part+1
	levels, err := r.s.db.SSTables(pebble.WithKeyRangeFilter(m.lower, m.upper))
	if err != nil {
		return m, fmt.Errorf("look for tables: %w", err)
	}
	for _, level := range levels {
		for _, t := range level {
			m.bytes += int64(t.Size)
			for m.first > 0 && bytes.Compare(t.Smallest.UserKey, m.lower) < 0 {
				m.first--
				m.lower, _ = partBounds(m.first)
			}
			for m.end < reclaimParts && bytes.Compare(t.Largest.UserKey, m.upper) >= 0 {
				_, m.upper = partBounds(m.end)
				m.end++
			}
		}
	}
	for i := m.first; i < m.end; i++ {
		m.removed += r.removed[i].Load()
	}
	return m, nil
}

// merge writes out the memtables, since removals in memory remove nothing from tables, and
// merges tables.
func (r *reclaim) merge(ctx context.Context, m tableMerge) error {
	for i := m.first; i < m.end; i++ {
		r.removed[i].Store(0) // a failed merge is not repeated at once
	}
	if err := r.s.flushTables(); err != nil {
		return err
	}
	merged := make(chan error, 1)
	go func() { merged <- r.s.db.Compact(ctx, m.lower, m.upper, false) }()
	select {
	case err := <-merged:
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("merge tables: %w", err)
		}
		return ctx.Err()
	case <-r.s.health.fatal: // a goroutine of Pebble's holds its locks for ever; see Fatalf
		return errStopped
	}
}

// partBounds are the bounds of the data of a part, the second not included.
func partBounds(part int) (lower, upper []byte) {
	if part == reclaimParts-1 {
		return []byte{layout.KindData, byte(part)}, []byte{layout.KindData + 1}
	}
	return []byte{layout.KindData, byte(part)}, []byte{layout.KindData, byte(part + 1)}
}
