package report

import "github.com/ringside-kv/ringside/store"

// Store lists the metrics of the store and of Pebble.
func Store[X any](m *Reporter[X], of func(X) *store.Stats) {
	m.Gauge("keys", func(x X) float64 { return float64(of(x).Keys) })
	m.Gauge("keys_with_expiry", func(x X) float64 { return float64(of(x).Expires) })
	m.Gauge("data_bytes", func(x X) float64 { return float64(of(x).Bytes) })
	m.Count("expired_keys_total", func(x X) int64 { return of(x).Expired })
	m.Count("commits_total", func(x X) int64 { return of(x).Commits })
	m.Gauge("cache_size_bytes", func(x X) float64 { return float64(of(x).CacheSize) })
	m.Gauge("cache_bytes", func(x X) float64 { return float64(of(x).CacheBytes) })
	m.Gauge("cache_keys", func(x X) float64 { return float64(of(x).CacheLines) })
	m.Count("cache_lookups_total", func(x X) int64 { return of(x).CacheHits }, "result", "hit")
	m.Count("cache_lookups_total", func(x X) int64 { return of(x).CacheMisses }, "result", "miss")
	m.Count("log_bytes_total", func(x X) int64 { return of(x).LogBytes })
	m.Count("log_fsyncs_total", func(x X) int64 { return int64(of(x).Fsyncs.Count) })
	// tally counts in whole numbers only.
	m.Count("log_fsync_microseconds_total", func(x X) int64 { return int64(of(x).Fsyncs.Sum * 1e6) })

	m.Count("pebble_flushes_total", func(x X) int64 { return of(x).Pebble.Flush.Count })
	m.Count("pebble_compactions_total", func(x X) int64 { return of(x).Pebble.Compact.Count })
	m.Count("pebble_write_stalls_total", func(x X) int64 { return of(x).WriteStalls })
	m.Count("pebble_block_cache_lookups_total", func(x X) int64 { return of(x).Pebble.BlockCache.Hits }, "result", "hit")
	m.Count("pebble_block_cache_lookups_total", func(x X) int64 { return of(x).Pebble.BlockCache.Misses }, "result", "miss")
	m.Gauge("pebble_block_cache_bytes", func(x X) float64 { return float64(of(x).Pebble.BlockCache.Size) })
	m.Gauge("pebble_memtable_bytes", func(x X) float64 { return float64(of(x).Pebble.MemTable.Size) })
	m.Gauge("pebble_compaction_debt_bytes", func(x X) float64 { return float64(of(x).Pebble.Compact.EstimatedDebt) })
	m.Gauge("pebble_disk_bytes", func(x X) float64 { return float64(of(x).Pebble.DiskSpaceUsage()) })
	m.Gauge("pebble_log_files", func(x X) float64 { return float64(of(x).Pebble.WAL.Files) })
	m.Gauge("pebble_log_bytes", func(x X) float64 { return float64(of(x).Pebble.WAL.Size) })
	m.Gauge("pebble_l0_files", func(x X) float64 { return float64(of(x).Pebble.Levels[0].TablesCount) })
	m.Gauge("pebble_l0_sublevels", func(x X) float64 { return float64(of(x).Pebble.Levels[0].Sublevels) })
	m.Gauge("pebble_read_amplification", func(x X) float64 { return float64(of(x).Pebble.ReadAmp()) })
}
