package store

import "github.com/cockroachdb/pebble/v2"

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

// Keys returns how many keys there are; those that have expired but are not yet
// removed are counted, as Redis does.
func (s *Store) Keys() int64 { return s.counts.keys.Load() }

// Stats returns the counts.
func (s *Store) Stats() Stats {
	size, lines := s.cache.Usage()
	hits, misses := s.cache.Answers()
	return Stats{
		Keys: s.counts.keys.Load(), Bytes: s.counts.bytes.Load(), Expires: s.counts.expires.Load(),
		Expired: s.expired.Load(), Commits: s.wal.commits.Load(),
		UnsyncedCommits: s.wal.unsyncedCommits(),
		CacheHits:       hits, CacheMisses: misses,
		CacheBytes: size, CacheLines: lines, CacheSize: s.cache.Size(),
		Fsyncs: s.wal.syncs.Load(), FsyncSeconds: float64(s.wal.syncNanos.Load()) / 1e9,
		LogBytes: s.wal.written.Load(), WriteStalls: s.stalls.Load(),
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
		keys += s.counts.slices[i].keys.Load()
		size += s.counts.slices[i].bytes.Load()
	}
	return keys, size
}
