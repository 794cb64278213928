package collection

import "bytes"

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
	if leave && len(key) < maxEnd { // of a longer end the header keeps less than is needed
		if z.left >= z.shape().maxLeft {
			z.sweep()
		}
		z.left++
	} else {
		t := &z.table
		t.sub = append(append(t.sub[:0], kindScore), key...)
		t.unit.RemoveElement(t.key, &t.v, t.sub)
	}
	if back {
		z.high = append(z.ourHigh[:0], key...)
		z.ourHigh = z.high
		return
	}
	z.low = append(append(z.ourLow[:0], key...), 0) // the first place behind it
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
