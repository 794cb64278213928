package resp

import "github.com/ringside-kv/ringside/resp/internal/admin"

// leaseMetrics are those of the node's lease, and of what it has granted as the leader.
func (m *reporter) leaseMetrics() {
	m.gauge("lease_valid", func(x *sample) float64 { return float64(admin.Bit(x.moves.Lease.Valid)) })
	m.gauge("lease_left_seconds", func(x *sample) float64 { return x.moves.Lease.Left })
	m.gauge("clock_offset_seconds", func(x *sample) float64 { return x.moves.Lease.ClockOffset })
	m.gauge("clock_skewed", func(x *sample) float64 { return float64(admin.Bit(x.moves.Lease.ClockSkewed)) })
	m.count("lease_requests_total", func(x *sample) int64 { return x.moves.Lease.Granted }, "result", "granted")
	m.count("lease_requests_total", func(x *sample) int64 { return x.moves.Lease.Refused }, "result", "refused")
	m.count("lease_lapses_total", func(x *sample) int64 { return x.moves.Lease.Lapses })
	m.count("lease_answers_total", func(x *sample) int64 { return x.moves.Lease.Given }, "result", "granted")
	m.count("lease_answers_total", func(x *sample) int64 { return x.moves.Lease.Withheld }, "result", "refused")
	m.count("failovers_total", func(x *sample) int64 { return x.moves.Lease.Failovers })
	m.count("failover_ranges_total", func(x *sample) int64 { return x.moves.Lease.Promoted })
}
