package tables

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/store/internal/tuning"
)

// CheckStep is about how many bytes are read before a caller is told.
const CheckStep = 256 << 10

// A Reader reads the tables of a database. Its methods may be called from several goroutines at once.
type Reader struct {
	DB *pebble.DB
	// Dir has the tables, on FS. Files is the file system that Pebble uses.
	Dir      string
	FS       vfs.FS
	Files    vfs.FS
	Blocks   *pebble.Cache
	MemTable int64 // size of a memtable, in bytes
}

// Check reads the entries of each table from one key up to, not including, another. step is told of each CheckStep
// bytes, and its error ends the check.
func (r *Reader) Check(lower, upper []byte, step func(bytes int) error) error {
	levels, err := r.DB.SSTables(pebble.WithKeyRangeFilter(lower, upper))
	if err != nil {
		return err
	}
	for _, level := range levels {
		for i := range level {
			table := &level[i]
			// The file may hold more: what has been cut out of the table.
			first := slices.MaxFunc([][]byte{lower, table.Smallest.UserKey}, bytes.Compare)
			err := r.read(table.BackingSSTNum.String(), func(iter sstable.Iterator) error {
				return checkEntries(iter, first, table.Largest.UserKey, upper, step)
			})
			if err != nil && !oserror.IsNotExist(err) { // a merge has read and removed it
				return err
			}
		}
	}
	return nil
}

// checkEntries reads the entries from one key up to a last one that lie before upper.
func checkEntries(iter sstable.Iterator, first, last, upper []byte, step func(bytes int) error) error {
	var pacer background.Pacer
	size := 0
	for kv := iter.SeekGE(first, 0); kv != nil && bytes.Compare(kv.K.UserKey, upper) < 0 && bytes.Compare(kv.K.UserKey, last) <= 0; kv = iter.Next() {
		pacer.Step()
		value, _, err := kv.Value(nil)
		if err != nil {
			return err
		}
		if size += len(kv.K.UserKey) + len(value); size >= CheckStep {
			if err := step(size); err != nil {
				return err
			}
			size = 0
		}
	}
	return iter.Error()
}

// CheckEnds reads what lies beside two keys in each table that one of them is in.
func (r *Reader) CheckEnds(lower, upper []byte) error {
	levels, err := r.DB.SSTables(pebble.WithKeyRangeFilter(lower, upper))
	if err != nil {
		return err
	}
	for _, level := range levels {
		for i := range level {
			table := &level[i]
			before := bytes.Compare(table.Smallest.UserKey, lower) < 0
			behind := bytes.Compare(table.Largest.UserKey, upper) >= 0
			if !before && !behind {
				continue
			}
			err := r.read(table.BackingSSTNum.String(), func(iter sstable.Iterator) (err error) {
				if before {
					iter.SeekLT(lower, 0)
					err = iter.Error()
				}
				if behind {
					iter.SeekGE(upper, 0)
					err = errors.Join(err, iter.Error())
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// read calls use with an iterator over all entries of a table.
func (r *Reader) read(name string, use func(sstable.Iterator) error) error {
	f, err := r.FS.Open(r.FS.PathJoin(r.Dir, name+".sst"))
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	opts := &pebble.Options{Cache: r.Blocks, FS: r.Files}
	tuning.Set(opts, r.MemTable)
	opts.EnsureDefaults()
	table, err := sstable.NewReader(context.Background(), readable, opts.MakeReaderOptions())
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	iter, err := table.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return errors.Join(err, table.Close())
	}
	return errors.Join(use(iter), iter.Close(), table.Close())
}
