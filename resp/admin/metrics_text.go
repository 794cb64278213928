package admin

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// describedGatherer gives families that come from tally their help texts. Tally counts in whole
// numbers, so counters of microseconds become counters of seconds, the unit of Prometheus.
type describedGatherer struct{ under prometheus.Gatherer }

const microseconds = "_microseconds_total"

// Gather implements prometheus.Gatherer.
func (g describedGatherer) Gather() ([]*dto.MetricFamily, error) {
	families, err := g.under.Gather()
	for _, f := range families {
		if name, ok := strings.CutSuffix(f.GetName(), microseconds); ok && f.GetType() == dto.MetricType_COUNTER {
			name += "_seconds_total"
			f.Name = &name
			for _, m := range f.GetMetric() {
				seconds := m.GetCounter().GetValue() / 1e6
				m.Counter.Value = &seconds
			}
		}
		if text, ok := helpTexts[f.GetName()]; ok {
			f.Help = &text
		}
	}
	return families, err
}

// helpTexts are those of families by name. Every family that a node reports through a scope is here.
var helpTexts = map[string]string{
	"ringside_auth_failures_total":                      "Attempts of clients to log in with a wrong name or password.",
	"ringside_backups_changed_total":                    "Changes of backups in sync of ranges served here: released because they did not answer, or admitted again.",
	"ringside_bus_accepted_total":                       "Connections between nodes that this node accepted, after their handshake.",
	"ringside_bus_connections":                          "Open connections between nodes, those in their handshake included.",
	"ringside_bus_dialled_total":                        "Connections between nodes that this node made.",
	"ringside_bus_evicted_total":                        "Connections closed in their handshake to make room for others.",
	"ringside_bus_garbage_total":                        "Connections to the port for nodes that ended without a handshake.",
	"ringside_bus_plain_total":                          "Connections between nodes without TLS, while this node has a certificate and cluster-tls is prefer.",
	"ringside_bus_refused_total":                        "Handshakes between nodes that were refused, by reason: tls, key, cluster, …",
	"ringside_cache_bytes":                              "Bytes in use in the cache of hot values.",
	"ringside_cache_keys":                               "Keys in the cache of hot values.",
	"ringside_cache_lookups_total":                      "Lookups in the cache of hot values, by result.",
	"ringside_cache_size_bytes":                         "Size of the cache of hot values (cache).",
	"ringside_client_memory_bytes":                      "Memory of requests and replies in flight; client-memory is its limit.",
	"ringside_clock_offset_seconds":                     "Difference of this node's clock to that of the leader.",
	"ringside_clock_skewed":                             "1 while the clock differs so much that keys expire at the wrong time, else 0.",
	"ringside_commands_total":                           "Commands of clients by name and result; rejected commands did not run.",
	"ringside_commits_total":                            "Batches of changes written to the log.",
	"ringside_connections":                              "Open connections of clients.",
	"ringside_connections_accepted_total":               "Connections accepted.",
	"ringside_connections_closed_slow_total":            "Connections closed because the client did not read its replies, or did not send the rest of a large request.",
	"ringside_connections_closed_unauthenticated_total": "Connections closed because the client did not log in in time, or to make room.",
	"ringside_connections_refused_total":                "Connections refused, by reason: max_clients or protected_mode.",
	"ringside_connections_waiting":                      "Connections whose command waits, such as BLPOP.",
	"ringside_damaged_ranges_total":                     "Ranges found damaged on this node's disk, by result.",
	"ringside_data_bytes":                               "Bytes of all keys and values here, those of backups included.",
	"ringside_database_bytes":                           "Bytes of the keys of a database of which this node is the primary.",
	"ringside_errors_total":                             "Error replies by their first word, such as OOM, NOREPLICAS or CLUSTERDOWN.",
	"ringside_replicas":                                 "Replicas of Redis and Valkey that follow through this node.",
	"ringside_primary_link_down":                        "1 while this node copies from the server that REPLICAOF named, and the copy does not follow.",
	"ringside_primary_behind_seconds":                   "For how long the oldest change of that server waits that was not copied yet.",
	"ringside_primary_keys_not_copied":                  "Keys of that server with values that this store cannot hold.",
	"ringside_replica_pending_keys":                     "Changed keys that were not sent to replicas of Redis yet.",
	"ringside_replica_behind_bytes":                     "Bytes of commands that the slowest replica of Redis was not sent yet.",
	"ringside_evicted_keys_total":                       "Keys evicted because the data came near max-data.",
	"ringside_expired_keys_total":                       "Keys removed because their time was over.",
	"ringside_failover_ranges_total":                    "Ranges that this node, as the leader, gave to a backup of a failed primary.",
	"ringside_failovers_total":                          "Nodes that this node, as the leader, failed over.",
	"ringside_handoffs_paused":                          "1 while RING PAUSE holds the moving of data, else 0.",
	"ringside_handoffs_running":                         "Handoffs of ranges from this node that are running.",
	"ringside_handoffs_throttle_bytes_per_second":       "Limit of the moving of data (RING THROTTLE); 0 is none.",
	"ringside_handoffs_total":                           "Handoffs of ranges from this node that ended, by result.",
	"ringside_handoffs_waiting":                         "Handoffs of ranges from this node that wait, by cause.",
	"ringside_held_seconds_total":                       "Time for which ranges were held during cutovers.",
	"ringside_key_lookups_total":                        "Keys looked up by read commands, by result.",
	"ringside_keys":                                     "Keys here, those of backups included.",
	"ringside_keys_with_expiry":                         "Keys here that expire.",
	"ringside_lease_answers_total":                      "Requests for a lease that this node answered as a voter, by result.",
	"ringside_lease_lapses_total":                       "Times that the lease of this node was over before it was renewed.",
	"ringside_lease_left_seconds":                       "Time for which the lease of this node still holds.",
	"ringside_lease_requests_total":                     "Requests of this node for a lease, by result.",
	"ringside_lease_valid":                              "1 while this node may answer for its ranges, else 0.",
	"ringside_load_bytes_per_second":                    "Bytes of requests and replies of the ranges that this node serves.",
	"ringside_load_hottest_range_bytes_per_second":      "Bytes of requests and replies of the busiest range that this node serves.",
	"ringside_load_hottest_range_operations_per_second": "Operations on the busiest range that this node serves.",
	"ringside_load_operations_per_second":               "Operations on the ranges that this node serves.",
	"ringside_log_bytes_total":                          "Bytes written to the log.",
	"ringside_log_fsync_seconds_total":                  "Time that fsyncs of the log took.",
	"ringside_log_fsyncs_total":                         "Fsyncs of the log.",
	"ringside_memory_used_bytes":                        "Memory of the heap, the caches and the memtables, INFO's used_memory.",
	"ringside_moved_bytes_total":                        "Bytes of keys and values that this node handed over.",
	"ringside_moved_keys_total":                         "Keys that this node handed over.",
	"ringside_moved_ranges_total":                       "Ranges that this node handed over.",
	"ringside_moved_traffic_bytes_total":                "Bytes that this node sent in handoffs.",
	"ringside_network_bytes_total":                      "Bytes read from and written to clients, by direction.",
	"ringside_trace_spans_total":                        "Spans of traces, by result: sent, dropped (the queue was full) or failed (the collector did not take them).",
	"ringside_pebble_block_cache_bytes":                 "Bytes in use in Pebble's cache of blocks (block-cache).",
	"ringside_pebble_block_cache_lookups_total":         "Lookups in Pebble's cache of blocks, by result.",
	"ringside_pebble_compaction_debt_bytes":             "Bytes that Pebble has still to compact, estimated.",
	"ringside_pebble_compactions_total":                 "Compactions of Pebble.",
	"ringside_pebble_disk_bytes":                        "Bytes of Pebble's files on disk.",
	"ringside_pebble_flushes_total":                     "Memtables that Pebble wrote to tables.",
	"ringside_pebble_l0_files":                          "Tables in Pebble's level 0.",
	"ringside_pebble_l0_sublevels":                      "Sublevels of Pebble's level 0; many of them stall writes.",
	"ringside_pebble_log_bytes":                         "Bytes of Pebble's live log files.",
	"ringside_pebble_log_files":                         "Pebble's live log files.",
	"ringside_pebble_memtable_bytes":                    "Bytes of Pebble's memtables.",
	"ringside_pebble_read_amplification":                "Tables and sublevels that a read may have to look at.",
	"ringside_pebble_write_stalls_total":                "Times that Pebble made writes wait.",
	"ringside_pending_bytes":                            "Bytes that this node has still to hand over.",
	"ringside_pending_items":                            "Changes that backups have not acknowledged.",
	"ringside_pending_items_seconds":                    "Age of the oldest change that a backup has not acknowledged.",
	"ringside_pending_keys":                             "Keys that this node has still to hand over.",
	"ringside_protocol_errors_total":                    "Connections closed because the input was not of the Redis protocol.",
	"ringside_ranges_damaged":                           "Ranges here that the disk has damaged and that are not repaired.",
	"ringside_ranges_lost":                              "Ranges of the cluster that no running node has a copy of.",
	"ringside_ranges_short_of_backups":                  "Ranges served here that have fewer backups in sync than wanted.",
	"ringside_requests_elsewhere_total":                 "Requests for keys of other nodes: forwarded, redirected, or refused because their keys have different owners.",
	"ringside_requests_keys_apart_total":                "Commands on several keys that only work because one node has all of them.",
	"ringside_requests_late_total":                      "Forwarded requests that came when their client no longer waited.",
	"ringside_requests_lease_lost_total":                "Requests whose outcome is unknown because the lease was over.",
	"ringside_requests_not_mine_total":                  "Forwarded requests sent back because this node does not serve their keys.",
	"ringside_scrub_backups_total":                      "Copies of backups compared, by result.",
	"ringside_scrub_never_ranges":                       "Ranges served here that were never compared with their backups.",
	"ringside_scrub_oldest_seconds":                     "Time since the oldest comparison of a range served here.",
	"ringside_scrub_ranges_total":                       "Ranges compared with their backups, by result.",
	"ringside_scrub_repairing":                          "Ranges that are being repaired.",
	"ringside_scrub_round_ranges":                       "Ranges of the running round of comparisons.",
	"ringside_scrub_round_ranges_done":                  "Ranges that the running round of comparisons has done.",
	"ringside_scrub_rounds_total":                       "Rounds of comparisons that ended.",
	"ringside_scrub_running":                            "1 while ranges are compared, else 0.",
	"ringside_scrub_undecided_total":                    "Comparisons that ended without a result.",
	"ringside_writes_refused":                           "1 while this node refuses writes, else 0.",
}
