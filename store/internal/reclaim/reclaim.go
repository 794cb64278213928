package reclaim

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

const (
	// Leaves is the part of the reserve of free space that a merge leaves free: an eighth.
	Leaves = 8
	// numParts is into how many parts all tokens are divided: by their first byte.
	numParts = 256
	// least is how many bytes must have been removed from a part to merge it, and worth bounds how
	// many times as many bytes are merged for that.
	least = 64 << 10
	worth = 8
	// tried is how many parts are considered at a time.
	tried = 16
)

// Config says what a Reclaimer works with. Its functions may be called from any goroutine.
type Config struct {
	FS  vfs.FS
	Dir string // of which the disk has the data
	Log *slog.Logger
	// Live returns how many bytes the keys of a slice of 2¹⁶ tokens take.
	Live func(slice uint16) int64
	// Reserve returns how many bytes of the disk are kept free.
	Reserve func() int64
	// IsNeeded reports whether the disk is short, and removals are accepted.
	IsNeeded func() bool
	// Flush writes out the memtables.
	Flush func() error
	// Look looks at the free space again; it calls Wake if the disk is still short.
	Look func()
	// Fatal is closed when Pebble has stopped for good, and Stop when the store is closed.
	Fatal, Stop <-chan struct{}
}

// A Reclaimer merges tables to free space. Any goroutine may call its methods.
type Reclaimer struct {
	cfg Config
	db  *pebble.DB
	// removed is what was removed from the data since it was merged last, in bytes for each part.
	removed [numParts]atomic.Int64
	wake    chan struct{} // has a value when the disk is found to be short
	// result is how many bytes the merge under way writes, at most, before it frees more.
	result atomic.Int64
}

// New returns a Reclaimer that does nothing before Run.
func New(cfg Config) *Reclaimer { return &Reclaimer{cfg: cfg, wake: make(chan struct{}, 1)} }

// Remove notes that so many bytes were removed from a slice of 2¹⁶ tokens.
func (r *Reclaimer) Remove(slice uint16, bytes int64) { r.removed[partOf(slice)].Add(bytes) }

// Wake says that the disk is short.
func (r *Reclaimer) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it has been said
	}
}

// Result is how many bytes the merge under way writes, at most, before it frees more.
func (r *Reclaimer) Result() int64 { return r.result.Load() }

func partOf(slice uint16) int { return int(slice) / (1 << 16 / numParts) }

// most returns the parts from which enough was removed, those with most first.
func (r *Reclaimer) most() (parts []int) {
	var removed [numParts]int64
	for i := range r.removed {
		if removed[i] = r.removed[i].Load(); removed[i] >= least {
			parts = append(parts, i)
		}
	}
	slices.SortFunc(parts, func(a, b int) int { return cmp.Compare(removed[b], removed[a]) })
	return parts
}

// Run merges parts while the disk is short, until the store is closed.
func (r *Reclaimer) Run(db *pebble.DB) {
	r.db = db
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	defer func() { <-ended }()
	defer cancel()
	go func() {
		defer close(ended)
		select {
		case <-r.cfg.Stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	estimated := false
	for {
		select {
		case <-r.cfg.Stop:
			return
		case <-r.cfg.Fatal:
			return
		case <-r.wake:
		}
		if !r.cfg.IsNeeded() {
			continue
		}
		if !estimated { // an earlier process may have removed something
			r.estimateRemoved()
			estimated = true
		}
		if err := r.reclaimMost(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Error("merging tables to free space failed", "err", err)
		}
	}
}

// estimateRemoved takes what the tables hold beyond what is counted for removed.
func (r *Reclaimer) estimateRemoved() {
	const slices = 1 << 16 / numParts
	for part := range numParts {
		lower, upper := partBounds(part)
		used, err := r.db.EstimateDiskUsage(lower, upper)
		if err != nil {
			return
		}
		live := int64(0)
		for slice := part * slices; slice < (part+1)*slices; slice++ {
			live += r.cfg.Live(uint16(slice))
		}
		r.removed[part].Add(max(int64(used)-live-r.removed[part].Load(), 0))
	}
}

// reclaimMost merges the tables of the part from which most was removed, of those where that
// is worth it and the result has room.
func (r *Reclaimer) reclaimMost(ctx context.Context) error {
	parts := r.most()
	for _, part := range parts[:min(len(parts), tried)] {
		m, err := r.mergeOf(part)
		if err != nil {
			return err
		}
		if m.removed < max(least, m.bytes/worth) {
			continue
		}
		usage, err := r.cfg.FS.GetDiskUsage(r.cfg.Dir)
		if err != nil {
			return fmt.Errorf("free space of %s: %w", r.cfg.Dir, err)
		}
		// The result is there beside the tables that it replaces, and leaves room to the log
		// and to other tables.
		result := m.bytes - min(m.removed, m.bytes)
		if usage.AvailBytes < uint64(result+r.cfg.Reserve()/Leaves) {
			continue
		}
		r.result.Store(result)
		err = r.merge(ctx, m)
		r.result.Store(0)
		r.cfg.Look()
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
func (r *Reclaimer) mergeOf(part int) (m tableMerge, err error) {
	m.lower, m.upper = partBounds(part)
	m.first, m.end = part, part+1
	levels, err := r.db.SSTables(pebble.WithKeyRangeFilter(m.lower, m.upper))
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
			for m.end < numParts && bytes.Compare(t.Largest.UserKey, m.upper) >= 0 {
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

var errStopped = errors.New("storage engine stopped")

// merge writes out the memtables, since removals in memory remove nothing from tables, and
// merges tables.
func (r *Reclaimer) merge(ctx context.Context, m tableMerge) error {
	for i := m.first; i < m.end; i++ {
		r.removed[i].Store(0) // a failed merge is not repeated at once
	}
	if err := r.cfg.Flush(); err != nil {
		return err
	}
	merged := make(chan error, 1)
	go func() { merged <- r.db.Compact(ctx, m.lower, m.upper, false) }()
	select {
	case err := <-merged:
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("merge tables: %w", err)
		}
		return ctx.Err()
	case <-r.cfg.Fatal: // a goroutine of Pebble's holds its locks for ever
		return errStopped
	}
}

// partBounds are the bounds of the data of a part, the second not included.
func partBounds(part int) (lower, upper []byte) {
	if part == numParts-1 {
		return []byte{layout.KindData, byte(part)}, []byte{layout.KindData + 1}
	}
	return []byte{layout.KindData, byte(part)}, []byte{layout.KindData, byte(part + 1)}
}
