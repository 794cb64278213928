package collection

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// The ends of a large sorted set are low and high: no member lies before low, and none at high
// or behind it. Iterators begin there, so they do not pass the tombstones of members that were
// removed from an end.
//
// An end is tight if it is the place of a member: low is the rank key of the first member, high
// that of the last one with a zero byte behind it. Only the removal of that member moves a tight
// end. It makes the end loose: a loose low ends with a zero byte, a loose high does not. Behind a
// loose end there may be tombstones, so every few removals from then on the ends are looked up
// again (findEnds). An end that only seems to be tight, since an older version has written it
// or a member ends with a zero byte, costs time and nothing else.
const (
	// looseDrops and tightDrops are how many removals there are on average between two looks
	// for the ends, if one of them is loose or both are tight.
	looseDrops = 32
	tightDrops = 512
	// leftShare is what part of maxLeft is worth a deletion of a range, and givenPops how many
	// pops on average leave none after an end had to give way for fewer.
	leftShare = 64
	givenPops = 512
	// manyPassed is how many entries of the engine justify a deletion of a range.
	manyPassed = 256
)

// between reports whether a rank key lies between low and high.
func (z *ZSet) between(key []byte) bool {
	return bytes.Compare(key, z.low) >= 0 && (len(z.high) == 0 || bytes.Compare(key, z.high) < 0)
}

// within returns the bounds, as sub keys, of the order of scores between low and high.
func (z *ZSet) within() (lower, upper []byte) {
	lower = append([]byte{kindScore}, z.low...)
	if len(z.high) == 0 {
		return lower, []byte{kindScore + 1}
	}
	return lower, append([]byte{kindScore}, z.high...)
}

// passEnd moves an end past the rank key of a member that was the first one, or the last, and
// is no more. If leave is set, the key may stay where it is.
func (z *ZSet) passEnd(key []byte, back, leave bool) {
	if z.given && xxhash.Sum64(key)%givenPops == 0 {
		z.given = false
	}
	if leave && !z.given && len(key) < maxEnd { // of a longer end the header keeps less than is needed
		if z.left >= z.shape().maxLeft {
			z.sweep()
		}
		z.left++
	} else {
		t := &z.table
		t.sub = append(append(t.sub[:0], kindScore), key...)
		t.unit.RemoveElement(t.key, &t.v, t.sub)
	}
	z.setEnd(key, back)
}

// setEnd makes low the first place behind a rank key or, if back is set, high the rank key.
func (z *ZSet) setEnd(key []byte, back bool) {
	if back {
		z.high = append(z.ourHigh[:0], key...)
		z.ourHigh = z.high
		return
	}
	z.low = append(append(z.ourLow[:0], key...), 0)
	z.ourLow = z.low
}

// sweep removes all that was left beyond low and high, before one of them gives way.
func (z *ZSet) sweep() {
	if z.left == 0 {
		return
	}
	z.left = 0
	t := &z.table
	lower, upper := z.within()
	t.unit.RemoveElements(t.key, &t.v, []byte{kindScore}, lower)
	t.unit.RemoveElements(t.key, &t.v, upper, []byte{kindScore + 1})
}

// widen moves the ends so that the rank key of a new member lies between them.
func (z *ZSet) widen(key []byte) {
	if z.between(key) {
		return
	}
	swept := z.left > 0
	if swept && z.left < z.shape().maxLeft/leftShare {
		z.given = true
	}
	z.sweep()
	switch {
	case bytes.Compare(key, z.low) < 0:
		z.low = slices.Clone(key[:min(len(key), maxEnd)])
	case swept:
		// Members that are left at the front do not have to be swept for each one that
		// is added at the back.
		z.high = nil
	default:
		z.high = shortHigh(append(slices.Clone(key), 0))
	}
}

// shortHigh returns a high that the header has room for and that is not before the given one.
// It is not behind any rank key that was left beyond that, since these are short.
func shortHigh(high []byte) []byte {
	if len(high) <= maxEnd {
		return high
	}
	return prefixEnd(high[:maxEnd])
}

// tight reports whether both ends seem to be places of members.
func (z *ZSet) tight() bool {
	low, high := len(z.low), len(z.high)
	return low > 0 && low < maxEnd && z.low[low-1] != 0 && high > 0 && z.high[high-1] == 0
}

// dropped notes that a member has gone, which had a rank key.
func (z *ZSet) dropped(key []byte) {
	every := uint64(looseDrops)
	if z.tight() {
		every = tightDrops
	}
	// Which removals have the ends looked up does not depend on chance, so tests repeat.
	if xxhash.Sum64(key)%every == 0 {
		z.stale = true
	}
	if bytes.Equal(key, z.low) {
		z.setEnd(key, false)
	}
	if n := len(z.high) - 1; n >= 0 && z.high[n] == 0 && bytes.Equal(key, z.high[:n]) {
		z.setEnd(key, true)
	}
}

// findEnds makes the ends tight if enough members were removed since they were.
func (z *ZSet) findEnds() error {
	if !z.stale {
		return nil
	}
	z.stale = false
	first, _, err := z.edge(false)
	if err != nil || first == nil {
		return err
	}
	last, passed, err := z.edge(true)
	if err != nil || last == nil {
		return err
	}
	z.low = first[:min(len(first), maxEnd)]
	if len(z.high) == 0 && z.left > 0 {
		if passed < manyPassed { // see widen
			return nil
		}
		z.sweep()
	}
	z.high = shortHigh(append(last, 0))
	return nil
}

// edge returns the rank key of the first member, or else of the last, nil if there is none, and
// how many entries of the engine it has passed.
func (z *ZSet) edge(back bool) (key []byte, passed int, err error) {
	t := &z.table
	lower, upper := z.within()
	it := t.unit.Elements(t.key, &t.v, lower, upper, back)
	if it.Next() {
		key = slices.Clone(it.Sub()[1:])
		passed = it.Passed()
	}
	return key, passed, it.Close()
}
