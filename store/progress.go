package store

import "github.com/cockroachdb/pebble/v2"

// Reached is how far the store's commits have come, of those that are as durable as the fsync
// mode demands. It never falls while the directory keeps what was acknowledged, also from one
// start to the next: it is a number of the engine's log, not a count.
func (s *Store) Reached() uint64 { return s.settler.reached.Load() }

// Recovered is above each number that Reached returned in earlier starts. A number at or above
// it proves that the directory has lost commits since: it was put back to an earlier moment, or
// the disk has lost what it had synced.
func (s *Store) Recovered() uint64 { return s.recovered }

// recover notes where the log continues.
func (s *Store) recover() error {
	snapshot := s.db.NewSnapshot()
	s.recovered = uint64(s.db.Metrics().Snapshots.EarliestSeqNum)
	return snapshot.Close()
}

// seqOf returns the number of a batch in the engine's log; 0 for one that is so large that the
// engine has kept its contents.
func seqOf(b *pebble.Batch) uint64 {
	if b.Empty() {
		return 0
	}
	return uint64(b.SeqNum())
}
