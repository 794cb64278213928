package resp

import "github.com/ringside-kv/ringside/resp/internal/admin"

// leaseMetrics are those of the node's lease, and of what it has granted as the leader.
func leaseMetrics(m *reporter) {
	m.Gauge("lease_valid", func(x *sample) float64 { return float64(admin.Bit(x.moves.Lease.Valid)) })
	m.Gauge("lease_left_seconds", func(x *sample) float64 { return x.moves.Lease.Left })
	m.Gauge("clock_offset_seconds", func(x *sample) float64 { return x.moves.Lease.ClockOffset })
	m.Gauge("clock_skewed", func(x *sample) float64 { return float64(admin.Bit(x.moves.Lease.ClockSkewed)) })
	m.Count("lease_requests_total", func(x *sample) int64 { return x.moves.Lease.Granted }, "result", "granted")
	m.Count("lease_requests_total", func(x *sample) int64 { return x.moves.Lease.Refused }, "result", "refused")
	m.Count("lease_lapses_total", func(x *sample) int64 { return x.moves.Lease.Lapses })
	m.Count("lease_answers_total", func(x *sample) int64 { return x.moves.Lease.Given }, "result", "granted")
	m.Count("lease_answers_total", func(x *sample) int64 { return x.moves.Lease.Withheld }, "result", "refused")
	m.Count("failovers_total", func(x *sample) int64 { return x.moves.Lease.Failovers })
	m.Count("failover_ranges_total", func(x *sample) int64 { return x.moves.Lease.Promoted })
}
