package collection

import (
	"bytes"
	"errors"
	"slices"
)

// manyRemoved is from how many members on, next to each other, they are removed from the order of
// scores as a range.
const manyRemoved = 64

// A removal is that of members of a large sorted set that follow each other.
//
// It finds the first members without a look at the counts, and changes nothing. When they are many it
// plans: a set that loses all its members goes as a whole, one that keeps few is made anew of
// these, and one that keeps a part of them is counted anew.
type removal struct {
	z        *ZSet
	from, to []byte
	back     bool
	most     int64

	n     int64
	last  []byte // the rank key of the member that was found last
	first []byte
	early [][]byte // the rank keys of those that were found before the plan
	bytes []byte   // what early is made of
	sub   []byte   // scratch

	planned         bool
	total           int64
	atFirst, atLast bool // it begins at the first member, or ends at the last
	how             int
}

const (
	oneByOne = iota
	allAtOnce
	madeAnew
)

// countShare is what part of the members is removed where they are counted anew. To put as many
// changes into the counts takes longer than to read the others.
const countShare = 4

// keptShare is how many are removed for each that stays where the set is made anew. A member that
// is added takes a few times as long as one that is removed.
const keptShare = 2

// plan decides how to go on, before anything was changed. Only a removal that yields nothing need not
// find all members.
func (r *removal) plan(silent bool) error {
	z := r.z
	low, high := int64(0), z.count
	var err error
	if len(r.from) > 0 {
		if low, err = z.Rank(r.from); err != nil {
			return err
		}
	}
	if len(r.to) > 0 {
		if high, err = z.Rank(r.to); err != nil {
			return err
		}
	}
	r.total = high - low
	if r.most >= 0 {
		r.total = min(r.total, r.most)
	}
	if r.back {
		low = high - r.total
	} else {
		high = low + r.total
	}
	r.planned, r.atFirst, r.atLast = true, low == 0, high == z.count
	kept := z.count - r.total
	switch {
	case silent && kept == 0:
		r.how = allAtOnce
	case silent && r.most < 0 && kept < r.total/keptShare:
		r.how = madeAnew
	case r.total > z.count/countShare:
		z.forgetCounts()
	}
	return nil
}

// found takes in the next member. Nothing more need be found if how is not oneByOne afterwards.
func (r *removal) found(score, member []byte, silent bool) error {
	r.n++
	r.last = append(append(r.last[:0], score...), member...)
	if r.n == 1 {
		r.first = slices.Clone(r.last)
	}
	if r.planned {
		r.take(r.last)
		return nil
	}
	at := len(r.bytes)
	r.bytes = append(r.bytes, r.last...)
	r.early = append(r.early, r.bytes[at:len(r.bytes):len(r.bytes)])
	if r.n < r.z.shape().planFrom {
		return nil
	}
	if err := r.plan(silent); err != nil || r.how != oneByOne {
		return err
	}
	r.takeEarly()
	return nil
}

func (r *removal) takeEarly() {
	for _, key := range r.early {
		r.take(key)
	}
}

// take removes a member but for its place in the order of scores.
func (r *removal) take(key []byte) {
	z, t := r.z, &r.z.table
	_, member := splitRankKey(key)
	r.sub = appendSubKey(r.sub[:0], member)
	t.unit.RemoveElement(t.key, &t.v, r.sub)
	z.count--
	z.size -= int64(len(member)) + scoreSize
	z.note(key, true)
}

// finish removes the members, and returns how many there were.
func (r *removal) finish() (int64, error) {
	z, t := r.z, &r.z.table
	switch {
	case r.n == 0:
		return 0, nil
	case r.how == allAtOnce:
		z.count, z.changed = 0, true
		return r.total, nil
	case r.how == madeAnew:
		return r.total, z.keepBeside(r.from, r.to)
	}
	if !r.planned {
		r.takeEarly()
	}
	first, last := r.first, r.last
	if r.back {
		first, last = last, first
	}
	if r.planned || r.n > manyRemoved {
		t.unit.RemoveElements(t.key, &t.v, append([]byte{kindScore}, first...), append(append([]byte{kindScore}, last...), 0))
	} else {
		for _, key := range r.early {
			t.sub = append(append(t.sub[:0], kindScore), key...)
			t.unit.RemoveElement(t.key, &t.v, t.sub)
		}
	}
	for i := 0; !r.planned && i < len(r.early); i++ {
		z.dropped(r.early[i])
	}
	// Whatever lay before the first or behind the last, and was to be removed, is gone as well.
	if r.atFirst || !r.back && bytes.Compare(r.from, z.low) <= 0 {
		z.setEnd(last, false)
	}
	if r.atLast || (r.back || r.most < 0) && (len(r.to) == 0 || len(z.high) > 0 && bytes.Compare(r.to, z.high) >= 0) {
		z.setEnd(first, true)
	}
	return r.n, nil
}

// keepBeside makes the sorted set anew of the members that are not from one rank key up to another.
func (z *ZSet) keepBeside(from, to []byte) error {
	v := &z.table.v
	expiry, raw := v.Expiry, v.Raw
	err := z.Replace(func(set func(member []byte, score float64) error) error {
		var failure error
		yield := func(member []byte, score float64) bool {
			failure = set(member, score)
			return failure == nil
		}
		var err error
		if len(from) > 0 {
			err = z.Range(nil, from, false, yield)
		}
		if len(to) > 0 && failure == nil && err == nil {
			err = z.Range(to, nil, false, yield)
		}
		return errors.Join(failure, err)
	})
	if err != nil {
		return err
	}
	z.table.setExpiry(expiry)
	if raw {
		z.MarkLarge()
	}
	return nil
}
