package store

// Pebble keeps the range tombstones of a memtable as fragments that do not overlap, and
// makes them anew for the first read after each batch that adds one. That takes time in
// proportion to their number, and where they overlap in part, time and memory in
// proportion to its square. So a memtable with many of them is written out early.

const (
	// maxRangeTombstones is the weight of range tombstones with which a memtable is written out.
	maxRangeTombstones = 4096
	// overlapWeight is the weight of one that may overlap others in part. One that lies
	// within a value, which no other can reach, has the weight 1.
	overlapWeight = 8
)

// flushRangeTombstones begins a new memtable if the present one may hold too many range tombstones.
// Call it after a commit that adds some, with no latch held and commits not locked: it
// waits where writes wait because too many memtables are still to be written out.
func (k *housekeeper) flushRangeTombstones() {
	n := k.rangeTombstones.Load()
	if n < maxRangeTombstones || !k.rangeTombstones.CompareAndSwap(n, 0) {
		return
	}
	k.rotateMemtable()
}

// rotateMemtable begins a new memtable, and has the present one written out in the background.
func (k *housekeeper) rotateMemtable() {
	if k.s.beginCommit(true) != nil {
		return // a failed log is replaced along with the memtables
	}
	defer k.s.commits.RUnlock()
	if _, err := k.s.db.AsyncFlush(); err != nil {
		k.s.log.Error("writing out a memtable failed", "err", err)
	}
}

// Removed elements between others leave tombstones that each iterator over them passes, as in a
// queue where urgent members come and go before many that wait. A memtable keeps them all, and all
// that they removed. In a table they are compacted away soon (package internal/tuning).

const (
	// maxTombstones is how many entries that are no elements all iterators may pass in a period of
	// housekeeping, which takes about a tenth of a second of processor time.
	maxTombstones = 1 << 20
)

// flushTombstones writes the memtable out if iterators have passed too much in it since the last call.
func (k *housekeeper) flushTombstones() {
	if k.passedTombstones.Swap(0) >= maxTombstones {
		k.rotateMemtable()
	}
}
