package collection

import (
	"bytes"
	"errors"

	"github.com/ringside-kv/ringside/store"
)

// ErrType is the error for a key that holds another type of value.
var ErrType = errors.New("the key holds another type of value")

// DefaultPacked is the usual limit of a collection that is kept whole, in bytes.
const DefaultPacked = 1 << 10

// base is what all collections are made of.
type base struct {
	// MaxPacked is up to how many bytes a collection that is changed is kept whole. One that
	// was larger is not made whole again by changes.
	MaxPacked int

	unit *store.Unit
	key  []byte
	typ  store.Type
	v    store.Value
	// steady: all elements can be read as of the moment that v is of.
	steady bool
	// put is what the unit's HeadChanges were when v became what its head says, or was read
	// under its latch; 0: never.
	put  uint64
	sub  []byte // scratch
	form []byte // scratch
}

func (b *base) open(u *store.Unit, key []byte, typ store.Type, v store.Value, steady bool, err error) error {
	b.unit, b.key, b.typ, b.v, b.steady, b.put = u, key, typ, v, steady, 0
	if err == nil && v.Exists() && v.Type != typ {
		err = ErrType
	}
	return err
}

// stays notes that v is what there is until the unit changes a header: nobody else can.
func (b *base) stays() {
	if b.unit.HasLatchOf(&b.v) {
		b.put = b.unit.HeadChanges()
	}
}

// again tells that what is to be opened is open: the unit has changed no header since this
// one was read or put, as where commands of a pipeline follow each other on one key.
func (b *base) again(u *store.Unit, key []byte, typ store.Type) bool {
	if b.unit != u || b.put == 0 || b.put != u.HeadChanges() || b.typ != typ || !bytes.Equal(b.key, key) {
		return false
	}
	b.key = key
	return true
}

// putHead notes how many elements there are, what they hold, and what else the type wants
// to know.
func (b *base) putHead(count, size int64, head []byte) {
	b.unit.PutHead(b.key, &b.v, count, size, head)
	b.put = b.unit.HeadChanges()
}

// Value returns what the store says of the key.
func (b *base) Value() *store.Value { return &b.v }

// Len returns the number of elements: fields, members.
func (b *base) Len() int64 {
	if b.v.Whole() {
		return b.packed().len()
	}
	return b.v.Count
}

// packed is the whole collection; of a key that does not exist it is empty.
func (b *base) packed() packed { return packed{b.v.Inline, b.pairs(), b.v.FieldExpiry != 0} }

// pairs tells that elements have values.
func (b *base) pairs() bool { return b.typ == store.Hash || b.typ == store.ZSet }

// Clear removes the key.
func (b *base) Clear() {
	b.unit.Delete(b.key, b.v)
	b.v = store.Value{}.WithPlaceOf(b.v)
}

// setRaw notes [store.Value.Raw] of a key that exists.
func (b *base) setRaw(raw bool) {
	if b.v.Raw == raw || !b.v.Exists() {
		return
	}
	b.v.Raw = raw
	if b.v.Whole() {
		b.unit.PutWholeTimed(b.key, &b.v, b.typ, b.v.Inline, b.v.FieldExpiry)
	} else {
		b.form = append(b.form[:0], b.v.Inline...)
		b.unit.PutHeadTimed(b.key, &b.v, b.v.Count, b.v.Size, b.form, b.v.FieldExpiry)
		b.put = b.unit.HeadChanges()
	}
}

// putNew makes a packed collection the value, whatever was there, without an expiry.
func (b *base) putNew(form []byte) {
	b.Clear()
	b.unit.PutWhole(b.key, &b.v, b.typ, form)
}

// setExpiry sets the expiry of a key that exists.
func (b *base) setExpiry(at int64) {
	b.unit.SetExpiry(b.key, b.v, at)
	b.v.Expiry = at
}
