package resp

import (
	"encoding/hex"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A footprint remembers where a connection has written, in stretches of 2²² tokens: WAIT
// asks about these. What lies beside a key in the same stretch counts as written, which
// can only make WAIT more careful. It belongs to the connection's goroutine.
type footprint [footprintWords]uint64

const (
	footprintBits  = 10
	footprintShift = 32 - footprintBits
	footprintWords = 1 << footprintBits / 64
)

func (f *footprint) markAll() {
	for i := range f {
		f[i] = ^uint64(0)
	}
}

func (f *footprint) mark(places []store.Place) {
	for _, p := range places {
		i := p.Token() >> footprintShift
		f[i/64] |= 1 << (i % 64)
	}
}

func (f *footprint) empty() bool { return *f == footprint{} }

// touches tells whether something in a range may have been written.
func (f *footprint) touches(r ring.Range) bool {
	first := r.Start >> footprintShift
	last := (r.End - 1) >> footprintShift
	if r.Start == r.End || first > last || first == last && r.Wraps() {
		last += 1 << footprintBits // around the circle, which ends where the numbers do
	}
	for i := first; i <= last; i++ {
		at := i % (1 << footprintBits)
		if f[at/64]&(1<<(at%64)) != 0 {
			return true
		}
	}
	return false
}

// String is a form that parseFootprint reads.
func (f *footprint) String() string {
	var b [footprintWords * 8]byte
	for i, word := range f {
		for j := range 8 {
			b[i*8+j] = byte(word >> (8 * j))
		}
	}
	return hex.EncodeToString(b[:])
}

func parseFootprint(text []byte) (f footprint, ok bool) {
	var b [footprintWords * 8]byte
	if len(text) != hex.EncodedLen(len(b)) {
		return f, false
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return f, false
	}
	for i := range f {
		for j := range 8 {
			f[i] |= uint64(b[i*8+j]) << (8 * j)
		}
	}
	return f, true
}
