package collection

import (
	"bytes"
	"errors"
	"slices"
)

// Changes in the middle of a list with chunks take what is on the shorter side out, and add it again.

// side returns copies of the elements from one number to another, both included, but those with some numbers, which
// rise, and how many bytes these have.
func (l *List) side(from, to int64, but []int64) (kept [][]byte, gone int64, err error) {
	err = l.Range(from, to, false, func(i int64, e []byte) bool {
		if _, ok := slices.BinarySearch(but, i); ok {
			gone += int64(len(e))
		} else {
			kept = append(kept, bytes.Clone(e))
		}
		return true
	})
	return kept, gone, err
}

// addSide puts elements, in their order, at the front, or else at the back.
func (l *List) addSide(elements [][]byte, front bool) {
	for i := range elements {
		if front {
			i = len(elements) - 1 - i
		}
		l.add(elements[i], front)
	}
}

// insertChunked puts an element before another one, which is neither the first nor behind the last.
func (l *List) insertChunked(i int64, element []byte) error {
	n := l.v.Count
	front := i < n-i
	from, to := i, n-1
	if front {
		from, to = 0, i-1
	}
	side, _, err := l.side(from, to, nil)
	if err == nil {
		_, err = l.drop(to-from+1, front)
	}
	if err != nil {
		return err
	}
	l.add(element, front)
	l.addSide(side, front)
	l.endChunks(l.v.Size + int64(len(element)))
	return nil
}

// removeChunked removes the elements with some numbers, which rise, and not both the first and the last.
func (l *List) removeChunked(numbers []int64) error {
	n, least, most := l.v.Count, numbers[0], numbers[len(numbers)-1]
	front := most+1 < n-least
	from, to := least, n-1
	if front {
		from, to = 0, most
	}
	side, gone, err := l.side(from, to, numbers)
	if err == nil {
		_, err = l.drop(to-from+1, front)
	}
	if err != nil {
		return err
	}
	l.addSide(side, front)
	l.endChunks(l.v.Size - gone)
	return nil
}

// trimChunked removes what is not between two numbers, both included, in the list.
func (l *List) trimChunked(from, to int64) error {
	n := l.v.Count
	before, err := l.drop(from, true)
	if err != nil {
		return err
	}
	behind, err := l.drop(n-1-to, false)
	if err != nil {
		l.unit.Fail(err) // those before are gone
		return err
	}
	l.endChunks(l.v.Size - before - behind)
	return nil
}

// setChunked replaces an element by its number, and returns the length of the old one. endChunks notes it.
func (l *List) setChunked(n int64, element []byte) (was int, err error) {
	e, from := l.endAt(n)
	all, packed := []byte(nil), e != nil && !e.loose
	switch {
	case packed:
		all = e.packed
	case e == nil:
		if all, packed, err = l.unit.Element(l.key, &l.v, l.chunkKey(from)); err != nil {
			return 0, err
		}
	}
	if !packed {
		was, ok, err := l.unit.ElementSize(l.key, &l.v, l.itemKey(n))
		if err != nil || !ok {
			return 0, errors.Join(err, errList)
		}
		l.unit.SetElement(l.key, &l.v, l.sub, element)
		return was, nil
	}
	at, to, ok := packedAt(all, n-from)
	if !ok {
		return 0, errList
	}
	old, _, _ := cut(all[at:])
	if len(element) > maxChunked {
		if e == nil {
			l.unit.RemoveElement(l.key, &l.v, l.sub)
			l.unpack(all, from)
		} else {
			l.loosen(e, from)
		}
		l.unit.SetElement(l.key, &l.v, l.itemKey(n), element)
		return len(old), nil
	}
	start := len(l.spare)
	l.spare = append(appendEntry(append(l.spare, all[:at]...), element, nil, false), all[to:]...)
	if all = l.spare[start:len(l.spare):len(l.spare)]; e != nil {
		e.packed, e.spare = all, len(l.spare)
	} else {
		l.unit.SetElement(l.key, &l.v, l.sub, all)
	}
	return len(old), nil
}
