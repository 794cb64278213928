package store

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
)

// A Load is what a range holds.
type Load struct {
	Keys    int64
	Bytes   int64 // of keys and values
	Expires int64 // keys with an expiry
	// Heaviest is the bytes of the heaviest slice of 2¹⁶ tokens of the range: no
	// key is larger, and no cut at a slice's bounds parts more evenly.
	Heaviest int64
}

func (l *Load) add(m Load) {
	l.Keys += m.Keys
	l.Bytes += m.Bytes
	l.Expires += m.Expires
	l.Heaviest = max(l.Heaviest, m.Heaviest)
}

// RangeLoad returns what a range holds, expired keys included. Slices of 2¹⁶ tokens
// that lie in it whole are a sum of counts; of the two that its ends cut, if they do,
// the keys are read. While writes go on it is right to within those under way.
func (s *Store) RangeLoad(r ring.Range) (Load, error) {
	var sum Load
	for _, st := range stretches(r) {
		err := s.eachSlice(st, func(_ uint16, l Load) { sum.add(l) })
		if err != nil {
			return sum, fmt.Errorf("load of %v: %w", r, err)
		}
	}
	return sum, nil
}

// eachSlice calls visit for each slice that a stretch has a part in, with what that
// part holds, if it holds anything.
func (s *Store) eachSlice(st stretch, visit func(slice uint16, l Load)) error {
	for first := st.first; ; {
		slice := sliceOf(first)
		end := Place(slice)<<48 | (1<<48 - 1)
		last := min(end, st.last)
		c := &s.counts.slices[slice]
		l := Load{Keys: c.keys.Load(), Bytes: c.bytes.Load(), Expires: c.expires.Load()}
		if l != (Load{}) {
			if first != Place(slice)<<48 || last != end {
				var err error
				if l, err = s.countStretch(stretch{first, last}); err != nil {
					return err
				}
			}
			l.Heaviest = l.Bytes
			visit(slice, l)
		}
		if last == st.last {
			return nil
		}
		first = last + 1
	}
}

// countStretch reads what there is between two places.
func (s *Store) countStretch(st stretch) (l Load, err error) {
	lower, upper := st.bounds(kindData)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return l, s.readFailed(err)
	}
	err = s.eachHeader(iter, func(p Place, key []byte, h *header) bool {
		if p > st.last {
			return false
		}
		l.Keys++
		l.Bytes += int64(len(key)) + h.size()
		if h.expiry != 0 {
			l.Expires++
		}
		return true
	})
	return l, err
}

// ClearRange removes every key of a range, as Clear does all keys: those who tap it
// are told. w is told when that is durable; with an error, nothing was removed and w
// is not used.
func (s *Store) ClearRange(r ring.Range, w Waiter) error {
	if err := s.drop(stretches(r), &r, w); err != nil {
		return fmt.Errorf("clear %v: %w", r, err)
	}
	return nil
}

// AheadOfClear has all that is cached forgotten, for who is about to clear all ranges one by one,
// as others are those that this store follows in: a large cache is looked through once then, and
// not for each range.
func (s *Store) AheadOfClear() { s.cache.sweepAhead(func(Place) bool { return true }) }

// DropRanges removes every key of some ranges from this store alone, which has given
// them away. It takes about the same time whatever they hold, but for what the ends
// of a range cut off a slice of 2¹⁶ tokens, which is read to be counted. A tapped
// range is refused: ErrOverlap. w is as for ClearRange, and may be nil.
func (s *Store) DropRanges(w Waiter, rs ...ring.Range) error {
	var all []stretch
	for _, r := range rs {
		all = append(all, stretches(r)...)
	}
	if err := s.drop(union(all), nil, w); err != nil {
		return fmt.Errorf("drop %v: %w", rs, err)
	}
	return nil
}

// drop removes all that lies in some stretches, with one batch: the keys, what the
// counts have of them, and what is named as garbage. Their entries in the index of
// expiry times are left to sweepDropped. Taps are told of told, or must not be there.
func (s *Store) drop(sts []stretch, told *ring.Range, w Waiter) error {
	// Most lines go before anybody has to wait. The counts are no more than a hint here: after
	// damage they may be estimates.
	var marks []uint64
	if s.anyKeys(sts) {
		marks = s.cache.sweepAhead(inside(sts))
	}
	s.checkpoints.Lock() // as in Clear
	defer s.checkpoints.Unlock()
	nums := s.latches.lock(latchesOf(sts))
	defer s.latches.unlock(nums)
	return s.dropLatched(sts, dropping{nums: nums, marks: marks, told: told}, w)
}

// anyKeys reports whether slices that some stretches have a part in hold anything.
func (s *Store) anyKeys(sts []stretch) bool {
	return slices.ContainsFunc(sts, func(st stretch) bool {
		for slice := int(sliceOf(st.first)); slice <= int(sliceOf(st.last)); slice++ {
			if s.counts.slices[slice].keys.Load() > 0 {
				return true
			}
		}
		return false
	})
}

func latchesOf(sts []stretch) (nums []uint16) {
	for _, st := range sts {
		nums = st.appendLatches(nums)
	}
	return nums
}

func inside(sts []stretch) func(Place) bool {
	return func(p Place) bool {
		return slices.ContainsFunc(sts, func(st stretch) bool { return p >= st.first && p <= st.last })
	}
}

// A dropping is how stretches are dropped.
type dropping struct {
	nums  []uint16 // of their latches, which are held
	marks []uint64 // of sweepAhead
	told  *ring.Range
	// unread: nothing in them is read, nor is damage in the way, and they are marked as
	// to be cut out of the tables.
	unread bool
}

// dropLatched is drop for those who hold the latches.
func (s *Store) dropLatched(sts []stretch, d dropping, w Waiter) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.Writable(); err != nil && !(d.unread && s.onlyDamaged()) {
		return err
	}
	taps := s.taps.Load()
	if d.told == nil && taps != nil {
		for _, st := range sts {
			if taps.overlap(st) {
				return ErrOverlap
			}
		}
	}
	gone, err := s.goneOf(sts, d.unread)
	if err != nil {
		return err
	}
	s.counts.take(gone, 1)
	b := s.dropBatch(sts)
	if d.unread {
		for _, st := range sts {
			_ = b.Set(discardKey(st), nil, nil)
		}
	}
	defer func() {
		if b != nil {
			_ = b.Close()
		}
	}()
	for _, n := range d.nums {
		s.latches[n].version.Add(1)
	}
	if d.told != nil || d.unread { // else it is not this store's to serve
		s.versions.emptied()
	}
	err = s.db.Apply(b, pebble.NoSync)
	if err == nil {
		s.cache.sweep(d.marks, inside(sts))
		s.drops.Add(1)
		s.unswept.Store(true)
		if d.told != nil && taps != nil {
			w = s.tellDropped(taps, *d.told, d.nums, w)
		}
		number := s.settler.add(b, w)
		for _, n := range d.nums {
			s.latches[n].settled.Store(number)
		}
	} else {
		s.counts.take(gone, -1)
		err = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	b = nil // the settler's, or Pebble may still hold it
	for _, n := range d.nums {
		s.latches[n].version.Add(1)
	}
	return err
}

// goneOf returns what some stretches hold of each slice; the latches are held.
func (s *Store) goneOf(sts []stretch, unread bool) (map[uint16]Load, error) {
	if unread {
		return s.goneUnread(sts), nil
	}
	gone := make(map[uint16]Load)
	for _, st := range sts {
		err := s.eachSlice(st, func(slice uint16, l Load) {
			sum := gone[slice]
			sum.add(l)
			gone[slice] = sum
		})
		if err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// take subtracts what some slices lose from the counts, or with sign -1 adds it.
func (c *counts) take(gone map[uint16]Load, sign int64) {
	for slice, l := range gone {
		n := &c.slices[slice]
		n.keys.Add(-sign * l.Keys)
		n.bytes.Add(-sign * l.Bytes)
		n.expires.Add(-sign * l.Expires)
		c.keys.Add(-sign * l.Keys)
		c.bytes.Add(-sign * l.Bytes)
		c.expires.Add(-sign * l.Expires)
	}
}

// dropBatch begins a new term of the counts, as they are now, with commits locked.
func (s *Store) dropBatch(sts []stretch) *pebble.Batch {
	c := &s.counts
	c.term++
	c.number.Store(0)
	c.entries.Store(0)
	b := s.db.NewBatch()
	for _, st := range sts {
		for _, kind := range []byte{kindData, kindGarbage} {
			lower, upper := st.bounds(kind)
			_ = b.DeleteRange(lower, upper, nil)
		}
		_ = b.Set(droppedKey(st), nil, nil)
	}
	_ = b.DeleteRange([]byte{kindJournal}, journalKey(nil, c.term, 0), nil)
	_ = b.Set(countKey, c.encode(nil), nil)
	_ = b.Set(expiresKey, c.encodeExpires(nil), nil)
	return b
}
