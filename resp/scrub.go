package resp

import (
	"context"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/resp/wire"
)

// The comparison of copies: --scrub-interval and RING SCRUB.

// ScrubInterval is in how much time a node compares all that it serves with its backups; 0
// is only when it is told to.
func (s *Server) ScrubInterval() time.Duration {
	return time.Duration(s.settings.scrubEvery.Load())
}

// scrubBounds are those of an interval that is not 0: below, a node would do little else.
var scrubBounds = bounds{int64(time.Minute), int64(365 * 24 * time.Hour)}

// parseScrubInterval takes seconds, or a time as flags have it.
func (s *settings) parseScrubInterval(value string) (func(), string) {
	d, err := time.ParseDuration(value)
	if n, ok := wire.ParseInt([]byte(value)); ok && n >= 0 && n <= scrubBounds.max/int64(time.Second) {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d != 0 && !scrubBounds.has(int64(d)) {
		return nil, "argument must be 0, which is never, or from 1m to 365 days: a number of seconds, or 24h, say"
	}
	return func() { s.scrubEvery.Store(int64(d)) }, ""
}

func (s *settings) scrubIntervalText() string {
	return strconv.FormatInt(s.scrubEvery.Load()/int64(time.Second), 10)
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

// infoScrub tells how far the comparison is, and what it found.
func infoScrub(w *infoWriter, s *status.Scrub) {
	ended := int64(0)
	if s.Ended != nil {
		ended = s.Ended.Unix()
	}
	w.line("scrub_interval_seconds", int64(s.Interval))
	w.line("scrub_running", bit(s.Running))
	w.line("scrub_ranges_done", s.Done)
	w.line("scrub_ranges", s.Total)
	w.line("scrub_rounds", s.Rounds)
	w.line("scrub_last_round_time", ended)
	w.line("scrub_oldest_seconds", int64(s.OldestAge))
	w.line("scrub_never", s.Never)
	w.line("scrub_compared", s.Compared)
	w.line("scrub_skipped", s.Skipped)
	w.line("scrub_undecided", s.Undecided)
	w.line("scrub_differed", s.Differed)
	w.line("scrub_repaired", s.Repaired)
	w.line("scrub_repairing", s.Repairing)
	w.line("ranges_damaged", s.Damaged)
	w.line("ranges_given_up_for_damage", s.Yielded)
	w.line("ranges_discarded_for_damage", s.Discarded)
}

// scrubMetrics are those of the comparison of copies.
func (m *reporter) scrubMetrics() {
	m.gauge("scrub_running", func(x *sample) float64 { return float64(bit(x.moves.Scrub.Running)) })
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
