package collection

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/store"
)

// A gap is a stretch of IDs between two others, both not included, where there is nothing, and how
// many tombstones and other entries of the engine were passed there. Of a stream, or of what is
// pending in a group, one gap is kept, that with the most of them: as where one entry stays at the
// beginning, because no consumer acknowledges it, and all that come behind it go. The zero gap is none.
//
// About every 32nd removal looks how far there is nothing around it, and on the way skips the gap,
// so that no tombstone is passed by more than a few of them.
type gap struct {
	low, high ID
	passed    uint64
}

// looks reports whether who removes an ID looks around it. That does not depend on chance, so
// tests repeat.
func looks(id ID) bool {
	var b [idSize]byte
	return xxhash.Sum64(id.append(b[:0]))%looseDrops == 0
}

func (g *gap) has(id ID) bool {
	return g.passed > 0 && id.Compare(g.low) > 0 && id.Compare(g.high) < 0
}

// widen notes that there is nothing between two IDs that are there, where so many entries of the
// engine were passed beside those in the gap.
func (g *gap) widen(low, high ID, passed int) {
	n := uint64(max(passed, 1))
	switch {
	case low.Compare(high) >= 0: // what had gone is there again
		return
	case g.passed > 0 && low.Compare(g.low) <= 0 && g.high.Compare(high) <= 0:
		n += g.passed
	case n <= g.passed:
		return
	}
	*g = gap{low, high, n}
}

// skip has an iterator over sub keys that end with IDs, behind a prefix, skip the gap.
func (g *gap) skip(it *store.Elements, prefix []byte) {
	if g.passed == 0 {
		return
	}
	it.Skip(behind(prefix[0], prefix[1:], g.low), g.high.append(append([]byte(nil), prefix...)))
}

func (g *gap) append(dst []byte) []byte {
	if g.passed == 0 {
		return dst
	}
	return binary.AppendUvarint(g.high.append(g.low.append(dst)), g.passed)
}

// parse reads what append has written, which may be nothing, and returns what follows it.
func (g *gap) parse(b []byte) (rest []byte, err error) {
	if *g = (gap{}); len(b) == 0 {
		return nil, nil
	}
	if len(b) < 2*idSize {
		return nil, errStream
	}
	r := numbers{b: b[2*idSize:]}
	*g = gap{low: idOf(b), high: idOf(b[idSize:]), passed: r.uvarint()}
	return r.b, r.err
}
