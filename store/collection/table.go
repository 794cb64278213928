package collection

import (
	"errors"

	"github.com/ringside-kv/ringside/store"
)

// ErrDuplicate is the error for a table that is made of fields one of which comes twice.
var ErrDuplicate = errors.New("a field comes twice")

// A Table is fields that each are there once, with a value in a hash and without one in a
// set. It is for the commands of one unit: it belongs to its goroutine, and what it returns
// is valid until the unit ends or the table is changed.
type Table struct{ base }

// Open makes t the table at a key, of type store.Hash or store.Set, for whoever changes it,
// with the key's latch held, or looks at one field. A key that does not exist is an empty
// table.
func (t *Table) Open(u *store.Unit, key []byte, typ store.Type) error {
	if t.again(u, key, typ) {
		return nil
	}
	v, err := u.Get(key)
	if err = t.open(u, key, typ, v, false, err); err == nil && t.v.FieldExpiry != 0 && t.mayHaveDue() {
		err = t.expireDue()
	}
	if err == nil {
		t.stays()
	}
	return err
}

// OpenWhole is Open for whoever looks at more than one field: all is of one moment.
func (t *Table) OpenWhole(u *store.Unit, key []byte, typ store.Type) error {
	v, err := u.GetWhole(key)
	if err = t.open(u, key, typ, v, true, err); err == nil && t.v.FieldExpiry != 0 && t.mayHaveDue() {
		err = t.expireDue()
	}
	return err
}

// Get returns the value of a field.
func (t *Table) Get(field []byte) (value []byte, ok bool, err error) {
	if t.v.Whole() {
		return t.getWhole(field)
	}
	t.sub = appendSubKey(t.sub[:0], field)
	if t.steady {
		value, ok, err = t.unit.Element(t.key, &t.v, t.sub)
	} else {
		if t.v, value, ok, err = t.unit.GetElement(t.key, func(*store.Value) []byte { return t.sub }); err != nil {
			return nil, false, err
		}
		switch {
		case t.v.Exists() && t.v.Type != t.typ:
			return nil, false, ErrType
		case t.v.Whole(): // since Open
			return t.getWhole(field)
		}
	}
	if ok || err != nil || t.v.FieldExpiry == 0 {
		return value, ok, err
	}
	value, expiry, ok, err := t.getTimed(field)
	if err != nil || !ok || t.isDue(expiry) {
		return nil, false, err
	}
	return value, true, nil
}

// Set gives a field a value, in a set an empty one, and reports whether the field is new.
// The field does not expire then. With an error nothing was changed.
func (t *Table) Set(field, value []byte) (added bool, err error) {
	if t.v.FieldExpiry != 0 {
		return t.SetExpiring(field, value, 0)
	}
	if t.v.Whole() {
		p := t.packed()
		at, end, old, found, err := p.find(field)
		if err != nil || found && string(old) == string(value) {
			return false, err
		}
		n := p.len()
		if !found {
			at, end = len(p.buf), len(p.buf)
			n++
		}
		t.sub = appendEntry(t.sub[:0], field, value, t.pairs())
		if len(p.buf)-(end-at)+len(t.sub) <= t.MaxPacked {
			t.form = p.splice(t.form[:0], n, at, end, t.sub)
			t.unit.PutWhole(t.key, &t.v, t.typ, t.form)
			return !found, nil
		}
		if err := t.split(); err != nil {
			return false, err
		}
	}
	t.sub = appendSubKey(t.sub[:0], field)
	old, found, err := t.unit.Element(t.key, &t.v, t.sub)
	if err != nil || found && string(old) == string(value) {
		return false, err
	}
	count, size := t.v.Count, t.v.Size+int64(len(value)-len(old))
	if !found {
		count++
		size += int64(len(field))
	}
	t.unit.SetElement(t.key, &t.v, t.sub, value)
	if count != t.v.Count || size != t.v.Size {
		t.putHead(count, size, nil)
	}
	return !found, nil
}

// split makes of a table that is whole one of elements.
func (t *Table) split() error {
	p := t.packed()
	if err := t.unit.Split(t.key, &t.v, t.typ); err != nil {
		return err
	}
	count, size := int64(0), int64(0)
	var head timedHead
	r := p.reader()
	for r.next() {
		t.setElement(&head, r.field, r.value, r.expiry)
		count++
		size += int64(len(r.field) + len(r.value))
	}
	t.putTimedHead(count, size, head)
	return r.err
}

// Delete removes a field and reports whether it was there. With its last field the key
// goes. With an error nothing was changed.
func (t *Table) Delete(field []byte) (bool, error) {
	if t.v.FieldExpiry != 0 {
		return t.deleteTimed(field)
	}
	if t.v.Whole() {
		p := t.packed()
		at, end, _, found, err := p.find(field)
		if err != nil || !found {
			return false, err
		}
		if n := p.len() - 1; n > 0 {
			t.form = p.splice(t.form[:0], n, at, end, nil)
			t.unit.PutWhole(t.key, &t.v, t.typ, t.form)
			return true, nil
		}
		t.Clear()
		return true, nil
	}
	t.sub = appendSubKey(t.sub[:0], field)
	old, found, err := t.unit.Element(t.key, &t.v, t.sub)
	if err != nil || !found {
		return false, err
	}
	if t.v.Count <= 1 {
		t.Clear()
		return true, nil
	}
	t.unit.RemoveElement(t.key, &t.v, t.sub)
	t.putHead(t.v.Count-1, t.v.Size-int64(len(field)+len(old)), nil)
	return true, nil
}

// MarkLarge notes that the table is one that Redis keeps in no compact form, which
// [store.Value.Raw] tells from now on.
func (t *Table) MarkLarge() {
	t.setRaw(true)
}

// Over makes t the table at a key that is going to be replaced, whatever v, what Get
// returned, is.
func (t *Table) Over(u *store.Unit, key []byte, typ store.Type, v store.Value) {
	_ = t.open(u, key, typ, v, true, nil)
}
