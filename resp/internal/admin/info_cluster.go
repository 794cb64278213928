package admin

import "github.com/ringside-kv/ringside/resp/status"

// InfoScrub tells how far the comparison is, and what it found.
func InfoScrub(w *Info, s *status.Scrub) {
	ended := int64(0)
	if s.Ended != nil {
		ended = s.Ended.Unix()
	}
	w.Line("scrub_interval_seconds", int64(s.Interval))
	w.Line("scrub_running", Bit(s.Running))
	w.Line("scrub_ranges_done", s.Done)
	w.Line("scrub_ranges", s.Total)
	w.Line("scrub_rounds", s.Rounds)
	w.Line("scrub_last_round_time", ended)
	w.Line("scrub_oldest_seconds", int64(s.OldestAge))
	w.Line("scrub_never", s.Never)
	w.Line("scrub_compared", s.Compared)
	w.Line("scrub_skipped", s.Skipped)
	w.Line("scrub_undecided", s.Undecided)
	w.Line("scrub_differed", s.Differed)
	w.Line("scrub_repaired", s.Repaired)
	w.Line("scrub_repairing", s.Repairing)
	w.Line("ranges_damaged", s.Damaged)
	w.Line("ranges_given_up_for_damage", s.Yielded)
	w.Line("ranges_discarded_for_damage", s.Discarded)
}

// InfoLease tells of the node's lease.
func InfoLease(w *Info, l *status.Lease) {
	w.Line("lease_valid", Bit(l.Valid))
	w.Line("lease_lapses", l.Lapses)
	w.Line("failovers", l.Failovers)
	w.Line("clock_offset_milliseconds", int64(l.ClockOffset*1000))
	w.Line("clock_skewed", Bit(l.ClockSkewed))
}

// InfoMoves tells who moves data, and how far that is. grown is how many backups were admitted, minInSync how
// many copies in sync a write needs.
func InfoMoves(w *Info, m *status.Moves, grown, minInSync int64) {
	w.Line("cluster", m.Cluster)
	w.Line("generation", m.Generation)
	w.Line("leader", m.Leader)
	w.Line("moves_paused", Bit(m.Paused))
	w.Line("moves_throttle", m.Throttle)
	w.Line("strategy_switching", Bit(m.Switching))
	w.Line("handoffs_running", m.Running)
	w.Line("handoffs_done", m.Done)
	w.Line("handoffs_failed", m.Failed)
	w.Line("pending_keys", m.PendingKeys)
	w.Line("pending_bytes", m.PendingBytes)
	w.Line("moved_ranges", m.Ranges)
	w.Line("moved_keys", m.Keys)
	w.Line("moved_bytes", m.Bytes)
	w.Line("moved_traffic_bytes", m.Traffic)
	w.Line("moved_bytes_per_second", int64(m.Rate))
	w.Line("held_milliseconds", int64(m.Held*1000))
	w.Line("pending_items", m.Feeding.Pending)
	w.Line("ranges_short_of_backups", m.Short)
	w.Line("ranges_lost", m.Lost)
	w.Line("backups_admitted", grown)
	w.Line("min_in_sync", minInSync)
	InfoLease(w, &m.Lease)
	InfoScrub(w, &m.Scrub)
}
