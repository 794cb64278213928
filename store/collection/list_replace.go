package collection

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/store"
)

// each goes over all elements.
func (l *List) each(visit func(i int64, element []byte) error) error {
	var failure error
	err := l.Range(0, math.MaxInt64, false, func(i int64, e []byte) bool {
		failure = visit(i, e)
		return failure == nil
	})
	return errors.Join(failure, err)
}

// SetLarge notes whether the list is one that Redis keeps in no compact form, which [store.Value.Raw] tells from now on.
func (l *List) SetLarge(large bool) { l.setRaw(large) }

// rebuild is Replace for a list that keeps its expiry and its form.
func (l *List) rebuild(fill func(yield func(element []byte) error) error) error {
	expiry, large := l.v.Expiry, l.v.Raw
	if err := l.Replace(fill); err != nil {
		return err
	}
	l.setExpiry(expiry)
	l.SetLarge(large)
	return nil
}

// Replace makes the list what fill gives, whatever was there; without an element the key
// goes. fill may be called twice, and may read other values of the unit, and this one. The
// expiry goes. With an error nothing was changed.
func (l *List) Replace(fill func(yield func(element []byte) error) error) error {
	var entries []byte
	count := int64(0)
	err := fill(func(element []byte) error {
		entries = appendEntry(entries, element, nil, false)
		if len(entries) > l.MaxPacked {
			return errTooLarge
		}
		count++
		return nil
	})
	switch {
	case errors.Is(err, errTooLarge):
		return l.construct(fill)
	case err != nil:
		return err
	case count == 0:
		l.Clear()
		return nil
	}
	l.form = packed{}.splice(l.form[:0], count, 0, 0, entries)
	l.putNew(l.form)
	l.begin()
	return nil
}

// construct is Replace for a list that is not whole.
func (l *List) construct(fill func(yield func(element []byte) error) error) error {
	was := *l
	err := l.unit.ConstructTimed(l.key, &l.v, store.List, func(set func(sub, value []byte) error) (store.Built, error) {
		w := chunkWriter{set: set, chunks: l.Chunks}
		err := fill(w.add)
		l.begin()
		l.last = w.count
		head := []byte{0} // the number of the first element
		if l.Chunks {
			l.back = w.end
			head = l.appendChunks(head)
		}
		return store.Built{Count: w.count, Size: w.size, Entries: w.entries, Head: head, Chunks: l.Chunks}, err
	})
	if err != nil {
		*l = was
	}
	return err
}
