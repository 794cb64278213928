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

// put makes h the header of key; old is what load returned.
func (u *Unit) put(p Place, key []byte, old, h *header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	start := len(u.lines)
	u.lines = h.append(u.lines)
	line := u.lines[start:len(u.lines):len(u.lines)]
	u.pbuf = appendDataPrefix(u.pbuf[:0], p, key)
	b := u.batched()
	op := b.SetDeferred(len(u.pbuf), len(line))
	copy(op.Key, u.pbuf)
	copy(op.Value, line)
	_ = op.Finish() // an unindexed batch cannot fail
	u.headers++
	u.setChange(p, key, line, old.gen)
	u.account(p, key, old, h)
}

// remove deletes key, whose header is old.
func (u *Unit) remove(p Place, key []byte, old *header) {
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	u.pbuf = appendDataPrefix(u.pbuf[:0], p, key)
	_ = u.batched().Delete(u.pbuf, nil)
	u.headers++
	u.setChange(p, key, nil, old.gen)
	u.account(p, key, old, &header{})
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
