package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A tombstone is a range tombstone of a log.
type tombstone struct{ start, end string }

// tombstones returns the range tombstones of each log that is left, in the order of
// writing. A log has what one memtable has.
func (s *Store) tombstones(t *testing.T) (logs [][]tombstone) {
	t.Helper()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	names, err := s.cfg.FS.List(s.wal.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		number, _, ok := wal.ParseLogFilename(name)
		if !ok {
			t.Fatalf("log %s", name)
		}
		f, err := s.cfg.FS.Open(s.cfg.FS.PathJoin(s.wal.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, tombstonesOf(t, readLog(record.NewReader, f, uint64(number))))
		_ = f.Close()
	}
	return logs
}

// readLog calls open, whose type of a file's number is internal to Pebble.
func readLog[N ~uint64](open func(io.Reader, N) *record.Reader, f io.Reader, number uint64) *record.Reader {
	return open(f, N(number))
}

func tombstonesOf(t *testing.T, log *record.Reader) (found []tombstone) {
	t.Helper()
	for {
		r, err := log.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, record.ErrInvalidChunk) && !errors.Is(err, record.ErrZeroedChunk) {
				t.Fatal(err)
			}
			return found
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		batch := batchrepr.Read(data)
		for {
			kind, key, value, ok, err := batch.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if kind == pebble.InternalKeyKindRangeDelete {
				found = append(found, tombstone{string(key), string(value)})
			}
		}
	}
}

// everyThird returns n ranges that lie apart, as those of one node of three do.
func everyThird(n int) (rs []ring.Range) {
	step := ring.Token(1<<32/(3*uint64(n))) &^ 0xffff
	for i := range n {
		start := ring.Token(3*i) * step
		rs = append(rs, ring.Range{Start: start, End: start + step})
	}
	return rs
}

// TestRepeatedClearsKeepRangeTombstonesFew: what is empty already is not deleted again,
// and no deletion of the journal overlaps the one before.
func TestRepeatedClearsKeepRangeTombstonesFew(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	rs := everyThird(85)
	const clears = 30
	for round := range clears {
		for i := range 5 {
			s.set(t, fmt.Sprint("key", round, i), "value", 0)
		}
		var done Signal
		if err := s.ClearRanges(&done, nil, rs...); err != nil {
			t.Fatal(err)
		}
		if err := done.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for _, log := range s.tombstones(t) {
		// The first clear deletes everything, since the store was not empty for sure.
		if most := 2*len(rs) + clears*(2*5+1); len(log) > most {
			t.Errorf("a log has %d range tombstones, of %d at most", len(log), most)
		}
		var last string
		for _, d := range log {
			if d.start[0] != layout.KindJournal {
				continue
			}
			if d.start < last {
				t.Fatalf("the journal is deleted from %x on, and was up to %x before", d.start, last)
			}
			last = d.end
		}
	}
	s.audit(t)
}

// TestManyRangeTombstonesBeginNewMemtable for each operation that leaves some.
func TestManyRangeTombstonesBeginNewMemtable(t *testing.T) {
	oneGoroutine(t)
	rs := everyThird(40)
	for name, leave := range map[string]func(s *Store, i int){
		"clear": func(s *Store, _ int) {
			if err := s.Clear(nil, nil); err != nil {
				t.Fatal(err)
			}
		},
		"clear ranges": func(s *Store, i int) {
			for j, r := range rs {
				s.set(t, keyWithin(r, i+j), "value", 0)
			}
			if err := s.ClearRanges(nil, nil, rs...); err != nil {
				t.Fatal(err)
			}
		},
		"remove elements": func(s *Store, i int) {
			s.inUnit(t, func(u *Unit) {
				if i == 0 {
					splitSet(t, u, "k", nil)
				}
				v, err := u.Get([]byte("k"))
				if err != nil {
					t.Fatal(err)
				}
				for j := range byte(100) {
					item := []byte{ItemKind, byte(i), j}
					u.RemoveElements([]byte("k"), &v, item, append(slices.Clone(item), 1))
				}
			}, "k")
		},
		"collect garbage": func(s *Store, i int) {
			for range 4 {
				s.set(t, fmt.Sprint("long", i), strings.Repeat("x", pieceSize+1), 0)
				s.set(t, fmt.Sprint("long", i), "short", 0)
			}
			if _, err := s.housekeeper.collectGarbage(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := memConfig(vfs.NewMem(), FsyncNo)
			cfg.MemTable = 16 << 20 // not full before
			s := openTest(t, cfg)
			defer s.mustClose(t)
			flushes := func() int64 { return s.db.Metrics().Flush.Count }
			before := flushes()
			for i := 0; flushes() == before; i++ {
				if i == maxRangeTombstones+100 {
					t.Fatal("no memtable was written out")
				}
				leave(s, i)
			}
		})
	}
}

// keyWithin returns a key in a range.
func keyWithin(r ring.Range, from int) string {
	for i := from; ; i++ {
		if key := fmt.Sprint("key", i); r.Contains(testToken([]byte(key))) {
			return key
		}
	}
}
