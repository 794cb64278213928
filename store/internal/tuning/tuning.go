package tuning

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// MemTable is the size of a memtable where nothing else is said, in bytes.
const MemTable = 16 << 20

const (
	// MostMemTables is of how many memtables the bytes may exist before commits wait.
	MostMemTables = 8
	// MostSublevels is how many sublevels level 0 may have before commits wait.
	MostSublevels = 48
	// never is a bound that nothing reaches: commits wait outside of Pebble, see package stall.
	never = 1 << 10
)

// Set sets the options, with memtables of so many bytes.
func Set(opts *pebble.Options, memTable int64) {
	opts.FormatMajorVersion = pebble.FormatColumnarBlocks
	opts.MemTableSize = uint64(memTable)
	opts.MemTableStopWritesThreshold = never
	opts.L0CompactionThreshold = 12
	opts.L0StopWritesThreshold = never
	opts.LBaseMaxBytes = 256 << 20
	opts.MaxOpenFiles = 4096
	opts.WALBytesPerSync = 512 << 10
	opts.BytesPerSync = 1 << 20
	// Sampling reads to find what to compact takes Pebble's lock when an iterator
	// is closed, and reads must go on when that is held for good; see Fatalf of store.
	opts.Experimental.ReadSamplingMultiplier = -1
	// Tables of which a tenth of the blocks are dense with tombstones are compacted at once,
	// so that nobody has to pass over what a drained set has left. Pebble's own bounds, 100
	// tombstones in a block or half of its size, are passed by sorted sets whose members only
	// change their scores.
	opts.Experimental.NumDeletionsThreshold = 400
	opts.Experimental.DeletionSizeRatioThreshold = 0.9
	for i := range opts.Levels {
		l := &opts.Levels[i]
		l.BlockSize = 16 << 10
		l.IndexBlockSize = 256 << 10
		l.FilterPolicy = yielding{bloom.FilterPolicy(10)}
		l.FilterType = pebble.TableFilter
	}
}
