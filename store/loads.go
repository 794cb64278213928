package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// loads says how many keys and bytes there are.
type loads struct {
	s      *Store
	locked bool // commits are locked by the caller
}

// Held says how many keys and bytes there are while a caller of the store keeps commits from beginning, where a question
// to the [Store] itself would wait for the end of that.
type Held struct{ loads }

func (rd *rangeDropper) held() *Held { return &Held{loads{rd.s, true}} }

// clean cleans the lines of a slice.
func (ld *loads) clean(slice uint16) error {
	if ld.locked {
		return ld.s.cleaner.CleanLocked(slice, slice)
	}
	return ld.s.cleaner.Clean(slice, slice)
}

// RangeLoad returns what a range holds, expired keys included. Slices of 2¹⁶ tokens
// that lie in it whole are a sum of counts; of the two that its ends cut, if they do,
// the keys are read. While writes go on it is right to within those under way.
func (ld *loads) RangeLoad(r ring.Range) (Load, error) {
	return ld.sumOf(r, func(l counts.SliceLoad) Load { return l.All })
}

// DatabaseLoad is RangeLoad of one database.
func (ld *loads) DatabaseLoad(database int, r ring.Range) (Load, error) {
	if r == ring.Whole {
		return ld.s.counts.TotalOf(database), nil
	}
	return ld.sumOf(r, func(l counts.SliceLoad) Load { return l.Of(database) })
}

// LoadByDatabase is RangeLoad of each database that holds anything, by its number.
func (ld *loads) LoadByDatabase(r ring.Range) (map[int]Load, error) {
	sums := make(map[int]Load)
	if r == ring.Whole {
		ld.s.counts.EachTotal(func(n int, l Load) { sums[n] = l })
		return sums, nil
	}
	_, err := ld.sumOf(r, func(l counts.SliceLoad) Load {
		add := func(n int, l Load) {
			sum := sums[n]
			sum.Add(l)
			sums[n] = sum
		}
		add(0, l.Of(0))
		for n, of := range l.Databases {
			add(int(n), of)
		}
		return Load{}
	})
	return sums, err
}

func (ld *loads) sumOf(r ring.Range, of func(counts.SliceLoad) Load) (sum Load, err error) {
	for _, st := range layout.PiecesOf(r) {
		for _, slice := range []uint16{layout.SliceOf(st.First), layout.SliceOf(st.Last)} {
			if err := ld.clean(slice); err != nil {
				return sum, fmt.Errorf("load of %v: %w", r, err)
			}
		}
		err := ld.eachSlice(st, func(_ uint16, l counts.SliceLoad) { sum.Add(of(l)) })
		if err != nil {
			return sum, fmt.Errorf("load of %v: %w", r, err)
		}
	}
	return sum, nil
}

// eachSlice calls visit for each slice that an interval has a part in, with what that
// part holds, if it holds anything.
func (ld *loads) eachSlice(st layout.Interval, visit func(slice uint16, l counts.SliceLoad)) error {
	for first := st.First; ; {
		slice := layout.SliceOf(first)
		end := Place(slice)<<48 | (1<<48 - 1)
		last := min(end, st.Last)
		if ld.s.counts.Of(slice) != (Load{}) {
			var l counts.SliceLoad
			if first == Place(slice)<<48 && last == end {
				l = ld.s.counts.LoadOf(slice)
			} else {
				var err error
				if l, err = ld.countInterval(layout.Interval{First: first, Last: last}); err != nil {
					return err
				}
			}
			l.All.Heaviest = l.All.Bytes
			visit(slice, l)
		}
		if last == st.Last {
			return nil
		}
		first = last + 1
	}
}

// countInterval reads what there is between two places, whose lines are clean.
func (ld *loads) countInterval(st layout.Interval) (l counts.SliceLoad, err error) {
	iter, err := ld.newIter(st)
	if err != nil {
		return l, err
	}
	return ld.countHeaders(iter, func() bool { return true })
}

// newIter returns an iterator over the data between two places, whose lines are clean.
func (ld *loads) newIter(st layout.Interval) (*pebble.Iterator, error) {
	lower, upper := st.Bounds(layout.KindData)
	iter, err := ld.s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, ld.s.readFailed(err)
	}
	return iter, nil
}

// countHeaders counts what an iterator shows until step returns false, and closes it.
func (ld *loads) countHeaders(iter *pebble.Iterator, step func() bool) (l counts.SliceLoad, err error) {
	err = ld.s.scanner.eachHeader(iter, func(_ Place, key []byte, h *layout.Header) bool {
		one := Load{Keys: 1, Bytes: int64(len(key)) + h.Size()}
		if h.Expiry != 0 {
			one.Expires = 1
		}
		if h.HasTimedFields() {
			one.TimedHashes = 1
		}
		l.Add(uint16(database.Of(key)), one)
		return step()
	})
	return l, err
}
