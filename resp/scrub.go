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
func (m *reporter) scrubMetrics() {
	m.gauge("scrub_running", func(x *sample) float64 { return float64(admin.Bit(x.moves.Scrub.Running)) })
	m.gauge("scrub_round_ranges", func(x *sample) float64 { return float64(x.moves.Scrub.Total) })
	m.gauge("scrub_round_ranges_done", func(x *sample) float64 { return float64(x.moves.Scrub.Done) })
	m.gauge("scrub_oldest_seconds", func(x *sample) float64 { return x.moves.Scrub.OldestAge })
	m.gauge("scrub_never_ranges", func(x *sample) float64 { return float64(x.moves.Scrub.Never) })
	m.count("scrub_rounds_total", func(x *sample) int64 { return x.moves.Scrub.Rounds })
	m.count("scrub_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Compared }, "result", "compared")
	m.count("scrub_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Skipped }, "result", "skipped")
	m.count("scrub_undecided_total", func(x *sample) int64 { return x.moves.Scrub.Undecided })
	m.count("scrub_backups_total", func(x *sample) int64 { return x.moves.Scrub.Differed }, "result", "differed")
	m.count("scrub_backups_total", func(x *sample) int64 { return x.moves.Scrub.Repaired }, "result", "repaired")
	m.gauge("scrub_repairing", func(x *sample) float64 { return float64(x.moves.Scrub.Repairing) })
	m.gauge("ranges_damaged", func(x *sample) float64 { return float64(x.moves.Scrub.Damaged) })
	m.count("damaged_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Yielded }, "result", "given_up")
	m.count("damaged_ranges_total", func(x *sample) int64 { return x.moves.Scrub.Discarded }, "result", "discarded")
}
