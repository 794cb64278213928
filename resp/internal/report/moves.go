package report

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/status"
)

// Moves lists the metrics of the moving of data. They are of this node: what it has handed
// over, and what it is handing over.
func Moves[X any](m *Reporter[X], of func(X) *status.Moves) {
	m.Gauge("handoffs_running", func(x X) float64 { return float64(of(x).Running) })
	m.Gauge("handoffs_paused", func(x X) float64 { return float64(admin.Bit(of(x).Paused)) })
	m.Gauge("handoffs_throttle_bytes_per_second", func(x X) float64 { return float64(of(x).Throttle) })
	m.Gauge("pending_keys", func(x X) float64 { return float64(of(x).PendingKeys) })
	m.Gauge("pending_bytes", func(x X) float64 { return float64(of(x).PendingBytes) })
	m.Count("handoffs_total", func(x X) int64 { return of(x).Done }, "result", "done")
	m.Count("handoffs_total", func(x X) int64 { return of(x).Failed }, "result", "failed")
	m.Count("moved_ranges_total", func(x X) int64 { return of(x).Ranges })
	m.Count("moved_keys_total", func(x X) int64 { return of(x).Keys })
	m.Count("moved_bytes_total", func(x X) int64 { return of(x).Bytes })
	m.Count("moved_traffic_bytes_total", func(x X) int64 { return of(x).Traffic })
	m.Gauge("pending_items", func(x X) float64 { return float64(of(x).Feeding.Pending) })
	m.Gauge("pending_items_seconds", func(x X) float64 { return of(x).Feeding.PendingFor })
	m.Gauge("ranges_short_of_backups", func(x X) float64 { return float64(of(x).Short) })
	m.Gauge("ranges_lost", func(x X) float64 { return float64(of(x).Lost) })
	m.Count("held_microseconds_total", func(x X) int64 { return int64(of(x).Held * 1e6) })
	leases(m, of)
	scrubs(m, of)
}

// Load lists the metrics of the load on a node's ranges.
func Load[X any](m *Reporter[X], of func(X) *status.Load) {
	m.Gauge("load_operations_per_second", func(x X) float64 { return of(x).Ops })
	m.Gauge("load_bytes_per_second", func(x X) float64 { return of(x).Bytes })
	m.Gauge("load_hottest_range_operations_per_second", func(x X) float64 { return of(x).HottestRate.Ops })
	m.Gauge("load_hottest_range_bytes_per_second", func(x X) float64 { return of(x).HottestRate.Bytes })
}

// leases lists the metrics of the node's lease, and of what it has granted as the leader.
func leases[X any](m *Reporter[X], of func(X) *status.Moves) {
	m.Gauge("lease_valid", func(x X) float64 { return float64(admin.Bit(of(x).Lease.Valid)) })
	m.Gauge("lease_left_seconds", func(x X) float64 { return of(x).Lease.Left })
	m.Gauge("clock_offset_seconds", func(x X) float64 { return of(x).Lease.ClockOffset })
	m.Gauge("clock_skewed", func(x X) float64 { return float64(admin.Bit(of(x).Lease.ClockSkewed)) })
	m.Count("lease_requests_total", func(x X) int64 { return of(x).Lease.Granted }, "result", "granted")
	m.Count("lease_requests_total", func(x X) int64 { return of(x).Lease.Refused }, "result", "refused")
	m.Count("lease_lapses_total", func(x X) int64 { return of(x).Lease.Lapses })
	m.Count("lease_answers_total", func(x X) int64 { return of(x).Lease.Given }, "result", "granted")
	m.Count("lease_answers_total", func(x X) int64 { return of(x).Lease.Withheld }, "result", "refused")
	m.Count("failovers_total", func(x X) int64 { return of(x).Lease.Failovers })
	m.Count("failover_ranges_total", func(x X) int64 { return of(x).Lease.Promoted })
}

// scrubs lists the metrics of the comparison of copies.
func scrubs[X any](m *Reporter[X], of func(X) *status.Moves) {
	m.Gauge("scrub_running", func(x X) float64 { return float64(admin.Bit(of(x).Scrub.Running)) })
	m.Gauge("scrub_round_ranges", func(x X) float64 { return float64(of(x).Scrub.Total) })
	m.Gauge("scrub_round_ranges_done", func(x X) float64 { return float64(of(x).Scrub.Done) })
	m.Gauge("scrub_oldest_seconds", func(x X) float64 { return of(x).Scrub.OldestAge })
	m.Gauge("scrub_never_ranges", func(x X) float64 { return float64(of(x).Scrub.Never) })
	m.Count("scrub_rounds_total", func(x X) int64 { return of(x).Scrub.Rounds })
	m.Count("scrub_ranges_total", func(x X) int64 { return of(x).Scrub.Compared }, "result", "compared")
	m.Count("scrub_ranges_total", func(x X) int64 { return of(x).Scrub.Skipped }, "result", "skipped")
	m.Count("scrub_undecided_total", func(x X) int64 { return of(x).Scrub.Undecided })
	m.Count("scrub_backups_total", func(x X) int64 { return of(x).Scrub.Differed }, "result", "differed")
	m.Count("scrub_backups_total", func(x X) int64 { return of(x).Scrub.Repaired }, "result", "repaired")
	m.Gauge("scrub_repairing", func(x X) float64 { return float64(of(x).Scrub.Repairing) })
	m.Gauge("ranges_damaged", func(x X) float64 { return float64(of(x).Scrub.Damaged) })
	m.Count("damaged_ranges_total", func(x X) int64 { return of(x).Scrub.Yielded }, "result", "given_up")
	m.Count("damaged_ranges_total", func(x X) int64 { return of(x).Scrub.Discarded }, "result", "discarded")
}
