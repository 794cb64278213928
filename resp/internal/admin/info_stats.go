package admin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

func infoStats(w *Info) {
	s := w.srv.Stats
	kbps := func(bytes int64) string { return fmt.Sprintf("%.2f", float64(bytes)/1024) }
	w.Line("total_connections_received", s.Accepted.Load())
	w.Line("total_commands_processed", s.Total())
	w.Line("instantaneous_ops_per_sec", s.PerSecond.Load())
	w.Line("total_net_input_bytes", s.BytesIn.Load())
	w.Line("total_net_output_bytes", s.BytesOut.Load())
	w.Line("total_net_repl_input_bytes", 0)
	w.Line("total_net_repl_output_bytes", 0)
	w.Line("instantaneous_input_kbps", kbps(s.InRate.Load()))
	w.Line("instantaneous_output_kbps", kbps(s.OutRate.Load()))
	w.Line("instantaneous_input_repl_kbps", kbps(0))
	w.Line("instantaneous_output_repl_kbps", kbps(0))
	w.Line("rejected_connections", s.Refused.Load())
	replicas := w.srv.Source.Replicas()
	w.Line("sync_full", replicas.Full)
	w.Line("sync_partial_ok", replicas.Partial)
	w.Line("sync_partial_err", replicas.PartialErrors)
	w.Line("expired_keys", w.Store().Expired-s.ExpiredBefore.Load())
	w.Line("expired_subkeys", w.Store().ExpiredFields-s.ExpiredFieldsBefore.Load())
	w.Line("expired_stale_perc", "0.00")
	w.Line("expired_time_cap_reached_count", 0)
	w.Line("expire_cycle_cpu_milliseconds", 0)
	w.Line("evicted_keys", w.srv.Quota.Evicted()-s.EvictedBefore.Load())
	_, _, scripts := w.srv.Source.Scripts()
	w.Line("evicted_scripts", scripts-s.EvictedScriptsBefore.Load())
	w.Line("evicted_clients", s.Evicted.Load())
	w.Line("client_query_buffer_limit_disconnections", s.QueryLimit.Load())
	w.Line("client_output_buffer_limit_disconnections", s.OutputLimit.Load())
	w.Line("total_eviction_exceeded_time", 0)
	w.Line("current_eviction_exceeded_time", 0)
	w.Line("keyspace_hits", s.Hits.Load())
	w.Line("keyspace_misses", s.Misses.Load())
	channels, patterns, shards := w.srv.Source.Topics()
	w.Line("pubsub_channels", channels)
	w.Line("pubsub_patterns", patterns)
	w.Line("pubsubshard_channels", shards)
	w.Line("latest_fork_usec", 0)
	w.Line("total_forks", 0)
	w.Line("migrate_cached_sockets", 0)
	w.Line("slave_expires_tracked_keys", 0)
	w.Line("active_defrag_hits", 0)
	w.Line("active_defrag_misses", 0)
	w.Line("active_defrag_key_hits", 0)
	w.Line("active_defrag_key_misses", 0)
	w.Line("total_active_defrag_time", 0)
	w.Line("current_active_defrag_time", 0)
	_, keys, items, prefixes := w.srv.Source.Tracking()
	w.Line("tracking_total_keys", keys)
	w.Line("tracking_total_items", items)
	w.Line("tracking_total_prefixes", prefixes)
	for _, field := range [][2]string{{"auth", "auth"}, {"cmd", "command"}, {"key", "key"}, {"channel", "channel"}} {
		w.Line("acl_access_denied_"+field[0], w.srv.Users.Log.Denied(field[1]))
	}
	w.Line("unexpected_error_replies", 0)
	w.Line("total_error_replies", s.ErrorReplies.Load())
	for _, name := range []string{
		"dump_payload_sanitizations", "total_reads_processed", "total_writes_processed", "io_threaded_reads_processed",
		"io_threaded_writes_processed", "reply_buffer_shrinks", "reply_buffer_expands",
	} {
		w.Line(name, 0) // these are not counted
	}
}

func infoCommandStats(w *Info) {
	s := w.srv.Stats
	for _, cmd := range s.Table.All {
		c := &s.Commands[cmd.ID]
		calls, rejected := c.Calls.Load(), c.Rejected.Load()
		if calls == 0 && rejected == 0 {
			continue
		}
		usec := c.Nanos.Load() / int64(time.Microsecond)
		each := 0.0
		if calls > 0 {
			each = float64(c.Nanos.Load()) / float64(calls) / float64(time.Microsecond)
		}
		w.Line("cmdstat_"+cmd.Full, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, usec, each, rejected, c.Failed.Load()))
	}
}

func infoErrorStats(w *Info) {
	counts := w.srv.Stats.ErrorCounts()
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		w.Line("errorstat_"+code, fmt.Sprintf("count=%d", counts[code]))
	}
}

func infoLatencyStats(w *Info) {
	s := w.srv.Stats
	setting := func(name string) string { return w.srv.Config.Find([]byte(name)).Get() }
	if setting("latency-tracking") == "no" {
		return
	}
	percentiles := strings.Fields(setting("latency-tracking-info-percentiles"))
	for _, cmd := range s.Table.All {
		c := &s.Commands[cmd.ID]
		if c.Calls.Load() == 0 {
			continue
		}
		var values []string
		for _, text := range percentiles {
			p, _ := strconv.ParseFloat(text, 64) // which CONFIG SET has checked
			usec := float64(c.Percentile(p)) / float64(time.Microsecond)
			values = append(values, fmt.Sprintf("p%s=%.3f", text, usec))
		}
		w.Line("latency_percentiles_usec_"+cmd.Full, strings.Join(values, ","))
	}
}
