package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/store/internal/counts"
)

// Stats are counts of a store, as of some moment during the call.
type Stats struct {
	Keys, Bytes, Expires int64
	Expired              int64 // keys removed because their time had come
	ExpiredFields        int64 // likewise fields of hashes
	Freed                int64 // removed values whose entries the housekeeper has deleted
	Commits              int64
	UnsyncedCommits      int64 // not known to be on stable storage
	CacheHits            int64
	CacheMisses          int64
	CacheBytes           int64
	CacheLines           int64
	CacheSize            int64
	Fsyncs               durations.Histogram
	LogBytes             int64
	WriteStalls          int64
	Pebble               *pebble.Metrics
}

// A Load is what a range holds.
type Load = counts.Load

// Keys returns how many keys there are; those that have expired but are not yet
// removed are counted, as Redis does.
func (ld *loads) Keys() int64 { return ld.s.counts.Total().Keys }

// DatabaseKeys is Keys of one database.
func (ld *loads) DatabaseKeys(database int) int64 { return ld.s.counts.TotalOf(database).Keys }

// Stats returns the counts.
func (s *Store) Stats() Stats {
	size, lines := s.cache.Usage()
	hits, misses := s.cache.Answers()
	log, total := s.wal.Stats(), s.counts.Total()
	return Stats{
		Keys: total.Keys, Bytes: total.Bytes, Expires: total.Expires,
		Expired: s.expirer.expired.Load(), ExpiredFields: s.expirer.expiredFields.Load(), Freed: s.housekeeper.freed.Load(), Commits: log.Commits,
		UnsyncedCommits: log.UnsyncedCommits,
		CacheHits:       hits, CacheMisses: misses,
		CacheBytes: size, CacheLines: lines, CacheSize: s.cache.Size(),
		Fsyncs:   log.Fsyncs,
		LogBytes: log.Bytes, WriteStalls: s.health.stalls.Load(),
		Pebble: s.health.engineMetrics(s.db.DB),
	}
}

// engineMetrics returns Pebble's own figures; none once it has stopped, for then
// the lock that they need is held for ever.
func (h *health) engineMetrics(db *pebble.DB) *pebble.Metrics {
	metrics := make(chan *pebble.Metrics, 1)
	go func() { metrics <- db.Metrics() }()
	select {
	case m := <-metrics:
		return m
	case <-h.fatal:
		return &pebble.Metrics{}
	}
}

// RangeSize returns the keys and bytes of all slices of 2¹⁶ tokens from first to
// last, both included.
func (ld *loads) RangeSize(first, last uint16) (keys, size int64) {
	for i := int(first); i <= int(last); i++ {
		l := ld.s.counts.Of(uint16(i))
		keys, size = keys+l.Keys, size+l.Bytes
	}
	return keys, size
}

// checkpointCounts writes all counts and removes the journal before them.
func (k *housekeeper) checkpointCounts() error {
	k.s.checkpoints.Lock()
	defer k.s.checkpoints.Unlock()
	b := k.s.db.NewBatch()
	defer func() { _ = b.Close() }()
	k.s.commits.Lock()
	k.s.counts.Checkpoint(b) // the term changes with checkpoints locked alone
	k.s.commits.Unlock()
	if err := k.s.writeRemovalNow(b); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	k.s.counts.JournalDropped()
	k.rangeTombstones.Add(1)
	return k.s.wal.Failed()
}

// cutLog has the next record begin a segment of the log, and returns its number. It writes all counts, since
// only the log may have the journal before. Whether writes are accepted does not matter to that.
func (k *housekeeper) cutLog() (before uint64, err error) {
	s := k.s
	s.checkpoints.Lock()
	defer s.checkpoints.Unlock()
	b := s.db.NewBatch()
	s.commits.Lock()
	defer s.commits.Unlock()
	before = s.wal.Cut()
	s.counts.Checkpoint(b)
	if err := s.logAndApply(b, nil); err != nil {
		return 0, fmt.Errorf("write counts: %w", err)
	}
	_ = b.Close()
	s.counts.JournalDropped()
	k.rangeTombstones.Add(1)
	return before, nil
}
