package resp

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

func infoStats(w *infoWriter) {
	s := w.srv.stats
	kbps := func(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1024) }
	w.line("total_connections_received", s.accepted.Load())
	w.line("total_commands_processed", s.total())
	w.line("instantaneous_ops_per_sec", s.perSecond.Load())
	w.line("total_net_input_bytes", s.bytesIn.Load())
	w.line("total_net_output_bytes", s.bytesOut.Load())
	w.line("total_net_repl_input_bytes", 0)
	w.line("total_net_repl_output_bytes", 0)
	w.line("instantaneous_input_kbps", kbps(s.inRate.Load()))
	w.line("instantaneous_output_kbps", kbps(s.outRate.Load()))
	w.line("instantaneous_input_repl_kbps", kbps(0))
	w.line("instantaneous_output_repl_kbps", kbps(0))
	w.line("rejected_connections", s.refused.Load())
	w.line("sync_full", 0)
	w.line("sync_partial_ok", 0)
	w.line("sync_partial_err", 0)
	w.line("expired_keys", w.store().Expired-s.expiredBefore.Load())
	w.line("expired_stale_perc", "0.00")
	w.line("expired_time_cap_reached_count", 0)
	w.line("expire_cycle_cpu_milliseconds", 0)
	w.line("evicted_keys", 0)
	w.line("evicted_clients", s.outputLimit.Load())
	w.line("total_eviction_exceeded_time", 0)
	w.line("current_eviction_exceeded_time", 0)
	w.line("keyspace_hits", s.hits.Load())
	w.line("keyspace_misses", s.misses.Load())
	w.line("pubsub_channels", w.srv.pubsub.topicsOf(subChannel))
	w.line("pubsub_patterns", w.srv.pubsub.topicsOf(subPattern))
	w.line("pubsubshard_channels", w.srv.pubsub.topicsOf(subShard))
	w.line("latest_fork_usec", 0)
	w.line("total_forks", 0)
	w.line("migrate_cached_sockets", 0)
	w.line("slave_expires_tracked_keys", 0)
	w.line("active_defrag_hits", 0)
	w.line("active_defrag_misses", 0)
	w.line("active_defrag_key_hits", 0)
	w.line("active_defrag_key_misses", 0)
	w.line("total_active_defrag_time", 0)
	w.line("current_active_defrag_time", 0)
	w.line("tracking_total_keys", 0)
	w.line("tracking_total_items", 0)
	w.line("tracking_total_prefixes", 0)
	w.line("unexpected_error_replies", 0)
	w.line("total_error_replies", s.errorReplies.Load())
	for _, name := range []string{
		"dump_payload_sanitizations", "total_reads_processed", "total_writes_processed", "io_threaded_reads_processed",
		"io_threaded_writes_processed", "reply_buffer_shrinks", "reply_buffer_expands",
	} {
		w.line(name, 0) // these are not counted
	}
}

func infoCommandStats(w *infoWriter) {
	s := w.srv.stats
	for _, cmd := range s.table.All {
		c := &s.commands[cmd.ID]
		calls, rejected := c.calls.Load(), c.rejected.Load()
		if calls == 0 && rejected == 0 {
			continue
		}
		usec := c.nanos.Load() / int64(time.Microsecond)
		each := 0.0
		if calls > 0 {
			each = float64(c.nanos.Load()) / float64(calls) / float64(time.Microsecond)
		}
		w.line("cmdstat_"+cmd.Full, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, usec, each, rejected, c.failed.Load()))
	}
}

func infoErrorStats(w *infoWriter) {
	counts := w.srv.stats.errorCounts()
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		w.line("errorstat_"+code, fmt.Sprintf("count=%d", counts[code]))
	}
}

func infoLatencyStats(w *infoWriter) {
	s := w.srv.stats
	for _, cmd := range s.table.All {
		c := &s.commands[cmd.ID]
		if c.calls.Load() == 0 {
			continue
		}
		usec := func(p float64) float64 { return float64(c.percentile(p)) / float64(time.Microsecond) }
		w.line("latency_percentiles_usec_"+cmd.Full, fmt.Sprintf("p50=%.3f,p99=%.3f,p99.9=%.3f", usec(50), usec(99), usec(99.9)))
	}
}

// percentile returns the duration that p per cent of the calls stayed below: the
// upper end of a bucket, so that it may be up to twice too large.
func (c *commandStats) percentile(p float64) time.Duration {
	var counts [latencyBuckets]int64
	var total int64
	for i := range counts {
		counts[i] = c.latency[i].Load()
		total += counts[i]
	}
	want := float64(total) * p / 100
	var below int64
	for i, n := range counts {
		below += n
		if float64(below) >= want {
			return latencyBound(i)
		}
	}
	return latencyBound(latencyBuckets - 1)
}
