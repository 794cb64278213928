package store

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

func (u *Unit) ensureBatch() *pebble.Batch {
	if u.batch == nil {
		u.batch = u.s.db.NewBatch()
	}
	return u.batch
}

// put makes h the header of key; old is what load returned. It goes into the batch when the unit is applied, so that of
// many commands on a key one is written. The result is h as it is going to be written.
func (u *Unit) put(p Place, key []byte, old, h *layout.Header) (line []byte) {
	start := len(u.lines)
	u.lines = h.Append(u.lines)
	line = u.lines[start:len(u.lines):len(u.lines)]
	u.noteHeader(p, key, line, old, h)
	return line
}

// remove deletes key, whose header is old, as put does.
func (u *Unit) remove(p Place, key []byte, old *layout.Header) {
	u.noteHeader(p, key, nil, old, &layout.Header{})
}

// noteHeader notes what writeHeaders is to write of a key, which must stay as it is until then; line is h, or nil if
// the key goes.
func (u *Unit) noteHeader(p Place, key, line []byte, old, h *layout.Header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	u.ensureBatch()
	if h.FieldExpiry != 0 || h.Type.IsOfModule() || h.Flags&layout.FlagChunks != 0 {
		ensureFormat(u, h)
	}
	u.setChange(p, key, line, old.Gen, h.Gen)
	u.updateIndexes(p, key, old, h)
}

// writeHeaders puts headers into the batch, and those that are to be dirty lines into another one, which it returns;
// nil if there are none.
func (u *Unit) writeHeaders() (dirty *pebble.Batch) {
	for i := range u.changes {
		c := &u.changes[i]
		b := u.batch
		if c.dirty = c.mayStayDirty(u); !c.dirty {
			u.headers++
		} else if b = dirty; dirty == nil {
			dirty = u.s.db.NewBatch()
			b = dirty
		}
		u.pbuf = layout.AppendDataPrefix(u.pbuf[:0], c.place, c.key)
		if c.line == nil {
			_ = b.Delete(u.pbuf, nil)
		} else {
			_ = b.Set(u.pbuf, c.line, nil) // an unindexed batch cannot fail
		}
	}
	return dirty
}

// updateIndexes brings counts, the expiry index and the garbage of a replaced value up to date with a change from old
// to h, either of which may be no value.
func (u *Unit) updateIndexes(p Place, key []byte, old, h *layout.Header) {
	var d counts.Delta
	d.Slice, d.Database = layout.SliceOf(p), uint16(database.Of(key))
	if old.Type != None {
		d.Keys--
		d.Bytes -= int64(len(key)) + old.Size()
	}
	if h.Type != None {
		if old.Type == None {
			u.noteNew(key)
		}
		d.Keys++
		d.Bytes += int64(len(key)) + h.Size()
	}
	if old.Expiry != h.Expiry {
		if old.Expiry != 0 {
			d.Expires--
		}
		if h.Expiry != 0 {
			d.Expires++
		}
	}
	if old.Expiry != h.Expiry || old.FieldExpiry != h.FieldExpiry {
		if old.HasTimedFields() {
			d.TimedHashes--
		}
		if h.HasTimedFields() {
			d.TimedHashes++
		}
		u.updateExpiryIndex(p, key, old, h)
	}
	u.deltas = counts.AppendDelta(u.deltas, d)
	if old.Gen != 0 && old.Gen != h.Gen {
		u.pieces.dropChanged(old.Gen)
		u.pbuf = garbageKey(u.pbuf[:0], p, key, old.Gen)
		_ = u.ensureBatch().Set(u.pbuf, nil, nil)
		u.headers++
		u.s.housekeeper.garbage.Add(1)
	}
}

// updateExpiryIndex has the index of expiry times say what h does in place of old. Both times of a key may be the same,
// and its entry then one.
func (f *fieldTimes) updateExpiryIndex(p Place, key []byte, old, h *layout.Header) {
	u := f.u
	had, has := [2]int64{old.Expiry, old.FieldExpiry}, [2]int64{h.Expiry, h.FieldExpiry}
	for i := range 2 {
		if at := had[i]; at != 0 && at != has[0] && at != has[1] {
			u.pbuf = layout.AppendExpiryKey(u.pbuf[:0], at, p, key)
			_ = u.ensureBatch().Delete(u.pbuf, nil)
			u.headers++
		}
		if at := has[i]; at != 0 && at != had[0] && at != had[1] {
			u.pbuf = layout.AppendExpiryKey(u.pbuf[:0], at, p, key)
			_ = u.ensureBatch().Set(u.pbuf, nil, nil)
			u.headers++
		}
	}
}
