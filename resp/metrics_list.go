package resp

import "github.com/ringside-kv/ringside/resp/internal/admin"

// serverMetrics are those of connections and commands.
func (m *reporter) serverMetrics() {
	m.gauge("connections", func(x *sample) float64 { return float64(x.srv.count.Load()) })
	m.gauge("connections_waiting", func(x *sample) float64 { return float64(x.srv.stats.Waiting.Load()) })
	m.gauge("client_memory_bytes", func(x *sample) float64 { return float64(x.srv.budget.inUse()) })
	m.gauge("memory_used_bytes", func(x *sample) float64 { return float64(x.memory) })
	m.count("connections_accepted_total", func(x *sample) int64 { return x.srv.stats.Accepted.Load() })
	m.count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Refused.Load() - x.srv.stats.Protected.Load() }, "reason", "max_clients")
	m.count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Protected.Load() }, "reason", "protected_mode")
	m.count("auth_failures_total", func(x *sample) int64 { return x.srv.stats.ErrorCounts()["WRONGPASS"] })
	m.count("connections_closed_unauthenticated_total", func(x *sample) int64 { return x.srv.stats.Unauthenticated.Load() })
	m.count("connections_closed_slow_total", func(x *sample) int64 { return x.srv.stats.OutputLimit.Load() })
	m.count("protocol_errors_total", func(x *sample) int64 { return x.srv.stats.ProtocolErrors.Load() })
	m.count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesIn.Load() }, "direction", "in")
	m.count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesOut.Load() }, "direction", "out")
	m.count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Forwarded.Load() }, "result", "forwarded")
	m.count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Redirected.Load() }, "result", "redirected")
	m.count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.CrossSlot.Load() }, "result", "cross_slot")
	m.count("requests_keys_apart_total", func(x *sample) int64 { return x.srv.stats.Apart.Load() })
	m.count("requests_lease_lost_total", func(x *sample) int64 { return x.srv.stats.LeaseLost.Load() })
	m.count("requests_not_mine_total", func(x *sample) int64 { return x.srv.stats.NotMine.Load() })
	m.count("requests_late_total", func(x *sample) int64 { return x.srv.stats.Late.Load() })
	m.gauge("load_operations_per_second", func(x *sample) float64 { return x.load.Ops })
	m.gauge("load_bytes_per_second", func(x *sample) float64 { return x.load.Bytes })
	m.gauge("load_hottest_range_operations_per_second", func(x *sample) float64 { return x.load.HottestRate.Ops })
	m.gauge("load_hottest_range_bytes_per_second", func(x *sample) float64 { return x.load.HottestRate.Bytes })
	m.count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Hits.Load() }, "result", "hit")
	m.count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Misses.Load() }, "result", "miss")
}

// moveMetrics are those of the moving of data. They are of this node: what it has handed
// over, and what it is handing over.
func (m *reporter) moveMetrics() {
	m.gauge("handoffs_running", func(x *sample) float64 { return float64(x.moves.Running) })
	m.gauge("handoffs_paused", func(x *sample) float64 { return float64(admin.Bit(x.moves.Paused)) })
	m.gauge("handoffs_throttle_bytes_per_second", func(x *sample) float64 { return float64(x.moves.Throttle) })
	m.gauge("pending_keys", func(x *sample) float64 { return float64(x.moves.PendingKeys) })
	m.gauge("pending_bytes", func(x *sample) float64 { return float64(x.moves.PendingBytes) })
	m.count("handoffs_total", func(x *sample) int64 { return x.moves.Done }, "result", "done")
	m.count("handoffs_total", func(x *sample) int64 { return x.moves.Failed }, "result", "failed")
	m.count("moved_ranges_total", func(x *sample) int64 { return x.moves.Ranges })
	m.count("moved_keys_total", func(x *sample) int64 { return x.moves.Keys })
	m.count("moved_bytes_total", func(x *sample) int64 { return x.moves.Bytes })
	m.count("moved_traffic_bytes_total", func(x *sample) int64 { return x.moves.Traffic })
	m.gauge("pending_items", func(x *sample) float64 { return float64(x.moves.Feeding.Pending) })
	m.gauge("pending_items_seconds", func(x *sample) float64 { return x.moves.Feeding.PendingFor })
	m.gauge("ranges_short_of_backups", func(x *sample) float64 { return float64(x.moves.Short) })
	m.gauge("ranges_lost", func(x *sample) float64 { return float64(x.moves.Lost) })
	m.count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Shrinks.Load() }, "result", "released")
	m.count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Growths.Load() }, "result", "admitted")
	m.count("held_microseconds_total", func(x *sample) int64 { return int64(x.moves.Held * 1e6) })
	m.leaseMetrics()
	m.scrubMetrics()
}

// storeMetrics are those of the store and of Pebble.
func (m *reporter) storeMetrics() {
	m.gauge("keys", func(x *sample) float64 { return float64(x.store.Keys) })
	m.gauge("keys_with_expiry", func(x *sample) float64 { return float64(x.store.Expires) })
	m.gauge("data_bytes", func(x *sample) float64 { return float64(x.store.Bytes) })
	m.gauge("writes_refused", func(x *sample) float64 { return float64(admin.Bit(x.srv.store.Writable() != nil)) })
	m.count("expired_keys_total", func(x *sample) int64 { return x.store.Expired })
	m.count("evicted_keys_total", func(x *sample) int64 { return x.srv.quota.Evicted() })
	m.count("commits_total", func(x *sample) int64 { return x.store.Commits })
	m.gauge("cache_size_bytes", func(x *sample) float64 { return float64(x.store.CacheSize) })
	m.gauge("cache_bytes", func(x *sample) float64 { return float64(x.store.CacheBytes) })
	m.gauge("cache_keys", func(x *sample) float64 { return float64(x.store.CacheLines) })
	m.count("cache_lookups_total", func(x *sample) int64 { return x.store.CacheHits }, "result", "hit")
	m.count("cache_lookups_total", func(x *sample) int64 { return x.store.CacheMisses }, "result", "miss")
	m.count("log_bytes_total", func(x *sample) int64 { return x.store.LogBytes })
	m.count("log_fsyncs_total", func(x *sample) int64 { return x.store.Fsyncs })
	// tally counts in whole numbers only.
	m.count("log_fsync_microseconds_total", func(x *sample) int64 { return int64(x.store.FsyncSeconds * 1e6) })

	m.count("pebble_flushes_total", func(x *sample) int64 { return x.store.Pebble.Flush.Count })
	m.count("pebble_compactions_total", func(x *sample) int64 { return x.store.Pebble.Compact.Count })
	m.count("pebble_write_stalls_total", func(x *sample) int64 { return x.store.WriteStalls })
	m.count("pebble_block_cache_lookups_total", func(x *sample) int64 { return x.store.Pebble.BlockCache.Hits }, "result", "hit")
	m.count("pebble_block_cache_lookups_total", func(x *sample) int64 { return x.store.Pebble.BlockCache.Misses }, "result", "miss")
	m.gauge("pebble_block_cache_bytes", func(x *sample) float64 { return float64(x.store.Pebble.BlockCache.Size) })
	m.gauge("pebble_memtable_bytes", func(x *sample) float64 { return float64(x.store.Pebble.MemTable.Size) })
	m.gauge("pebble_compaction_debt_bytes", func(x *sample) float64 { return float64(x.store.Pebble.Compact.EstimatedDebt) })
	m.gauge("pebble_disk_bytes", func(x *sample) float64 { return float64(x.store.Pebble.DiskSpaceUsage()) })
	m.gauge("pebble_log_files", func(x *sample) float64 { return float64(x.store.Pebble.WAL.Files) })
	m.gauge("pebble_log_bytes", func(x *sample) float64 { return float64(x.store.Pebble.WAL.Size) })
	m.gauge("pebble_l0_files", func(x *sample) float64 { return float64(x.store.Pebble.Levels[0].TablesCount) })
	m.gauge("pebble_l0_sublevels", func(x *sample) float64 { return float64(x.store.Pebble.Levels[0].Sublevels) })
	m.gauge("pebble_read_amplification", func(x *sample) float64 { return float64(x.store.Pebble.ReadAmp()) })
}
