package store

import (
	"github.com/cockroachdb/pebble/v2"
)

func (u *Unit) batched() *pebble.Batch {
	if u.batch == nil {
		u.batch = u.s.db.NewBatch()
	}
	return u.batch
}

// put makes h the header of key; old is what load returned. It goes into the batch when the
// unit is applied, so that of many commands on a key one is written. The result is h as it is
// going to be written.
func (u *Unit) put(p Place, key []byte, old, h *header) (line []byte) {
	start := len(u.lines)
	u.lines = h.append(u.lines)
	line = u.lines[start:len(u.lines):len(u.lines)]
	u.noteHeader(p, key, line, old, h)
	return line
}

// remove deletes key, whose header is old, as put does.
func (u *Unit) remove(p Place, key []byte, old *header) {
	u.noteHeader(p, key, nil, old, &header{})
}

// noteHeader notes what writeHeaders is to write of a key, which must stay as it is until then;
// line is h, or nil if the key goes.
func (u *Unit) noteHeader(p Place, key, line []byte, old, h *header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	u.batched()
	u.setChange(p, key, line, old.gen)
	u.account(p, key, old, h)
}

// writeHeaders puts the headers into the batch.
func (u *Unit) writeHeaders() {
	for i := range u.changes {
		c := &u.changes[i]
		u.pbuf = appendDataPrefix(u.pbuf[:0], c.place, c.key)
		if c.line == nil {
			_ = u.batch.Delete(u.pbuf, nil)
		} else {
			_ = u.batch.Set(u.pbuf, c.line, nil) // an unindexed batch cannot fail
		}
		u.headers++
	}
}

// account brings counts, the expiry index and the garbage of a replaced value up
// to date with a change from old to h, either of which may be no value.
func (u *Unit) account(p Place, key []byte, old, h *header) {
	var d countDelta
	d.slice = sliceOf(p)
	if old.typ != None {
		d.keys--
		d.bytes -= int64(len(key)) + old.size()
	}
	if h.typ != None {
		if old.typ == None {
			u.noteNew(key)
		}
		d.keys++
		d.bytes += int64(len(key)) + h.size()
	}
	if old.expiry != h.expiry {
		if old.expiry != 0 {
			d.expires--
			u.pbuf = expiryKey(u.pbuf[:0], old.expiry, p, key)
			_ = u.batched().Delete(u.pbuf, nil)
			u.headers++
		}
		if h.expiry != 0 {
			d.expires++
			u.pbuf = expiryKey(u.pbuf[:0], h.expiry, p, key)
			_ = u.batched().Set(u.pbuf, nil, nil)
			u.headers++
		}
	}
	u.deltas = appendDelta(u.deltas, d)
	if old.gen != 0 && old.gen != h.gen {
		u.dropDirty(old.gen)
		u.pbuf = garbageKey(u.pbuf[:0], p, key, old.gen)
		_ = u.batched().Set(u.pbuf, nil, nil)
		u.headers++
		u.s.garbage.Add(1)
	}
}
