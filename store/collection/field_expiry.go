package collection

import (
	"bytes"
	"encoding/binary"

	"github.com/ringside-kv/ringside/store"
)

// What a table does where fields expire. Nothing here is reached as long as none does.

// isDue reports whether a time has come.
func (t *Table) isDue(expiry int64) bool { return expiry != 0 && expiry <= t.unit.Now() }

// mayHaveDue reports whether the time of some field may have come.
func (t *Table) mayHaveDue() bool { return t.isDue(t.v.FieldExpiry) }

// expireDue removes fields whose time has come from a hash that has just been opened, not all if
// they are many: see store.Unit.ExpireFieldsOnRead. Of a hash that is whole, t shows none of them.
func (t *Table) expireDue() error {
	if err := t.unit.ExpireFieldsOnRead(t.key, &t.v); err != nil {
		return err
	}
	if !t.v.Exists() || !t.v.Whole() || !t.mayHaveDue() {
		return nil
	}
	p, _, err := t.packLive()
	if err != nil {
		return err
	}
	if p.n == 0 {
		t.v = store.Value{}.WithPlaceOf(t.v)
		return nil
	}
	t.v.Inline, t.v.FieldExpiry = p.form(nil), p.bound()
	return nil
}

// packLive packs those fields of a table that is whole which are not due, and counts the others.
func (t *Table) packLive() (p timedPacker, due int, err error) {
	return t.repack(func(r *packedReader) bool { return !t.isDue(r.expiry) })
}

// repack packs those fields of a table that is whole which keep chooses, and counts the others.
func (t *Table) repack(keep func(r *packedReader) bool) (p timedPacker, left int, err error) {
	p.timed = t.v.FieldExpiry != 0
	r := t.packed().reader()
	for r.next() {
		if keep(&r) {
			p.add(r.field, r.value, r.expiry)
		} else {
			left++
		}
	}
	return p, left, r.err
}

// putWhole makes what was packed the table; without a field the key goes.
func (t *Table) putWhole(p *timedPacker) {
	if p.n == 0 {
		t.Clear()
		return
	}
	t.form = p.form(t.form[:0])
	t.unit.PutWholeTimed(t.key, &t.v, t.typ, t.form, p.bound())
}

// getWhole is Get where the table is whole.
func (t *Table) getWhole(field []byte) (value []byte, ok bool, err error) {
	value, expiry, ok, err := t.findWhole(field)
	if t.isDue(expiry) {
		return nil, false, err
	}
	return value, ok, err
}

func (t *Table) findWhole(field []byte) (value []byte, expiry int64, ok bool, err error) {
	r := t.packed().reader()
	for r.next() {
		if bytes.Equal(r.field, field) {
			return r.value, r.expiry, true, nil
		}
	}
	return nil, 0, false, r.err
}

// getTimed is Get for a field of a large hash that may expire.
func (t *Table) getTimed(field []byte) (value []byte, expiry int64, ok bool, err error) {
	t.sub = appendTimedKey(t.sub[:0], field)
	if t.steady || t.unit.HasLatchOf(&t.v) {
		value, ok, err = t.unit.Element(t.key, &t.v, t.sub)
	} else {
		t.v, value, ok, err = t.unit.GetElement(t.key, func(*store.Value) []byte { return t.sub })
		if err == nil && !ok { // it may have lost its expiry since it was looked for elsewhere
			if err = t.OpenWhole(t.unit, t.key, t.typ); err != nil {
				return nil, 0, false, err
			}
			return t.lookup(field)
		}
	}
	if err != nil || !ok {
		return nil, 0, false, err
	}
	if expiry, value, ok = splitTimedValue(value); !ok {
		return nil, 0, false, errPacked
	}
	return value, expiry, true, nil
}

// lookup returns the value of a field and its expiry, 0 for none, due or not. The table must have
// been opened as a whole, or with its latch held.
func (t *Table) lookup(field []byte) (value []byte, expiry int64, ok bool, err error) {
	if t.v.Whole() {
		return t.findWhole(field)
	}
	t.sub = appendSubKey(t.sub[:0], field)
	value, ok, err = t.unit.Element(t.key, &t.v, t.sub)
	if ok || err != nil || t.v.FieldExpiry == 0 {
		return value, 0, ok, err
	}
	return t.getTimed(field)
}

// GetExpiry is Get with the expiry of the field, 0 for none. The table must have been opened as a
// whole, or with its latch held.
func (t *Table) GetExpiry(field []byte) (value []byte, expiry int64, ok bool, err error) {
	value, expiry, ok, err = t.lookup(field)
	if err != nil || !ok || t.isDue(expiry) {
		return nil, 0, false, err
	}
	return value, expiry, true, nil
}

// SetKeeping is Set for a field that keeps the expiry it has.
func (t *Table) SetKeeping(field, value []byte) (added bool, err error) {
	if t.v.FieldExpiry == 0 {
		return t.Set(field, value)
	}
	_, expiry, _, err := t.GetExpiry(field)
	if err != nil {
		return false, err
	}
	return t.SetExpiring(field, value, expiry)
}

// SetExpiring is Set for a field of a hash that expires at some time; 0: never. A time that has
// come is the caller's to see.
func (t *Table) SetExpiring(field, value []byte, expiry int64) (added bool, err error) {
	if t.v.Whole() {
		if expiry == 0 && t.v.FieldExpiry == 0 {
			return t.Set(field, value)
		}
		done, added, err := t.setWhole(field, value, expiry)
		if done || err != nil {
			return added, err
		}
		if err := t.split(); err != nil {
			return false, err
		}
	}
	return t.setLarge(field, value, expiry)
}

// setWhole is SetExpiring in a table that is whole. It is not done if the table became too large.
func (t *Table) setWhole(field, value []byte, expiry int64) (done, added bool, err error) {
	old, was, found, err := t.findWhole(field)
	if err != nil {
		return false, false, err
	}
	added = !found || t.isDue(was)
	if !added && was == expiry && bytes.Equal(old, value) {
		return true, false, nil
	}
	p := timedPacker{timed: expiry != 0 || t.v.FieldExpiry != 0}
	r := t.packed().reader()
	for r.next() {
		if bytes.Equal(r.field, field) {
			p.add(field, value, expiry)
		} else {
			p.add(r.field, r.value, r.expiry)
		}
	}
	if !found {
		p.add(field, value, expiry)
	}
	if r.err != nil || len(p.entries) > t.MaxPacked {
		return false, false, r.err
	}
	t.putWhole(&p)
	return true, added, nil
}

// setLarge is SetExpiring in a table of elements.
func (t *Table) setLarge(field, value []byte, expiry int64) (added bool, err error) {
	old, was, found, err := t.lookup(field)
	if err != nil {
		return false, err
	}
	added = !found || t.isDue(was)
	if !added && was == expiry && bytes.Equal(old, value) {
		return false, nil
	}
	head, err := headOf(&t.v)
	if err != nil {
		return false, err
	}
	count, size := t.v.Count, t.v.Size+int64(len(value)-len(old))
	if !found {
		count++
		size += int64(len(field))
	}
	t.removeOld(&head, field, found, was, expiry)
	t.setElement(&head, field, value, expiry)
	t.putTimedHead(count, size, head)
	return added, nil
}

// removeOld removes the elements of a field that has an expiry, or none, and gets another.
func (t *Table) removeOld(head *timedHead, field []byte, found bool, was, expiry int64) {
	if was != 0 {
		head.fields--
		if was != expiry {
			t.sub = appendTimeKey(t.sub[:0], was, field)
			t.unit.RemoveElement(t.key, &t.v, t.sub)
		}
	}
	switch {
	case !found || (was != 0) == (expiry != 0):
		return
	case was != 0:
		t.sub = appendTimedKey(t.sub[:0], field)
	default:
		t.sub = appendSubKey(t.sub[:0], field)
	}
	t.unit.RemoveElement(t.key, &t.v, t.sub)
}

// setElement sets the elements of a field.
func (t *Table) setElement(head *timedHead, field, value []byte, expiry int64) {
	if expiry == 0 {
		t.sub = appendSubKey(t.sub[:0], field)
		t.unit.SetElement(t.key, &t.v, t.sub, value)
		return
	}
	t.sub = appendTimedKey(t.sub[:0], field)
	t.form = appendTimedValue(t.form[:0], expiry, value)
	t.unit.SetElement(t.key, &t.v, t.sub, t.form)
	t.sub = appendTimeKey(t.sub[:0], expiry, field)
	t.form = appendLength(t.form[:0], len(value))
	t.unit.SetElement(t.key, &t.v, t.sub, t.form)
	head.fields++
	head.lower(expiry, orderOf(field))
}

// putTimedHead is putHead for a hash whose fields may expire.
func (t *Table) putTimedHead(count, size int64, head timedHead) {
	t.form = t.form[:0]
	if head.fields == 0 {
		head.first = 0
	} else {
		t.form = head.append(t.form)
	}
	t.unit.PutHeadTimed(t.key, &t.v, count, size, t.form, head.first)
	t.put = t.unit.HeadChanges()
}

// deleteTimed is Delete for a hash with expiring fields. A field that is due is left to expireDue.
func (t *Table) deleteTimed(field []byte) (bool, error) {
	old, was, found, err := t.lookup(field)
	if err != nil || !found || t.isDue(was) {
		return false, err
	}
	if t.v.Whole() {
		p, _, err := t.repack(func(r *packedReader) bool { return !bytes.Equal(r.field, field) })
		if err == nil {
			t.putWhole(&p)
		}
		return err == nil, err
	}
	if t.v.Count <= 1 {
		t.Clear()
		return true, nil
	}
	head, err := headOf(&t.v)
	if err != nil {
		return false, err
	}
	t.removeOld(&head, field, true, was, 0)
	if was == 0 {
		t.sub = appendSubKey(t.sub[:0], field)
		t.unit.RemoveElement(t.key, &t.v, t.sub)
	}
	t.putTimedHead(t.v.Count-1, t.v.Size-int64(len(field)+len(old)), head)
	return true, nil
}

// ExpireFields removes up to so many fields from the hash v at key whose time has come by the
// unit's Now, and says so in events. It is for [store.Config.ExpireFields].
func ExpireFields(u *store.Unit, key []byte, v *store.Value, most int) (n int, err error) {
	var t Table
	if err := t.open(u, key, store.Hash, *v, false, nil); err != nil {
		return 0, err
	}
	if t.v.Whole() {
		var p timedPacker
		if p, n, err = t.packLive(); err == nil && n > 0 {
			t.putWhole(&p)
		}
	} else {
		n, err = t.expireElements(most)
	}
	if err != nil {
		return 0, err
	}
	*v = t.v
	if n > 0 {
		u.Note(store.EventHash, "hexpired", key)
		if !v.Exists() {
			u.Note(store.EventGeneric, "del", key)
		}
	}
	return n, nil
}

// expireElements is ExpireFields in a table of elements. It reads the entries of the index that it
// removes, and the one behind them.
func (t *Table) expireElements(most int) (n int, err error) {
	head, err := headOf(&t.v)
	if err != nil {
		return 0, err
	}
	count, size, now := t.v.Count, t.v.Size, t.unit.Now()
	next := timedHead{}
	it := t.unit.Elements(t.key, &t.v, appendTimePlace(nil, head.first, head.order), []byte{kindByTime + 1}, false)
	for it.Next() {
		expiry, order, field, ok := splitTimeKey(it.Sub())
		length, w := binary.Uvarint(it.Value())
		if !ok || w <= 0 {
			err = errPacked
			break
		}
		if expiry > now || n == most {
			next.first, next.order = expiry, order
			break
		}
		t.unit.RemoveElement(t.key, &t.v, it.Sub())
		t.sub = appendTimedKey(t.sub[:0], field)
		t.unit.RemoveElement(t.key, &t.v, t.sub)
		n++
		count--
		size -= int64(len(field)) + int64(length)
	}
	if closeErr := it.Close(); err == nil {
		err = closeErr
	}
	next.fields = head.fields - int64(n)
	if err == nil && (next.fields == 0) != (next.first == 0) {
		err = errPacked
	}
	switch {
	case err != nil:
	case count == 0:
		t.Clear()
	default:
		t.putTimedHead(count, size, next)
	}
	return n, err
}
