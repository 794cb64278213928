package running

import (
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Mark is what a connection notes of its unit: a kind in the two top bits, the low 30
// bits of the term of its routes, and in the low 32 bits what the kind says. 0: no unit runs.
type Mark uint64

const (
	touchesAny    = 1 << 62 // of all tokens; that is so until the keys are known
	touchesToken  = 2 << 62 // of the token in the low bits
	touchesPieces = 3 << 62 // of the 32nds of all tokens of which the low bits are a set

	markTerm = 1<<30 - 1
	// pieceBits is by how much a token is shifted to give the 32nd that it lies in.
	pieceBits = 32 - 5
)

// By returns the mark of a unit that runs by the routes of a term, before its keys are known.
func By(term uint64) Mark { return Mark(touchesAny | term&markTerm<<32) }

// On narrows a unit down to places.
func (w Mark) On(places []store.Place) Mark {
	term := w & (markTerm << 32)
	first, pieces, same := ring.Token(0), uint32(0), true
	for i, p := range places {
		t := p.Token()
		if i == 0 {
			first = t
		}
		same = same && t == first
		pieces |= 1 << (t >> pieceBits)
	}
	if same && len(places) > 0 {
		return touchesToken | term | Mark(first)
	}
	return touchesPieces | term | Mark(pieces)
}

// Before tells whether the unit runs by routes that are older than those of a term.
func (w Mark) Before(term uint64) bool {
	age := (term - uint64(w>>32)) & markTerm
	return w != 0 && age != 0 && age <= markTerm/2
}

// Touches tells whether the unit may touch a range.
func (w Mark) Touches(r ring.Range) bool {
	switch uint64(w) &^ (1<<62 - 1) {
	case touchesToken:
		return r.Contains(ring.Token(w))
	case touchesPieces:
		return uint32(w)&piecesOf(r) != 0
	}
	return true
}

// piecesOf returns the set of 32nds of all tokens that a range has a part in.
func piecesOf(r ring.Range) (pieces uint32) {
	if r.Len() > 31<<pieceBits {
		return ^uint32(0)
	}
	last := (r.End - 1) >> pieceBits
	for piece := r.Start >> pieceBits; ; piece = (piece + 1) % 32 {
		if pieces |= 1 << piece; piece == last {
			return pieces
		}
	}
}

// TouchesAnyOf tells whether the unit may touch one of some ranges.
func (w Mark) TouchesAnyOf(ranges []ring.Range) bool {
	for _, r := range ranges {
		if w.Touches(r) {
			return true
		}
	}
	return false
}

// A Note is the mark of a connection, which alone stores it.
type Note struct{ word atomic.Uint64 }

// Load returns the mark. Any goroutine may call it.
func (n *Note) Load() Mark { return Mark(n.word.Load()) }

// Store sets the mark.
func (n *Note) Store(w Mark) { n.word.Store(uint64(w)) }

// Occupied returns those of some ranges on which units run by routes from before a term.
func Occupied(marks []Mark, term uint64, ranges []ring.Range) (occupied []ring.Range) {
	for _, at := range ranges {
		for _, w := range marks {
			if w.Before(term) && w.Touches(at) {
				occupied = append(occupied, at)
				break
			}
		}
	}
	return occupied
}
