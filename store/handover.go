package store

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// handOver hands what has just been committed to the taps. What a unit did on the
// way does not travel: of each key its last header, and the entries of that value.
// r is the batch as it was before Pebble took it, which keeps what is large; entries
// says that it holds entries of values.
func (u *Unit) handOver(ts *tap.Set, r batchrepr.Reader, entries bool) {
	for i := range u.changes {
		c := &u.changes[i]
		if p := ts.Find(c.place.Token()); p != nil {
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
		if piece := ts.Find(p.Token()); piece != nil {
			u.parts.AddSub(piece, kind, key, sub[layout.GenSize:], v)
		}
	}
	for i := range u.parts {
		if t, number := u.parts[i].Hand(); t.IsHolding() {
			u.noteHandedOver(t, number)
		}
	}
	u.parts.Drop()
}

// addHeader adds the last header of a key.
func (u *Unit) addHeader(p *tap.Piece, c *change) {
	o := ops.Op{Kind: ops.Remove, Key: c.key}
	var h layout.Header
	if c.line != nil {
		_ = h.Parse(c.line)
		o.Kind, o.A = ops.Put, c.line
		if h.Gen != 0 && h.Gen != c.base {
			o.Kind = ops.PutNew
			for i := range u.long.staging {
				if b := &u.long.staging[i]; b.gen == h.Gen && b.staged {
					o.Kind, b.adopted = ops.PutStaged, true
				}
			}
		}
	}
	u.parts.Add(p, &o)
}

// lastGeneration returns the generation of a key's value after the unit; without a
// change of its header, the sub entry's own.
func (u *Unit) lastGeneration(p Place, key, sub []byte) uint64 {
	if c := u.find(p, key); c != nil {
		return c.gen
	}
	return binary.BigEndian.Uint64(sub)
}

// handOverStaged hands over part of a value that no header names yet, the first or more of it;
// Store.commits is held for reading, since before that was committed. A tap that holds the
// range since a later moment is handed all of the value later, if it gets a header.
func handOverStaged(ts *tap.Set, r batchrepr.Reader, b *stagedValue, more bool) {
	piece := ts.Find(b.place.Token())
	if piece == nil {
		return
	}
	to := *piece
	o := ops.Op{Kind: ops.Stage, Key: b.key, Gen: b.gen}
	if !more {
		b.handed = piece.Holder()
	} else {
		o.Kind = ops.StageMore
		if b.handed != piece.Holder() {
			to = to.WithoutHolder()
		}
	}
	var parts tap.Parts
	parts.Add(&to, &o)
	for {
		kind, k, v, ok, err := r.Next()
		if !ok || err != nil {
			break
		}
		if k[0] != layout.KindData {
			continue
		}
		if _, _, sub, err := layout.SplitPlacedKey(k[1:]); err == nil && len(sub) > layout.GenSize {
			parts.AddSub(&to, kind, b.key, sub[layout.GenSize:], v)
		}
	}
	for i := range parts {
		_, _ = parts[i].Hand()
	}
}

// handOverAbandoned tells of values that a unit may have begun and no header will name. Of
// one that a header does name, the receiver knows nothing any more. Store.commits is held
// for reading.
func handOverAbandoned(ts *tap.Set, built []stagedValue) {
	for i := range built {
		c := &built[i]
		if !c.staged || c.adopted {
			continue
		}
		if piece := ts.Find(c.place.Token()); piece != nil {
			var parts tap.Parts
			parts.Add(piece, &ops.Op{Kind: ops.Abandon, Key: c.key, Gen: c.gen})
			for i := range parts {
				_, _ = parts[i].Hand()
			}
		}
	}
}

// handOverDrop tells the taps that ranges have been emptied, under the latches nums,
// and returns what is to wait in place of w. Each tap gets one change.
func (rd *rangeDropper) handOverDrop(taps *tap.Set, rs []ring.Range, nums []uint16, w Waiter) Waiter {
	u := rd.s.NewUnit()
	u.latched = nums
	for _, t := range taps.All() {
		b := ops.NewWriter(0, 16)
		for _, st := range layout.Union(taps.Of(t)) {
			for _, r := range rs {
				for _, tokens := range layout.Intersect(ring.Range{Start: st.First.Token(), End: st.Last.Token() + 1}, r) {
					b.Add(&ops.Op{Kind: ops.Drop, Tokens: tokens})
				}
			}
		}
		if b.Empty() {
			continue
		}
		if number := t.Hand(b.Buf); t.IsHolding() {
			u.noteHandedOver(t, number)
		}
	}
	return u.awaitAcks(w)
}
