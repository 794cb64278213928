package resp

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

// The comparison of copies: --scrub-interval and RING SCRUB.

// ScrubInterval is in how much time a node compares all that it serves with its backups; 0
// is only when it is told to.
func (s *Server) ScrubInterval() time.Duration {
	return time.Duration(s.settings.ScrubEvery.Load())
}

// cmdRingScrub is RING SCRUB [STATUS].
func cmdRingScrub(x *call) {
	if len(x.Args) == 2 {
		x.order(func(ctx context.Context, o Operator) error { return o.Scrub(ctx) })
		return
	}
	if len(x.Args) != 3 || !wire.EqualFold(x.Args[2], "status") {
		x.Error(command.MsgSyntax)
		return
	}
	x.draw(status.DrawScrub)
}

// scrubMetrics are those of the comparison of copies.
func scrubMetrics(m *reporter) {
	m.Gauge("scrub_running", func(x *sample) float64 { return float64(admin.Bit(x.moves.Scrub.Running)) })
	m.Gauge("scrub_round_ranges", func(x *sample) float64 { return float64(x.moves.Scrub.Total) })
	m.Gauge("scrub_round_ranges_done", func(x *sample) float64 { return float64(x.moves.Scrub.Done) })
	m.Gauge("scrub_oldest_seconds", func(x *sample) float64 { return x.moves.Scrub.OldestAge })
	m.Gauge("scrub_never_ranges", func(x *sample) float64 { return float64(x.moves.Scrub.Never) })
	m.Count("scrub_rounds_total", func(x *sample) int64 { return x.moves.Scrub.Rounds })
	m.Count("scrub_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Compared }, "result", "compared")
	m.Count("scrub_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Skipped }, "result", "skipped")
	m.Count("scrub_undecided_total", func(x *sample) int64 { return x.moves.Scrub.Undecided })
	m.Count("scrub_backups_total", func(x *sample) int64 { return x.moves.Scrub.Differed }, "result", "differed")
	m.Count("scrub_backups_total", func(x *sample) int64 { return x.moves.Scrub.Repaired }, "result", "repaired")
	m.Gauge("scrub_repairing", func(x *sample) float64 { return float64(x.moves.Scrub.Repairing) })
	m.Gauge("ranges_damaged", func(x *sample) float64 { return float64(x.moves.Scrub.Damaged) })
	m.Count("damaged_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Yielded }, "result", "given_up")
	m.Count("damaged_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Discarded }, "result", "discarded")
}
