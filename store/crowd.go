package store

// Pebble keeps the range tombstones of a memtable as fragments that do not overlap, and
// makes them anew for the first read after each batch that adds one. That takes time in
// proportion to their number, and where they overlap in part, time and memory in
// proportion to its square. So a memtable with many of them is written out early.

const (
	// maxCrowd is the weight of range tombstones with which a memtable is written out.
	maxCrowd = 4096
	// crowdOverlap is the weight of one that may overlap others in part. One that lies
	// within a value, which no other can reach, has the weight 1.
	crowdOverlap = 8
)

// relieve begins a new memtable if the present one may hold too many range tombstones.
// Call it after a commit that adds some, with no latch held and commits not locked: it
// waits where writes wait because too many memtables are still to be written out.
func (s *Store) relieve() {
	n := s.crowd.Load()
	if n < maxCrowd || !s.crowd.CompareAndSwap(n, 0) {
		return
	}
	if s.beginCommit(true) != nil {
		return // a failed log is replaced along with the memtables
	}
	defer s.commits.RUnlock()
	if _, err := s.db.AsyncFlush(); err != nil {
		s.log.Error("writing out a memtable failed", "err", err)
	}
}
