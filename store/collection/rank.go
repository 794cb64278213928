package collection

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// Rank returns how many members lie before a rank key. The sorted set was opened as a whole,
// or with its latch held.
func (z *ZSet) Rank(key []byte) (int64, error) {
	rank, before := int64(0), []byte(nil)
	log, err := z.runs()
	if err != nil {
		return 0, err
	}
	for level := z.levels; level > 0; level-- {
		it := z.table.blocks(level, before)
		for err == nil && it.Next() {
			end := it.Sub()[2:]
			if bytes.Compare(end, key) >= 0 {
				break
			}
			var members int64
			_, members, err = blockOf(it.Value())
			rank += members
			before = append(before[:0], end...)
		}
		if err := cmp.Or(it.Close(), err); err != nil {
			return 0, err
		}
	}
	if before != nil {
		for _, r := range log {
			rank += r.members(r.upTo(before), 0)
		}
	}
	err = z.walk(before, nil, key, false, func([]byte, []byte) bool {
		rank++
		return true
	})
	return rank, err
}

// Count returns how many members lie from one rank key up to, not including, another.
func (z *ZSet) Count(from, to []byte) (int64, error) {
	if bytes.Compare(from, to) >= 0 {
		return 0, nil
	}
	low, err := z.Rank(from)
	if err != nil {
		return 0, err
	}
	high, err := z.Rank(to)
	return high - low, err
}

// KeyAt returns the rank key of a member by its rank, which is below Len.
func (z *ZSet) KeyAt(rank int64) (key []byte, err error) {
	n := z.Len()
	back := n-1-rank < z.shape().fillBlock && n-1-rank < rank
	var before []byte
	if back {
		rank = n - 1 - rank
	} else if rank > z.shape().fillBlock {
		if before, rank, err = z.seek(rank); err != nil {
			return nil, err
		}
	}
	err = z.walk(before, nil, nil, back, func(score, member []byte) bool {
		if rank--; rank >= 0 {
			return true
		}
		key = append(slices.Clone(score), member...)
		return false
	})
	if err == nil && key == nil {
		err = errZSet
	}
	return key, err
}

// seek returns where the block ends that is before the one with a rank, nil if it is the
// first, and how many members follow before that rank.
func (z *ZSet) seek(rank int64) (before []byte, skip int64, err error) {
	log, err := z.runs()
	if err != nil {
		return nil, 0, err
	}
	log = slices.Clone(log)
	passed, at := make([]int64, len(log)), make([]int, len(log))
	for level := z.levels; level > 0; level-- {
		it := z.table.blocks(level, before)
		for err == nil && it.Next() {
			end := it.Sub()[2:]
			var members int64
			_, members, err = blockOf(it.Value())
			for i, r := range log {
				at[i] = r.upTo(end)
				members += r.members(at[i], passed[i])
			}
			if members > rank {
				break
			}
			rank -= members
			for i, n := range at {
				passed[i] += log[i].members(n, passed[i])
				log[i] = log[i][n:]
			}
			before = append(before[:0], end...)
		}
		if err := cmp.Or(it.Close(), err); err != nil {
			return nil, 0, err
		}
	}
	return before, rank, nil
}

// Range calls yield for the members from one rank key up to, not including, another, until it
// returns false; backwards if back is set. An empty bound is none. It is opened as for Rank;
// yield must neither keep what it is given nor change the sorted set.
func (z *ZSet) Range(from, to []byte, back bool, yield func(member []byte, score float64) bool) error {
	return z.walk(nil, from, to, back, func(score, member []byte) bool { return yield(member, ScoreOf(score)) })
}

// RangeAt is Range for the members from one rank to another, both included, which lie in the
// sorted set.
func (z *ZSet) RangeAt(from, to int64, back bool, yield func(member []byte, score float64) bool) error {
	first := from
	if back {
		first = to
	}
	var low, high []byte
	if back && first < z.Len()-1 || !back && first > 0 {
		key, err := z.KeyAt(first)
		if err != nil {
			return err
		}
		if back {
			high = append(key, 0)
		} else {
			low = key
		}
	}
	left := to - from + 1
	return z.Range(low, high, back, func(member []byte, score float64) bool {
		left--
		return yield(member, score) && left > 0
	})
}

// walk calls yield for what lies behind a rank key or, if that is nil, from one, up to, not
// including, another.
func (z *ZSet) walk(behind, from, to []byte, back bool, yield func(score, member []byte) bool) error {
	t := &z.table
	if t.v.Whole() {
		return z.table.walkPacked(from, to, back, yield)
	}
	lower, upper := z.within()
	switch {
	case behind != nil:
		lower = z.behind(behind)
	case bytes.Compare(from, z.low) > 0:
		lower = append([]byte{kindScore}, from...)
	}
	if len(to) > 0 && (len(z.high) == 0 || bytes.Compare(to, z.high) < 0) {
		upper = append([]byte{kindScore}, to...)
	}
	it := t.unit.Elements(t.key, &t.v, lower, upper, back)
	for it.Next() {
		sub := it.Sub()
		if len(sub) < 1+scoreSize {
			return cmp.Or(it.Close(), errZSet)
		}
		if score, member := splitRankKey(sub[1:]); !yield(score, member) {
			break
		}
	}
	return it.Close()
}

func (t *Table) walkPacked(from, to []byte, back bool, yield func(score, member []byte) bool) error {
	type entry struct{ score, member []byte }
	var all []entry
	r := t.packed().reader()
	for r.next() {
		if len(r.value) != scoreSize {
			return errZSet
		}
		if len(from) > 0 && compareEntry(r.value, r.field, from) < 0 {
			continue
		}
		if len(to) > 0 && compareEntry(r.value, r.field, to) >= 0 {
			break
		}
		if back {
			all = append(all, entry{r.value, r.field})
		} else if !yield(r.value, r.field) {
			return nil
		}
	}
	slices.Reverse(all)
	for _, e := range all {
		if !yield(e.score, e.member) {
			break
		}
	}
	return r.err
}

// RemoveRange removes the members from one rank key up to, not including, another, and
// returns how many there were. An empty bound is none.
func (z *ZSet) RemoveRange(from, to []byte) (n int64, err error) {
	return z.remove(from, to, false, -1, nil)
}

// Pop removes the first members, or the last ones if back is set, as many as there are but not
// more than so many, and yields each.
func (z *ZSet) Pop(most int64, back bool, yield func(member []byte, score float64)) error {
	if most == 1 && !z.table.v.Whole() {
		return z.popOne(back, func(score, member []byte) { yield(member, ScoreOf(score)) })
	}
	_, err := z.remove(nil, nil, back, most, func(score, member []byte) { yield(member, ScoreOf(score)) })
	return err
}

// remove removes what lies between two rank keys, from one end on, and not more than so many
// members, if that is not negative. It yields each, unless yield is nil.
func (z *ZSet) remove(from, to []byte, back bool, most int64, yield func(score, member []byte)) (n int64, err error) {
	if z.table.v.Whole() {
		return z.removePacked(from, to, back, most, yield)
	}
	r := removal{z: z, from: from, to: to, back: back, most: most}
	var failure error
	err = z.walk(nil, from, to, back, func(score, member []byte) bool {
		if r.n == most {
			return false
		}
		if yield != nil {
			yield(score, member)
		}
		failure = r.found(score, member, yield == nil)
		return failure == nil && r.how == oneByOne && r.n != most
	})
	if err = cmp.Or(failure, err); err != nil {
		return 0, err
	}
	return r.finish()
}

func (z *ZSet) removePacked(from, to []byte, back bool, most int64, yield func(score, member []byte)) (n int64, err error) {
	t := &z.table
	p := t.packed()
	var entries []packedReader // as they stand at each
	r := p.reader()
	for r.next() {
		if len(from) > 0 && compareEntry(r.value, r.field, from) < 0 || len(to) > 0 && compareEntry(r.value, r.field, to) >= 0 {
			continue
		}
		entries = append(entries, r)
	}
	if r.err != nil {
		return 0, r.err
	}
	if most >= 0 && int64(len(entries)) > most {
		if back {
			entries = entries[int64(len(entries))-most:]
		} else {
			entries = entries[:most]
		}
	}
	n = int64(len(entries))
	if n == 0 {
		return 0, nil
	}
	at, end := entries[0].at, entries[n-1].size-len(entries[n-1].rest)
	if back {
		slices.Reverse(entries)
	}
	for i := 0; yield != nil && i < len(entries); i++ {
		yield(entries[i].value, entries[i].field)
	}
	if n == t.Len() {
		t.Clear()
		return n, nil
	}
	t.form = p.splice(t.form[:0], t.Len()-n, at, end, nil)
	t.unit.PutWhole(t.key, &t.v, store.ZSet, t.form)
	return n, nil
}
