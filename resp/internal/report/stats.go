package report

import "github.com/ringside-kv/ringside/resp/internal/stats"

// Stats lists the metrics of what the server counts.
func Stats[X any](m *Reporter[X], of func(X) *stats.Stats) {
	m.Gauge("connections_waiting", func(x X) float64 { return float64(of(x).Waiting.Load()) })
	m.Count("connections_accepted_total", func(x X) int64 { return of(x).Accepted.Load() })
	m.Count("connections_refused_total", func(x X) int64 { return of(x).Refused.Load() - of(x).Protected.Load() }, "reason", "max_clients")
	m.Count("connections_refused_total", func(x X) int64 { return of(x).Protected.Load() }, "reason", "protected_mode")
	m.Count("auth_failures_total", func(x X) int64 { return of(x).ErrorCounts()["WRONGPASS"] })
	m.Count("connections_closed_unauthenticated_total", func(x X) int64 { return of(x).Unauthenticated.Load() })
	m.Count("connections_closed_slow_total", func(x X) int64 { return of(x).SlowClosed() })
	m.Count("protocol_errors_total", func(x X) int64 { return of(x).ProtocolErrors.Load() })
	m.Count("network_bytes_total", func(x X) int64 { return of(x).BytesIn.Load() }, "direction", "in")
	m.Count("network_bytes_total", func(x X) int64 { return of(x).BytesOut.Load() }, "direction", "out")
	m.Count("requests_elsewhere_total", func(x X) int64 { return of(x).Forwarded.Load() }, "result", "forwarded")
	m.Count("requests_elsewhere_total", func(x X) int64 { return of(x).Redirected.Load() }, "result", "redirected")
	m.Count("requests_elsewhere_total", func(x X) int64 { return of(x).CrossSlot.Load() }, "result", "cross_slot")
	m.Count("requests_keys_apart_total", func(x X) int64 { return of(x).Apart.Load() })
	m.Count("requests_lease_lost_total", func(x X) int64 { return of(x).LeaseLost.Load() })
	m.Count("requests_not_mine_total", func(x X) int64 { return of(x).NotMine.Load() })
	m.Count("requests_late_total", func(x X) int64 { return of(x).Late.Load() })
	m.Count("key_lookups_total", func(x X) int64 { return of(x).Hits.Load() }, "result", "hit")
	m.Count("key_lookups_total", func(x X) int64 { return of(x).Misses.Load() }, "result", "miss")
	m.Count("backups_changed_total", func(x X) int64 { return of(x).Shrinks.Load() }, "result", "released")
	m.Count("backups_changed_total", func(x X) int64 { return of(x).Growths.Load() }, "result", "admitted")
}
