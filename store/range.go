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
	iter, err := s.headers(st.first)
	if err != nil {
		return l, err
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
	var nums []uint16
	for _, st := range sts {
		nums = st.appendLatches(nums)
	}
	in := func(p Place) bool {
		return slices.ContainsFunc(sts, func(st stretch) bool { return p >= st.first && p <= st.last })
	}
	// Most lines go before anybody has to wait.
	marks := s.cache.sweepAhead(in)

	s.checkpoints.Lock() // as in Clear
	defer s.checkpoints.Unlock()
	nums = s.latches.lock(nums)
	defer s.latches.unlock(nums)
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.Writable(); err != nil {
		return err
	}
	taps := s.taps.Load()
	if told == nil && taps != nil {
		for _, st := range sts {
			if taps.overlap(st) {
				return ErrOverlap
			}
		}
	}
	gone := make(map[uint16]Load)
	for _, st := range sts {
		err := s.eachSlice(st, func(slice uint16, l Load) {
			sum := gone[slice]
			sum.add(l)
			gone[slice] = sum
		})
		if err != nil {
			return err
		}
	}
	s.counts.take(gone, 1)
	b := s.dropBatch(sts)
	defer func() {
		if b != nil {
			_ = b.Close()
		}
	}()
	for _, n := range nums {
		s.latches[n].version.Add(1)
	}
	err := s.db.Apply(b, pebble.NoSync)
	if err == nil {
		s.cache.sweep(marks, in)
		s.drops.Add(1)
		s.unswept.Store(true)
		if told != nil && taps != nil {
			w = s.tellDropped(taps, *told, nums, w)
		}
		number := s.settler.add(b, w)
		for _, n := range nums {
			s.latches[n].settled.Store(number)
		}
	} else {
		s.counts.take(gone, -1)
		err = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	b = nil // the settler's, or Pebble may still hold it
	for _, n := range nums {
		s.latches[n].version.Add(1)
	}
	return err
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

// tellDropped tells the taps that a range has been emptied, under the latches nums,
// and returns what is to wait in place of w.
func (s *Store) tellDropped(taps *tapSet, r ring.Range, nums []uint16, w Waiter) Waiter {
	u := Unit{s: s, latched: nums}
	for _, t := range taps.all() {
		b := newBatch(0, 16)
		for _, tokens := range intersect(t.r, r) {
			b.add(&operation{kind: opDrop, tokens: tokens})
		}
		if !b.empty() {
			u.handed(t, t.hand(b.buf))
		}
	}
	return u.gated(w)
}

// intersect returns what two ranges have in common.
func intersect(a, b ring.Range) (out []ring.Range) {
	if a.Start == a.End {
		return []ring.Range{b}
	}
	if b.Start == b.End {
		return []ring.Range{a}
	}
	for _, x := range stretches(a) {
		for _, y := range stretches(b) {
			if first, last := max(x.first, y.first), min(x.last, y.last); first <= last {
				out = append(out, ring.Range{Start: first.Token(), End: last.Token() + 1})
			}
		}
	}
	return out
}
