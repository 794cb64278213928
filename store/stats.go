package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/counts"
)

// Stats are counts of a store, as of some moment during the call.
type Stats struct {
	Keys, Bytes, Expires int64
	Expired              int64 // keys removed because their time had come
	Commits              int64
	UnsyncedCommits      int64 // not known to be on stable storage
	CacheHits            int64
	CacheMisses          int64
	CacheBytes           int64
	CacheLines           int64
	CacheSize            int64
	Fsyncs               int64
	FsyncSeconds         float64
	LogBytes             int64
	WriteStalls          int64
	Pebble               *pebble.Metrics
}

// A Load is what a range holds.
type Load = counts.Load

// Keys returns how many keys there are; those that have expired but are not yet
// removed are counted, as Redis does.
func (s *Store) Keys() int64 { return s.counts.Total().Keys }

// Stats returns the counts.
func (s *Store) Stats() Stats {
	size, lines := s.cache.Usage()
	hits, misses := s.cache.Answers()
	log, total := s.wal.Stats(), s.counts.Total()
	return Stats{
		Keys: total.Keys, Bytes: total.Bytes, Expires: total.Expires,
		Expired: s.expired.Load(), Commits: log.Commits,
		UnsyncedCommits: log.UnsyncedCommits,
		CacheHits:       hits, CacheMisses: misses,
		CacheBytes: size, CacheLines: lines, CacheSize: s.cache.Size(),
		Fsyncs: log.Fsyncs, FsyncSeconds: log.FsyncTime.Seconds(),
		LogBytes: log.Bytes, WriteStalls: s.stalls.Load(),
		Pebble: s.engineMetrics(),
	}
}

// engineMetrics returns Pebble's own figures; none once it has stopped, for then
// somebody holds for ever the lock that they need.
func (s *Store) engineMetrics() *pebble.Metrics {
	metrics := make(chan *pebble.Metrics, 1)
	go func() { metrics <- s.db.Metrics() }()
	select {
	case m := <-metrics:
		return m
	case <-s.fatal:
		return &pebble.Metrics{}
	}
}

// RangeSize returns the keys and bytes of all slices of 2¹⁶ tokens from first to
// last, both included.
func (s *Store) RangeSize(first, last uint16) (keys, size int64) {
	for i := int(first); i <= int(last); i++ {
		l := s.counts.Of(uint16(i))
		keys, size = keys+l.Keys, size+l.Bytes
	}
	return keys, size
}

// checkpointCounts writes all counts and removes the journal before them.
func (s *Store) checkpointCounts() error {
	s.checkpoints.Lock()
	defer s.checkpoints.Unlock()
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	s.commits.Lock()
	s.counts.Checkpoint(b) // the term changes with checkpoints locked alone
	s.commits.Unlock()
	if err := s.writeRemoval(b, pebble.Sync); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	s.counts.JournalDropped()
	s.rangeTombstones.Add(1)
	return s.wal.Failed()
}
