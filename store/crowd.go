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
	s.writeOut()
}

// writeOut begins a new memtable, and has the present one written out in the background.
func (s *Store) writeOut() {
	if s.beginCommit(true) != nil {
		return // a failed log is replaced along with the memtables
	}
	defer s.commits.RUnlock()
	if _, err := s.db.AsyncFlush(); err != nil {
		s.log.Error("writing out a memtable failed", "err", err)
	}
}

// Removed elements between others leave tombstones that each iterator over them passes, as in a
// queue where urgent members come and go before many that wait. A memtable keeps them all, and all
// that they removed. In a table they are compacted away soon (package tuning).

const (
	// fewDead is how many entries an iterator passes without being counted.
	fewDead = 256
	// maxDead is how many entries that are no elements all iterators may pass in a period of
	// housekeeping, which takes about a tenth of a second of processor time.
	maxDead = 1 << 20
)

// dropDead writes the memtable out if iterators have passed too much in it since the last call.
func (s *Store) dropDead() {
	if s.dead.Swap(0) >= maxDead {
		s.writeOut()
	}
}
