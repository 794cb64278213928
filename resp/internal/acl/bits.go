package acl

// A bitmap has a bit for each command, by its ID.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

func (b bitmap) add(i int) { b[i>>6] |= 1 << (i & 63) }

func (b bitmap) clone() bitmap { return append(bitmap(nil), b...) }

func (b bitmap) equal(other bitmap) bool {
	for i := range b {
		if b[i] != other[i] {
			return false
		}
	}
	return true
}

// set sets or clears the bits of another bitmap.
func (b bitmap) set(other bitmap, value bool) {
	for i := range other {
		if value {
			b[i] |= other[i]
		} else {
			b[i] &^= other[i]
		}
	}
}
