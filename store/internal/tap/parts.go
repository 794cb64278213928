package tap

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// A Part is the part of a unit that goes to one tap.
type Part struct {
	tap *Tap
	w   ops.Writer
}

// Parts are the parts of a unit; what is behind their end keeps room for the next
// unit's.
type Parts []Part

// maxPartRoom bounds how much room is kept for each, in bytes.
const maxPartRoom = 64 << 10

// Add appends an operation to the part of each tap of a piece.
func (parts *Parts) Add(p *Piece, o *ops.Op) {
	if p.tap != nil {
		parts.of(p.tap).Add(o)
	}
	for _, t := range p.listen {
		parts.of(t).Add(o)
	}
}

// of returns the writer of a tap.
func (parts *Parts) of(t *Tap) *ops.Writer {
	for i := range *parts {
		if (*parts)[i].tap == t {
			return &(*parts)[i].w
		}
	}
	n := len(*parts)
	*parts = slices.Grow(*parts, 1)[:n+1]
	p := &(*parts)[n]
	p.tap = t
	p.w.Begin(0)
	return &p.w
}

// Drop forgets the parts.
func (parts *Parts) Drop() {
	for i := range *parts {
		p := &(*parts)[i]
		p.tap = nil
		if cap(p.w.Buf) > maxPartRoom {
			p.w = ops.Writer{}
		}
	}
	*parts = (*parts)[:0]
}

// AddSub adds what a commit did to an entry of a value.
func (parts *Parts) AddSub(p *Piece, kind pebble.InternalKeyKind, key, sub, value []byte) {
	switch kind {
	case pebble.InternalKeyKindSet:
		parts.Add(p, &ops.Op{Kind: ops.PutSub, Key: key, A: sub, B: value})
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete:
		parts.Add(p, &ops.Op{Kind: ops.RemoveSub, Key: key, A: sub})
	case pebble.InternalKeyKindRangeDelete:
		// value is the end, in the same value or just behind it.
		_, endKey, end, err := layout.SplitPlacedKey(value[1:])
		if err != nil || string(endKey) != string(key) || len(end) < layout.GenSize {
			end = make([]byte, layout.GenSize)
		}
		parts.Add(p, &ops.Op{Kind: ops.RemoveSubs, Key: key, A: sub, B: end[layout.GenSize:]})
	}
}

// Hand hands the part over, and returns the tap and the change's number: see Tap.hand.
func (p *Part) Hand() (*Tap, uint64) { return p.tap, p.tap.Hand(p.w.Buf) }
