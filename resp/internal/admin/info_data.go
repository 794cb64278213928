package admin

import (
	"fmt"
	"strings"
)

// infoPersistence describes the log in the words that Redis has for its append-only
// file, since it does the same: every write is in it before it is acknowledged.
// There are no snapshots; what is said of them is what tools take for healthy as
// long as writes can be made durable.
func infoPersistence(w *Info) {
	st := w.Store()
	status := "ok"
	if w.srv.Store.Writable() != nil {
		status = "err"
	}
	w.Line("loading", 0)
	w.Line("async_loading", 0)
	w.Line("current_cow_peak", 0)
	w.Line("current_cow_size", 0)
	w.Line("current_cow_size_age", 0)
	w.Line("current_fork_perc", "0.00")
	w.Line("current_save_keys_processed", 0)
	w.Line("current_save_keys_total", 0)
	w.Line("rdb_changes_since_last_save", st.UnsyncedCommits)
	w.Line("rdb_bgsave_in_progress", 0)
	w.Line("rdb_last_save_time", w.srv.Store.LastSync().Unix())
	w.Line("rdb_last_bgsave_status", status)
	w.Line("rdb_last_bgsave_time_sec", -1)
	w.Line("rdb_current_bgsave_time_sec", -1)
	w.Line("rdb_saves", 0)
	w.Line("rdb_last_cow_size", 0)
	w.Line("rdb_last_load_keys_expired", 0)
	w.Line("rdb_last_load_keys_loaded", 0)
	w.Line("aof_enabled", 1)
	w.Line("aof_rewrite_in_progress", 0)
	w.Line("aof_rewrite_scheduled", 0)
	w.Line("aof_last_rewrite_time_sec", -1)
	w.Line("aof_current_rewrite_time_sec", -1)
	w.Line("aof_last_bgrewrite_status", status)
	w.Line("aof_rewrites", 0)
	w.Line("aof_rewrites_consecutive_failures", 0)
	w.Line("aof_last_write_status", status)
	w.Line("aof_last_cow_size", 0)
	w.Line("module_fork_in_progress", 0)
	w.Line("module_fork_last_cow_size", 0)
	w.Line("aof_current_size", st.Pebble.WAL.Size)
	w.Line("aof_base_size", 0)
	w.Line("aof_pending_rewrite", 0)
	w.Line("aof_delayed_fsync", st.WriteStalls)
}

// infoRingside tells what no field of Redis' does.
func infoRingside(w *Info) {
	s, st := w.srv, w.Store()
	id := s.Store.Identity()
	w.Line("node_id", s.NodeID)
	w.Line("strategy", s.Source.Strategy())
	w.Line("founding_strategy", id.Strategy)
	w.Line("hash", id.Hash)
	w.Line("fsync", s.Store.Fsync())
	refusal := ""
	if err := s.Store.Writable(); err != nil {
		refusal = strings.NewReplacer("\r", " ", "\n", " ").Replace(err.Error())
	}
	w.Line("writes_refused", refusal)
	w.Line("data_bytes", st.Bytes)
	w.Line("disk_bytes", st.Pebble.DiskSpaceUsage())
	w.Line("commits", st.Commits)
	w.Line("log_bytes", st.LogBytes)
	w.Line("fsyncs", st.Fsyncs.Count)
	w.Line("fsync_seconds", fmt.Sprintf("%.6f", st.Fsyncs.Sum))
	w.Line("cache_size", st.CacheSize)
	w.Line("cache_bytes", st.CacheBytes)
	w.Line("cache_keys", st.CacheLines)
	w.Line("cache_hits", st.CacheHits)
	w.Line("cache_misses", st.CacheMisses)
	w.Line("block_cache_bytes", st.Pebble.BlockCache.Size)
	w.Line("block_cache_hits", st.Pebble.BlockCache.Hits)
	w.Line("block_cache_misses", st.Pebble.BlockCache.Misses)
	w.Line("flushes", st.Pebble.Flush.Count)
	w.Line("compactions", st.Pebble.Compact.Count)
	w.Line("compaction_debt_bytes", st.Pebble.Compact.EstimatedDebt)
	w.Line("l0_files", st.Pebble.Levels[0].TablesCount)
	w.Line("read_amplification", st.Pebble.ReadAmp())
	w.Line("write_stalls", st.WriteStalls)
	w.Line("client_memory", s.Source.ClientMemory())
	w.Line("client_memory_limit", s.Settings.ClientMemory.Load())
	w.Line("unauthenticated_clients_closed", s.Stats.Unauthenticated.Load())
	w.Line("slow_clients_closed", s.Stats.SlowClosed())
	w.Line("protocol_errors", s.Stats.ProtocolErrors.Load())
	o := s.Source.Replicas()
	w.Line("replicas_pending_keys", o.Pending)
	w.Line("replicas_behind_bytes", o.Behind())
	w.Line("replicas_values_skipped", o.Skipped)
	w.Line("replicas_module_values", o.Modules)
	w.Line("replicas_closed", o.Closed)
}
