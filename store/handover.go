package store

import (
	"encoding/binary"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// A tapPart is the part of a unit that goes to one tap.
type tapPart struct {
	tap *Tap
	w   ops.Writer
}

// tapParts are the parts of a unit; what is behind their end keeps room for the next
// unit's.
type tapParts []tapPart

// maxPartRoom bounds how much room is kept for each, in bytes.
const maxPartRoom = 64 << 10

// add appends an operation to the part of each tap of a piece.
func (parts *tapParts) add(p *tapPiece, o *ops.Op) {
	if p.tap != nil {
		parts.of(p.tap).Add(o)
	}
	for _, t := range p.listen {
		parts.of(t).Add(o)
	}
}

// of returns the writer of a tap.
func (parts *tapParts) of(t *Tap) *ops.Writer {
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

// drop forgets the parts.
func (parts *tapParts) drop() {
	for i := range *parts {
		p := &(*parts)[i]
		p.tap = nil
		if cap(p.w.Buf) > maxPartRoom {
			p.w = ops.Writer{}
		}
	}
	*parts = (*parts)[:0]
}

// handOver hands what has just been committed to the taps. What a unit did on the
// way does not travel: of each key its last header, and the entries of that value.
// r is the batch as it was before Pebble took it, which keeps what is large; entries
// says that it holds entries of values.
func (u *Unit) handOver(ts *tapSet, r batchrepr.Reader, entries bool) {
	for i := range u.changes {
		c := &u.changes[i]
		if p := ts.find(c.place.Token()); p != nil {
			u.addHeader(p, c)
		}
	}
	for entries {
		kind, k, v, ok, err := r.Next()
		if !ok || err != nil {
			break // it has been applied, so it is well-formed
		}
		if k[0] != layout.KindData {
			continue
		}
		p, key, sub, err := layout.SplitPlacedKey(k[1:])
		if err != nil || len(sub) < layout.GenSize || binary.BigEndian.Uint64(sub) != u.lastGeneration(p, key, sub) {
			continue
		}
		if piece := ts.find(p.Token()); piece != nil {
			u.parts.addSub(piece, kind, key, sub[layout.GenSize:], v)
		}
	}
	for i := range u.parts {
		p := &u.parts[i]
		if number := p.tap.hand(p.w.Buf); p.tap.holds {
			u.handed(p.tap, number)
		}
	}
	u.parts.drop()
}

// addHeader adds the last header of a key.
func (u *Unit) addHeader(p *tapPiece, c *change) {
	o := ops.Op{Kind: ops.Remove, Key: c.key}
	var h layout.Header
	if c.line != nil {
		_ = h.Parse(c.line)
		o.Kind, o.A = ops.Put, c.line
		if h.Gen != 0 && h.Gen != c.base {
			o.Kind = ops.PutNew
			for i := range u.built {
				if b := &u.built[i]; b.gen == h.Gen && b.staged {
					o.Kind, b.adopted = ops.PutStaged, true
				}
			}
		}
	}
	c.gen = h.Gen
	u.parts.add(p, &o)
}

// lastGeneration returns the generation of a key's value after the unit; without a
// change of its header, the sub entry's own.
func (u *Unit) lastGeneration(p Place, key, sub []byte) uint64 {
	if c := u.find(p, key); c != nil {
		return c.gen
	}
	return binary.BigEndian.Uint64(sub)
}

// addSub adds what a commit did to an entry of a value.
func (parts *tapParts) addSub(p *tapPiece, kind pebble.InternalKeyKind, key, sub, value []byte) {
	switch kind {
	case pebble.InternalKeyKindSet:
		parts.add(p, &ops.Op{Kind: ops.PutSub, Key: key, A: sub, B: value})
	case pebble.InternalKeyKindDelete, pebble.InternalKeyKindSingleDelete:
		parts.add(p, &ops.Op{Kind: ops.RemoveSub, Key: key, A: sub})
	case pebble.InternalKeyKindRangeDelete:
		// value is the end, in the same value or just behind it.
		_, endKey, end, err := layout.SplitPlacedKey(value[1:])
		if err != nil || string(endKey) != string(key) || len(end) < layout.GenSize {
			end = make([]byte, layout.GenSize)
		}
		parts.add(p, &ops.Op{Kind: ops.RemoveSubs, Key: key, A: sub, B: end[layout.GenSize:]})
	}
}

// staged hands over part of a value that no header names yet, the first or more of it;
// Store.commits is held for reading, since before that was committed. A tap that holds the
// range since a later moment is handed all of the value later, if it gets a header.
func (ts *tapSet) staged(r batchrepr.Reader, b *construction, more bool) {
	piece := ts.find(b.place.Token())
	if piece == nil {
		return
	}
	to := *piece
	o := ops.Op{Kind: ops.Stage, Key: b.key, Gen: b.gen}
	if !more {
		b.handed = piece.holder()
	} else {
		o.Kind = ops.StageMore
		if b.handed != piece.holder() {
			to.tap = nil
		}
	}
	var parts tapParts
	parts.add(&to, &o)
	for {
		kind, k, v, ok, err := r.Next()
		if !ok || err != nil {
			break
		}
		if k[0] != layout.KindData {
			continue
		}
		if _, _, sub, err := layout.SplitPlacedKey(k[1:]); err == nil && len(sub) > layout.GenSize {
			parts.addSub(&to, kind, b.key, sub[layout.GenSize:], v)
		}
	}
	for i := range parts {
		parts[i].tap.hand(parts[i].w.Buf)
	}
}

// abandoned tells of values that a unit may have begun and no header will name. Of
// one that a header does name, the receiver knows nothing any more. Store.commits is held
// for reading.
func (ts *tapSet) abandoned(built []construction) {
	for i := range built {
		c := &built[i]
		if !c.staged || c.adopted {
			continue
		}
		if piece := ts.find(c.place.Token()); piece != nil {
			var parts tapParts
			parts.add(piece, &ops.Op{Kind: ops.Abandon, Key: c.key, Gen: c.gen})
			for i := range parts {
				parts[i].tap.hand(parts[i].w.Buf)
			}
		}
	}
}

// tellDropped tells the taps that ranges have been emptied, under the latches nums,
// and returns what is to wait in place of w. Each tap gets one change.
func (s *Store) tellDropped(taps *tapSet, rs []ring.Range, nums []uint16, w Waiter) Waiter {
	u := Unit{s: s, latched: nums}
	for _, t := range taps.all() {
		b := ops.NewWriter(0, 16)
		for _, st := range layout.Union(taps.of(t)) {
			for _, r := range rs {
				for _, tokens := range layout.Intersect(ring.Range{Start: st.First.Token(), End: st.Last.Token() + 1}, r) {
					b.Add(&ops.Op{Kind: ops.Drop, Tokens: tokens})
				}
			}
		}
		if b.Empty() {
			continue
		}
		if number := t.hand(b.Buf); t.holds {
			u.handed(t, number)
		}
	}
	return u.gated(w)
}
