package footprint

import (
	"encoding/hex"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Footprint remembers where a connection has written, in stretches of 2²² tokens: WAIT
// asks about these. What lies beside a key in the same stretch counts as written, which
// can only make WAIT more careful. It belongs to one goroutine.
type Footprint [footprintWords]uint64

const (
	footprintBits  = 10
	footprintShift = 32 - footprintBits
	footprintWords = 1 << footprintBits / 64
)

// MarkAll marks everything as written.
func (f *Footprint) MarkAll() {
	for i := range f {
		f[i] = ^uint64(0)
	}
}

// Mark marks some places as written.
func (f *Footprint) Mark(places []store.Place) {
	for _, p := range places {
		i := p.Token() >> footprintShift
		f[i/64] |= 1 << (i % 64)
	}
}

// IsEmpty reports whether nothing was written.
func (f *Footprint) IsEmpty() bool { return *f == Footprint{} }

// Touches reports whether something in a range may have been written.
func (f *Footprint) Touches(r ring.Range) bool {
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

// String is a form that [Parse] reads.
func (f *Footprint) String() string {
	var b [footprintWords * 8]byte
	for i, word := range f {
		for j := range 8 {
			b[i*8+j] = byte(word >> (8 * j))
		}
	}
	return hex.EncodeToString(b[:])
}

// Parse reads what String returns; ok is false if text is not that.
func Parse(text []byte) (f Footprint, ok bool) {
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
