package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// A tombstone is a range tombstone of a log.
type tombstone struct{ start, end string }

// tombstones returns the range tombstones in the log, in the order of writing.
func (s *Store) tombstones(t *testing.T) (found []tombstone) {
	t.Helper()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.Config{FS: s.cfg.FS, Dir: s.cfg.FS.PathJoin(s.cfg.Dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	err = log.Replay(func(data []byte, _ bool) error {
		batch := batchrepr.Read(data)
		for {
			kind, key, value, ok, err := batch.Next()
			if err != nil || !ok {
				return err
			}
			if kind == pebble.InternalKeyKindRangeDelete {
				found = append(found, tombstone{string(key), string(value)})
			}
		}
	})
	if err = errors.Join(err, log.Close()); err != nil {
		t.Fatal(err)
	}
	return found
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
	found := s.tombstones(t)
	// The first clear deletes everything, since the store was not empty for sure.
	if most := 2*len(rs) + clears*(2*5+1); len(found) > most {
		t.Errorf("%d range tombstones, of %d at most", len(found), most)
	}
	var last string
	for _, d := range found {
		if d.start[0] != layout.KindJournal {
			continue
		}
		if d.start < last {
			t.Fatalf("the journal is deleted from %x on, and was up to %x before", d.start, last)
		}
		last = d.end
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
