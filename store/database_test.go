package store

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// The counts of each database are what a scan finds, while keys come, change, expire and go with their
// ranges, after a checkpoint and after a crash.
func TestDatabasesAreCounted(t *testing.T) {
	randomtest.DrawShort(t, 4)
	rnd := seeded(t)
	fs := vfs.NewCrashableMem()
	s := openTest(t, memConfig(fs, FsyncAlways))
	numbers := []int{0, 1, 7, database.Limit - 1}
	key := func() string {
		return string(database.AppendKey(nil, database.Head(numbers[rnd.IntN(len(numbers))]), fmt.Appendf(nil, "k%d", rnd.IntN(400))))
	}
	check := func(when string) {
		t.Helper()
		spans := []ring.Range{ring.Whole, {Start: 1 << 20, End: 3<<30 + 12345}}
		for _, span := range spans {
			want := map[int]Load{}
			for at, ended := CursorAt(span.Start), false; !ended; {
				var err error
				at, ended, err = s.ScanIn(span, at, 1000, func(e Entry) bool {
					n := database.Of(e.Key)
					l := want[n]
					l.Keys++
					want[n] = l
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			all, err := s.LoadByDatabase(span)
			if err != nil {
				t.Fatal(err)
			}
			sum := int64(0)
			for _, n := range numbers {
				one, err := s.DatabaseLoad(n, span)
				if err != nil || one.Keys != want[n].Keys || all[n].Keys != one.Keys || all[n].Bytes != one.Bytes || one.Expires != all[n].Expires {
					t.Fatalf("%s: database %d in %v: %+v and %+v, %d keys are there, %v", when, n, span, one, all[n], want[n].Keys, err)
				}
				sum += one.Bytes
				if key, err := s.RandomKeyIn(n, []ring.Range{span}); err != nil || (key == nil) != (one.Keys == 0) || key != nil && database.Of(key) != n {
					t.Fatalf("%s: %q was drawn of database %d with %d keys, %v", when, key, n, one.Keys, err)
				}
			}
			if total, err := s.RangeLoad(span); err != nil || total.Bytes != sum {
				t.Fatalf("%s: %v holds %+v, its databases %d bytes, %v", when, span, total, sum, err)
			}
		}
	}
	for round := range 12 {
		for range 200 {
			k := key()
			switch rnd.IntN(4) {
			case 0:
				s.inUnit(t, func(u *Unit) {
					if v, err := u.Get([]byte(k)); err == nil {
						u.Delete([]byte(k), v)
					}
				}, k)
			case 1:
				s.set(t, k, "value", s.now()+1_000_000)
			default:
				s.set(t, k, fmt.Sprint(rnd.IntN(1_000_000)), 0)
			}
		}
		check("after writes")
		switch round % 4 {
		case 1:
			start := ring.Token(rnd.Uint32())
			if err := s.DropRanges(nil, ring.Range{Start: start, End: start + 1<<28}); err != nil {
				t.Fatal(err)
			}
			check("after a drop")
		case 2:
			if err := s.housekeeper.checkpointCounts(); err != nil {
				t.Fatal(err)
			}
		case 3:
			after := fs.CrashClone(vfs.CrashCloneCfg{})
			s.mustClose(t)
			fs = after
			s = openTest(t, memConfig(fs, FsyncAlways))
			check("after a crash")
		}
	}
	s.mustClose(t)
}
