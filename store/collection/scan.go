package collection

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// All calls yield for each field until it returns false: in the order in which they came if
// the table is whole. The table must have been opened as a whole, or with its latch held;
// yield must neither keep what it is given nor change the table.
func (t *Table) All(yield func(field, value []byte) bool) error {
	if t.v.Whole() {
		r := t.packed().reader()
		for r.next() && yield(r.field, r.value) {
		}
		return r.err
	}
	if t.v.FieldExpiry != 0 {
		return t.AllExpiring(func(field, value []byte, _ int64) bool { return yield(field, value) })
	}
	_, err := t.elements(0, func(_ uint32, field, value []byte) bool { return yield(field, value) })
	return err
}

// elements goes over the elements from an order on. It reports whether it came to the end.
func (t *Table) elements(from uint32, yield func(order uint32, field, value []byte) bool) (ended bool, err error) {
	it := t.unit.Elements(t.key, &t.v, appendOrder(nil, from), []byte{kindField + 1}, false)
	for it.Next() {
		order, field, ok := splitSubKey(it.Sub())
		if !ok {
			return false, errors.Join(errPacked, it.Close())
		}
		if !yield(order, field, it.Value()) {
			return false, it.Close()
		}
	}
	return true, it.Close()
}

// Scan calls yield for about so many fields from a cursor on, at least one if there are
// any, and returns the next cursor; 0 is the first and, returned, says that it was the
// last call. A field that is there throughout is seen in one of the calls at least, whatever
// happens between them. A cursor is below 2³³. The rest is as with All.
func (t *Table) Scan(cursor uint64, count int64, yield func(field, value []byte)) (next uint64, err error) {
	if t.v.Whole() {
		return 0, t.All(func(field, value []byte) bool {
			yield(field, value)
			return true
		})
	}
	if cursor > math.MaxUint32 {
		return 0, nil
	}
	if t.v.FieldExpiry != 0 {
		return t.scanTimed(uint32(cursor), count, yield)
	}
	last := uint32(0)
	_, err = t.elements(uint32(cursor), func(order uint32, field, value []byte) bool {
		if count <= 0 && order != last {
			next = uint64(order) // all fields of one order come in one call
			return false
		}
		last = order
		count--
		yield(field, value)
		return true
	})
	return next, err
}

// Random returns any field and its value, each about as likely as the others; false if
// there is none. It is opened as for All.
func (t *Table) Random() (field, value []byte, ok bool, err error) {
	n := t.Len()
	if n == 0 {
		return nil, nil, false, nil
	}
	if t.v.Whole() {
		r := t.packed().reader()
		for i := rand.Int64N(n); i >= 0 && r.next(); i-- {
		}
		return r.field, r.value, r.err == nil, r.err
	}
	if t.v.FieldExpiry != 0 {
		return t.randomTimed()
	}
	return t.near(randomOrder(), rand.Int64N(min(n, spread)))
}

// spread is among how many neighbours one is chosen at random: the one that follows a
// random number is the likelier the wider the gap before it is, and many gaps together are
// more alike than one.
const spread = 16

// near returns the field that so many others lie between and an order, going round.
func (t *Table) near(order uint32, skip int64) (field, value []byte, ok bool, err error) {
	for range 3 { // at the end it goes on at the beginning
		ended, err := t.elements(order, func(_ uint32, f, v []byte) bool {
			if skip--; skip >= 0 {
				return true
			}
			field, value, ok = slices.Clone(f), slices.Clone(v), true
			return false
		})
		if err != nil || ok || !ended {
			return field, value, ok, err
		}
		order = 0
	}
	return nil, nil, false, nil
}

// Sample calls yield for n different fields at random, or for all if there are fewer. It is
// opened as for All.
func (t *Table) Sample(n int64, yield func(field, value []byte)) error {
	left, err := t.LenLive()
	if err != nil {
		return err
	}
	n = min(n, left)
	// Many, or few in all: one pass over all, which takes each with the chance that it has.
	if t.v.Whole() || n*spread > left || t.v.FieldExpiry != 0 && t.mayHaveDue() {
		return t.All(func(field, value []byte) bool {
			if rand.Int64N(left) < n {
				yield(field, value)
				n--
			}
			left--
			return n > 0
		})
	}
	seen := make(map[string]struct{}, n)
	for int64(len(seen)) < n {
		field, value, ok, err := t.Random()
		if err != nil || !ok {
			return err
		}
		if _, ok := seen[string(field)]; !ok {
			seen[string(field)] = struct{}{}
			yield(field, value)
		}
	}
	return nil
}

// Replace makes the table what fill gives, each field once, whatever was there; without a
// field the key goes. fill may read other tables of the unit, and this one. The expiry
// goes. With an error nothing was changed; ErrDuplicate if a field comes twice.
func (t *Table) Replace(fill func(set func(field, value []byte) error) error) error {
	f := filling{t: t}
	var err error
	if err = fill(f.keep); errors.Is(err, errTooLarge) {
		f.count, f.size = 0, 0
		err = t.unit.Construct(t.key, &t.v, t.typ, nil, func(set func(sub, value []byte) error) (count, size int64, err error) {
			f.set = set
			err = fill(f.stage)
			return f.count, f.size, err
		})
		if errors.Is(err, store.ErrDuplicate) {
			err = ErrDuplicate
		}
		return err
	}
	if err != nil {
		return err
	}
	if f.count == 0 {
		t.Clear()
		return nil
	}
	t.form = packed{pairs: t.pairs()}.splice(t.form[:0], f.count, 0, 0, f.entries)
	t.putNew(t.form)
	return nil
}

var errTooLarge = errors.New("too large to be kept whole")

// A filling is a table that is being made.
type filling struct {
	t           *Table
	count, size int64
	entries     []byte
	set         func(sub, value []byte) error
	sub         []byte
}

// keep adds a field to a table that is whole.
func (f *filling) keep(field, value []byte) error {
	if _, _, _, found, err := (packed{buf: f.entries, pairs: f.t.pairs()}).readerFrom(0).find(field); found || err != nil {
		return cmp.Or(err, ErrDuplicate)
	}
	f.entries = appendEntry(f.entries, field, value, f.t.pairs())
	if len(f.entries) > f.t.MaxPacked {
		return errTooLarge
	}
	f.count++
	return nil
}

// stage adds one to a table of elements.
func (f *filling) stage(field, value []byte) error {
	f.sub = appendSubKey(f.sub[:0], field)
	f.count++
	f.size += int64(len(field) + len(value))
	return f.set(f.sub, value)
}
