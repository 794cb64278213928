package tuning

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// MemTable is the size of a memtable where nothing else is said, in bytes.
const MemTable = 16 << 20

// MostMemTables is how many memtables may exist before writes wait.
const MostMemTables = 8

// Set sets the options, with memtables of so many bytes.
func Set(opts *pebble.Options, memTable int64) {
	opts.FormatMajorVersion = pebble.FormatColumnarBlocks
	opts.MemTableSize = uint64(memTable)
	opts.MemTableStopWritesThreshold = MostMemTables
	opts.L0CompactionThreshold = 12
	opts.L0StopWritesThreshold = 48
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
