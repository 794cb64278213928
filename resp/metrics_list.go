package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/report"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
)

// A sample is what metrics are taken from.
type sample struct {
	srv    *Server
	store  store.Stats
	moves  Moves
	load   status.Load
	memory int64
}

// A reporter passes the server's and the store's figures on. Histograms go another way: EachLatency.
type reporter = report.Reporter[*sample]

// sample takes all figures. It is called once a second, by one goroutine.
func (s *Server) sample(m *reporter) {
	s.stats.Rates()
	x := sample{srv: s, store: s.store.Stats(), moves: s.moves(), load: s.Load()}
	x.memory = admin.MemoryInUse(&x.store)
	s.admin.NoteMemory(x.memory)
	m.Report(&x, s.stats)
	for cause, n := range x.moves.Waiting {
		m.Tagged("handoffs_waiting", "cause", cause, int64(n), true)
	}
	for n := range s.cfg.Databases() {
		m.Database("database_bytes", n, s.store.ActiveBytesOf(s.policies().Data(n)))
	}
}

// serverMetrics are those of connections and commands.
func serverMetrics(m *reporter) {
	m.Gauge("connections", func(x *sample) float64 { return float64(x.srv.count.Load()) })
	m.Gauge("connections_waiting", func(x *sample) float64 { return float64(x.srv.stats.Waiting.Load()) })
	m.Gauge("client_memory_bytes", func(x *sample) float64 { return float64(x.srv.budget.inUse()) })
	m.Gauge("memory_used_bytes", func(x *sample) float64 { return float64(x.memory) })
	m.Count("connections_accepted_total", func(x *sample) int64 { return x.srv.stats.Accepted.Load() })
	m.Count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Refused.Load() - x.srv.stats.Protected.Load() }, "reason", "max_clients")
	m.Count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Protected.Load() }, "reason", "protected_mode")
	m.Count("auth_failures_total", func(x *sample) int64 { return x.srv.stats.ErrorCounts()["WRONGPASS"] })
	m.Count("connections_closed_unauthenticated_total", func(x *sample) int64 { return x.srv.stats.Unauthenticated.Load() })
	m.Count("connections_closed_slow_total", func(x *sample) int64 { return x.srv.stats.OutputLimit.Load() })
	m.Count("protocol_errors_total", func(x *sample) int64 { return x.srv.stats.ProtocolErrors.Load() })
	m.Count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesIn.Load() }, "direction", "in")
	m.Count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesOut.Load() }, "direction", "out")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Forwarded.Load() }, "result", "forwarded")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Redirected.Load() }, "result", "redirected")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.CrossSlot.Load() }, "result", "cross_slot")
	m.Count("requests_keys_apart_total", func(x *sample) int64 { return x.srv.stats.Apart.Load() })
	m.Count("requests_lease_lost_total", func(x *sample) int64 { return x.srv.stats.LeaseLost.Load() })
	m.Count("requests_not_mine_total", func(x *sample) int64 { return x.srv.stats.NotMine.Load() })
	m.Count("requests_late_total", func(x *sample) int64 { return x.srv.stats.Late.Load() })
	m.Gauge("load_operations_per_second", func(x *sample) float64 { return x.load.Ops })
	m.Gauge("load_bytes_per_second", func(x *sample) float64 { return x.load.Bytes })
	m.Gauge("load_hottest_range_operations_per_second", func(x *sample) float64 { return x.load.HottestRate.Ops })
	m.Gauge("load_hottest_range_bytes_per_second", func(x *sample) float64 { return x.load.HottestRate.Bytes })
	m.Count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Hits.Load() }, "result", "hit")
	m.Count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Misses.Load() }, "result", "miss")
}

// moveMetrics are those of the moving of data. They are of this node: what it has handed
// over, and what it is handing over.
func moveMetrics(m *reporter) {
	m.Gauge("handoffs_running", func(x *sample) float64 { return float64(x.moves.Running) })
	m.Gauge("handoffs_paused", func(x *sample) float64 { return float64(admin.Bit(x.moves.Paused)) })
	m.Gauge("handoffs_throttle_bytes_per_second", func(x *sample) float64 { return float64(x.moves.Throttle) })
	m.Gauge("pending_keys", func(x *sample) float64 { return float64(x.moves.PendingKeys) })
	m.Gauge("pending_bytes", func(x *sample) float64 { return float64(x.moves.PendingBytes) })
	m.Count("handoffs_total", func(x *sample) int64 { return x.moves.Done }, "result", "done")
	m.Count("handoffs_total", func(x *sample) int64 { return x.moves.Failed }, "result", "failed")
	m.Count("moved_ranges_total", func(x *sample) int64 { return x.moves.Ranges })
	m.Count("moved_keys_total", func(x *sample) int64 { return x.moves.Keys })
	m.Count("moved_bytes_total", func(x *sample) int64 { return x.moves.Bytes })
	m.Count("moved_traffic_bytes_total", func(x *sample) int64 { return x.moves.Traffic })
	m.Gauge("pending_items", func(x *sample) float64 { return float64(x.moves.Feeding.Pending) })
	m.Gauge("pending_items_seconds", func(x *sample) float64 { return x.moves.Feeding.PendingFor })
	m.Gauge("ranges_short_of_backups", func(x *sample) float64 { return float64(x.moves.Short) })
	m.Gauge("ranges_lost", func(x *sample) float64 { return float64(x.moves.Lost) })
	m.Count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Shrinks.Load() }, "result", "released")
	m.Count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Growths.Load() }, "result", "admitted")
	m.Count("held_microseconds_total", func(x *sample) int64 { return int64(x.moves.Held * 1e6) })
	leaseMetrics(m)
	scrubMetrics(m)
}

// storeMetrics are those of the store and of Pebble.
func storeMetrics(m *reporter) {
	m.Gauge("keys", func(x *sample) float64 { return float64(x.store.Keys) })
	m.Gauge("keys_with_expiry", func(x *sample) float64 { return float64(x.store.Expires) })
	m.Gauge("data_bytes", func(x *sample) float64 { return float64(x.store.Bytes) })
	m.Gauge("writes_refused", func(x *sample) float64 { return float64(admin.Bit(x.srv.store.Writable() != nil)) })
	m.Count("expired_keys_total", func(x *sample) int64 { return x.store.Expired })
	m.Count("evicted_keys_total", func(x *sample) int64 { return x.srv.quota.Evicted() })
	m.Count("commits_total", func(x *sample) int64 { return x.store.Commits })
	m.Gauge("cache_size_bytes", func(x *sample) float64 { return float64(x.store.CacheSize) })
	m.Gauge("cache_bytes", func(x *sample) float64 { return float64(x.store.CacheBytes) })
	m.Gauge("cache_keys", func(x *sample) float64 { return float64(x.store.CacheLines) })
	m.Count("cache_lookups_total", func(x *sample) int64 { return x.store.CacheHits }, "result", "hit")
	m.Count("cache_lookups_total", func(x *sample) int64 { return x.store.CacheMisses }, "result", "miss")
	m.Count("log_bytes_total", func(x *sample) int64 { return x.store.LogBytes })
	m.Count("log_fsyncs_total", func(x *sample) int64 { return x.store.Fsyncs })
	// tally counts in whole numbers only.
	m.Count("log_fsync_microseconds_total", func(x *sample) int64 { return int64(x.store.FsyncSeconds * 1e6) })

	m.Count("pebble_flushes_total", func(x *sample) int64 { return x.store.Pebble.Flush.Count })
	m.Count("pebble_compactions_total", func(x *sample) int64 { return x.store.Pebble.Compact.Count })
	m.Count("pebble_write_stalls_total", func(x *sample) int64 { return x.store.WriteStalls })
	m.Count("pebble_block_cache_lookups_total", func(x *sample) int64 { return x.store.Pebble.BlockCache.Hits }, "result", "hit")
	m.Count("pebble_block_cache_lookups_total", func(x *sample) int64 { return x.store.Pebble.BlockCache.Misses }, "result", "miss")
	m.Gauge("pebble_block_cache_bytes", func(x *sample) float64 { return float64(x.store.Pebble.BlockCache.Size) })
	m.Gauge("pebble_memtable_bytes", func(x *sample) float64 { return float64(x.store.Pebble.MemTable.Size) })
	m.Gauge("pebble_compaction_debt_bytes", func(x *sample) float64 { return float64(x.store.Pebble.Compact.EstimatedDebt) })
	m.Gauge("pebble_disk_bytes", func(x *sample) float64 { return float64(x.store.Pebble.DiskSpaceUsage()) })
	m.Gauge("pebble_log_files", func(x *sample) float64 { return float64(x.store.Pebble.WAL.Files) })
	m.Gauge("pebble_log_bytes", func(x *sample) float64 { return float64(x.store.Pebble.WAL.Size) })
	m.Gauge("pebble_l0_files", func(x *sample) float64 { return float64(x.store.Pebble.Levels[0].TablesCount) })
	m.Gauge("pebble_l0_sublevels", func(x *sample) float64 { return float64(x.store.Pebble.Levels[0].Sublevels) })
	m.Gauge("pebble_read_amplification", func(x *sample) float64 { return float64(x.store.Pebble.ReadAmp()) })
}
