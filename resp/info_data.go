package resp

import (
	"fmt"
	"strings"
)

// infoPersistence describes the log in the words that Redis has for its append-only
// file, since it does the same: every write is in it before it is acknowledged.
// There are no snapshots; what is said of them is what tools take for healthy as
// long as writes can be made durable.
func infoPersistence(w *infoWriter) {
	st := w.store()
	status := "ok"
	if w.srv.store.Writable() != nil {
		status = "err"
	}
	w.line("loading", 0)
	w.line("async_loading", 0)
	w.line("current_cow_peak", 0)
	w.line("current_cow_size", 0)
	w.line("current_cow_size_age", 0)
	w.line("current_fork_perc", "0.00")
	w.line("current_save_keys_processed", 0)
	w.line("current_save_keys_total", 0)
	w.line("rdb_changes_since_last_save", st.UnsyncedCommits)
	w.line("rdb_bgsave_in_progress", 0)
	w.line("rdb_last_save_time", w.srv.store.LastSync().Unix())
	w.line("rdb_last_bgsave_status", status)
	w.line("rdb_last_bgsave_time_sec", -1)
	w.line("rdb_current_bgsave_time_sec", -1)
	w.line("rdb_saves", 0)
	w.line("rdb_last_cow_size", 0)
	w.line("rdb_last_load_keys_expired", 0)
	w.line("rdb_last_load_keys_loaded", 0)
	w.line("aof_enabled", 1)
	w.line("aof_rewrite_in_progress", 0)
	w.line("aof_rewrite_scheduled", 0)
	w.line("aof_last_rewrite_time_sec", -1)
	w.line("aof_current_rewrite_time_sec", -1)
	w.line("aof_last_bgrewrite_status", status)
	w.line("aof_rewrites", 0)
	w.line("aof_rewrites_consecutive_failures", 0)
	w.line("aof_last_write_status", status)
	w.line("aof_last_cow_size", 0)
	w.line("module_fork_in_progress", 0)
	w.line("module_fork_last_cow_size", 0)
	w.line("aof_current_size", st.Pebble.WAL.Size)
	w.line("aof_base_size", 0)
	w.line("aof_pending_rewrite", 0)
	w.line("aof_delayed_fsync", st.WriteStalls)
}

// infoRingside tells what no field of Redis' does.
func infoRingside(w *infoWriter) {
	s, st := w.srv, w.store()
	id := s.store.Identity()
	w.line("node_id", s.cfg.NodeID)
	w.line("strategy", id.Strategy)
	w.line("hash", id.Hash)
	w.line("fsync", s.store.Fsync())
	refusal := ""
	if err := s.store.Writable(); err != nil {
		refusal = strings.NewReplacer("\r", " ", "\n", " ").Replace(err.Error())
	}
	w.line("writes_refused", refusal)
	w.line("data_bytes", st.Bytes)
	w.line("disk_bytes", st.Pebble.DiskSpaceUsage())
	w.line("commits", st.Commits)
	w.line("log_bytes", st.LogBytes)
	w.line("fsyncs", st.Fsyncs)
	w.line("fsync_seconds", fmt.Sprintf("%.6f", st.FsyncSeconds))
	w.line("cache_size", st.CacheSize)
	w.line("cache_bytes", st.CacheBytes)
	w.line("cache_keys", st.CacheLines)
	w.line("cache_hits", st.CacheHits)
	w.line("cache_misses", st.CacheMisses)
	w.line("block_cache_bytes", st.Pebble.BlockCache.Size)
	w.line("block_cache_hits", st.Pebble.BlockCache.Hits)
	w.line("block_cache_misses", st.Pebble.BlockCache.Misses)
	w.line("flushes", st.Pebble.Flush.Count)
	w.line("compactions", st.Pebble.Compact.Count)
	w.line("compaction_debt_bytes", st.Pebble.Compact.EstimatedDebt)
	w.line("l0_files", st.Pebble.Levels[0].TablesCount)
	w.line("read_amplification", st.Pebble.ReadAmp())
	w.line("write_stalls", st.WriteStalls)
	w.line("client_memory", s.budget.inUse())
	w.line("client_memory_limit", s.settings.clientMemory.Load())
	w.line("unauthenticated_clients_closed", s.stats.unauthenticated.Load())
	w.line("slow_clients_closed", s.stats.outputLimit.Load())
	w.line("protocol_errors", s.stats.protocolErrors.Load())
}
