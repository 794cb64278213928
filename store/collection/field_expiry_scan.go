package collection

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/store"
)

// timedElements goes over the fields that expire from an order on, due or not. It reports whether
// it came to the end.
func (t *Table) timedElements(from uint32, yield func(order uint32, field, value []byte, expiry int64) bool) (ended bool, err error) {
	it := t.unit.Elements(t.key, &t.v, appendKindOrder(nil, kindTimed, from), []byte{kindTimed + 1}, false)
	for it.Next() {
		sub := it.Sub()
		expiry, value, ok := splitTimedValue(it.Value())
		if !ok || len(sub) < fieldAt {
			return false, errors.Join(errPacked, it.Close())
		}
		field := sub[fieldAt:]
		if !yield(orderOf(field), field, value, expiry) {
			return false, it.Close()
		}
	}
	return true, it.Close()
}

// AllExpiring is All with the expiry of each field, 0 for none.
func (t *Table) AllExpiring(yield func(field, value []byte, expiry int64) bool) error {
	if t.v.Whole() {
		r := t.packed().reader()
		for r.next() && (t.isDue(r.expiry) || yield(r.field, r.value, r.expiry)) {
		}
		return r.err
	}
	more := true
	_, err := t.elements(0, func(_ uint32, field, value []byte) bool {
		more = yield(field, value, 0)
		return more
	})
	if err != nil || !more || t.v.FieldExpiry == 0 {
		return err
	}
	_, err = t.timedElements(0, func(_ uint32, field, value []byte, expiry int64) bool {
		return t.isDue(expiry) || yield(field, value, expiry)
	})
	return err
}

// LenLive is Len without the fields whose time has come, which it counts. It is opened as for All.
func (t *Table) LenLive() (int64, error) {
	n := t.Len()
	if t.v.FieldExpiry == 0 || !t.mayHaveDue() || t.v.Whole() { // of a whole one Open has removed them
		return n, nil
	}
	_, err := t.byTime(func(expiry int64) bool {
		if t.isDue(expiry) {
			n--
		}
		return t.isDue(expiry)
	})
	return n, err
}

// FirstExpiry returns when the first field of those that are there expires; 0: none does. It is
// opened as for All.
func (t *Table) FirstExpiry() (first int64, err error) {
	switch {
	case t.v.FieldExpiry == store.NeverExpires:
		return 0, nil
	case t.v.FieldExpiry == 0, t.v.Whole():
		return t.v.FieldExpiry, nil
	}
	_, err = t.byTime(func(expiry int64) bool {
		if t.isDue(expiry) {
			return true
		}
		first = expiry
		return false
	})
	return first, err
}

// byTime goes over the index of a large hash.
func (t *Table) byTime(yield func(expiry int64) bool) (ended bool, err error) {
	head, err := headOf(&t.v)
	if err != nil || head.fields == 0 {
		return true, err
	}
	it := t.unit.Elements(t.key, &t.v, appendTimePlace(nil, head.first, head.order), []byte{kindByTime + 1}, false)
	for it.Next() {
		expiry, _, _, ok := splitTimeKey(it.Sub())
		if !ok {
			return false, errors.Join(errPacked, it.Close())
		}
		if !yield(expiry) {
			return false, it.Close()
		}
	}
	return true, it.Close()
}

// A scanned is a field that a scan has come by.
type scanned struct {
	order        uint32
	field, value []byte
}

// scanTimed is Scan of a large hash with fields that expire. Both kinds of fields are passed
// together, by their order: a field that changes from one kind to the other in between is seen.
func (t *Table) scanTimed(from uint32, count int64, yield func(field, value []byte)) (next uint64, err error) {
	lasting, next, err := t.scanKind(count, func(visit func(order uint32, field, value []byte) bool) error {
		_, err := t.elements(from, visit)
		return err
	})
	if err != nil {
		return 0, err
	}
	end := next // 0: the end
	timed, stopped, err := t.scanKind(count, func(visit func(order uint32, field, value []byte) bool) error {
		_, err := t.timedElements(from, func(order uint32, field, value []byte, expiry int64) bool {
			if end != 0 && uint64(order) >= end {
				return false
			}
			if t.isDue(expiry) {
				field = nil // it counts, or a call could take as long as there are fields
			}
			return visit(order, field, value)
		})
		return err
	})
	if err != nil {
		return 0, err
	}
	if stopped != 0 {
		next = stopped
	}
	for _, f := range lasting {
		if next == 0 || uint64(f.order) < next {
			yield(f.field, f.value)
		}
	}
	for _, f := range timed {
		if f.field != nil {
			yield(f.field, f.value)
		}
	}
	return next, nil
}

// scanKind returns about so many of the fields that walk visits in their order, and the order of
// the one behind them; 0: there is none. All fields of one order come together.
func (t *Table) scanKind(count int64, walk func(visit func(order uint32, field, value []byte) bool) error) (found []scanned, next uint64, err error) {
	err = walk(func(order uint32, field, value []byte) bool {
		if n := len(found); count <= 0 && order != found[n-1].order {
			next = uint64(order)
			return false
		}
		count--
		found = append(found, scanned{order, bytes.Clone(field), bytes.Clone(value)})
		return true
	})
	return found, next, err
}

// fewTries is how often a field is drawn at random before all are looked at.
const fewTries = 16

// randomTimed is Random in a large hash with fields that expire.
func (t *Table) randomTimed() (field, value []byte, ok bool, err error) {
	head, err := headOf(&t.v)
	if err != nil {
		return nil, nil, false, err
	}
	for range fewTries {
		timed := rand.Int64N(t.v.Count) < head.fields
		if !timed {
			if field, value, ok, err = t.near(randomOrder(), rand.Int64N(min(t.v.Count-head.fields, spread))); ok || err != nil {
				return field, value, ok, err
			}
			continue
		}
		skip, drawn := rand.Int64N(min(head.fields, spread)), false
		take := func(_ uint32, f, v []byte, expiry int64) bool {
			if skip--; skip >= 0 {
				return true
			}
			if drawn = true; !t.isDue(expiry) {
				field, value, ok = bytes.Clone(f), bytes.Clone(v), true
			}
			return false
		}
		from := randomOrder()
		for range 3 { // at the end it goes on at the beginning
			if _, err = t.timedElements(from, take); err != nil || drawn {
				break
			}
			from = 0
		}
		if ok || err != nil {
			return field, value, ok, err
		}
	}
	// Most are due: any of the others will do.
	n := int64(0)
	err = t.All(func(f, v []byte) bool {
		if n++; rand.Int64N(n) == 0 {
			field, value, ok = bytes.Clone(f), bytes.Clone(v), true
		}
		return true
	})
	return field, value, ok, err
}

// A timedFilling is a hash that is being made of fields that may expire.
type timedFilling struct {
	filling
	packed timedPacker
	head   timedHead
}

// ReplaceExpiring is Replace for a hash whose fields have expiries, 0 for none.
func (t *Table) ReplaceExpiring(fill func(set func(field, value []byte, expiry int64) error) error) error {
	f := timedFilling{filling: filling{t: t}, packed: timedPacker{timed: true}}
	err := fill(f.keep)
	switch {
	case errors.Is(err, errTooLarge):
		err = t.unit.ConstructTimed(t.key, &t.v, t.typ, func(set func(sub, value []byte) error) (store.Built, error) {
			f.set = set
			if err := fill(f.stage); err != nil {
				return store.Built{}, err
			}
			built := store.Built{Count: f.count, Size: f.size, Entries: f.count + f.head.fields, Apart: fieldKinds}
			if f.head.fields > 0 {
				built.Head, built.FieldExpiry = f.head.append(nil), f.head.first
			}
			return built, nil
		})
		if errors.Is(err, store.ErrDuplicate) {
			err = ErrDuplicate
		}
		return err
	case err != nil:
		return err
	}
	t.Clear()
	if f.packed.n == 0 {
		return nil
	}
	if f.packed.first != 0 {
		t.unit.PutWholeTimed(t.key, &t.v, t.typ, f.packed.form(nil), f.packed.first)
		return nil
	}
	lasting := timedPacker{}
	r := packed{buf: f.packed.form(nil), pairs: true, timed: true}.reader()
	for r.next() {
		lasting.add(r.field, r.value, 0)
	}
	t.putWhole(&lasting)
	return r.err
}

// keep adds a field to a table that is whole.
func (f *timedFilling) keep(field, value []byte, expiry int64) error {
	r := packed{buf: f.packed.entries, pairs: true, timed: true}.readerFrom(0)
	for r.next() {
		if bytes.Equal(r.field, field) {
			return ErrDuplicate
		}
	}
	f.packed.add(field, value, expiry)
	if len(f.packed.entries) > f.t.MaxPacked {
		return errTooLarge
	}
	return r.err
}

// stage adds one to a table of elements.
func (f *timedFilling) stage(field, value []byte, expiry int64) error {
	if expiry == 0 {
		return f.filling.stage(field, value)
	}
	if expiry < 0 || expiry == math.MaxInt64 {
		return errPacked
	}
	f.count++
	f.size += int64(len(field) + len(value))
	f.head.fields++
	f.head.lower(expiry, orderOf(field))
	f.sub = appendTimeKey(f.sub[:0], expiry, field)
	if err := f.set(f.sub, appendLength(nil, len(value))); err != nil {
		return err
	}
	f.sub = appendTimedKey(f.sub[:0], field)
	return f.set(f.sub, appendTimedValue(nil, expiry, value))
}
