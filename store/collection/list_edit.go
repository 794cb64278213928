package collection

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// fewSought is how many elements are found one by one sooner than by an iterator.
const fewSought = 8

// maxShift is how many elements are moved within a list, and maxShiftSize how many bytes they have: the unit keeps some
// copies of them. Where more would have to be, the list is made anew, which takes little memory.
const (
	maxShift     = 1 << 12
	maxShiftSize = 32 << 20
)

// mayShift reports whether the elements from one number to another, both included, of a list may be moved within it.
func mayShift(l *List, from, to int64) (bool, error) {
	most := cmp.Or(l.shiftMost, maxShiftSize)
	if to-from >= maxShift || l.v.Size <= most {
		return to-from < maxShift, nil
	}
	size := int64(0)
	err := l.Range(from, to, false, func(_ int64, e []byte) bool {
		size += int64(len(e))
		return size <= most
	})
	return size <= most, err
}

// Set replaces an element by its number, which must exist.
func (l *List) Set(i int64, element []byte) error {
	if l.v.Whole() {
		all, err := l.items()
		if err != nil {
			return err
		}
		all[i] = element
		return l.put(all)
	}
	if l.v.Chunks {
		was, err := l.setChunked(l.first+i, element)
		if err == nil {
			l.endChunks(l.v.Size + int64(len(element)-was))
		}
		return err
	}
	l.sub = l.at(l.sub[:0], i)
	was, ok, err := l.unit.ElementSize(l.key, &l.v, l.sub)
	if err != nil || !ok {
		return errors.Join(err, errList)
	}
	size := l.v.Size + int64(len(element)-was)
	l.unit.SetElement(l.key, &l.v, l.sub, element)
	if size != l.v.Size {
		l.head(l.v.Count, size)
	}
	return nil
}

// put makes some elements, not none, the list, in place of one that is whole.
func (l *List) put(all [][]byte) error {
	p := packed{buf: l.form[:0]}
	p.buf = binary.AppendUvarint(p.buf, uint64(len(all)))
	for _, element := range all {
		p.buf = appendEntry(p.buf, element, nil, false)
	}
	l.form = p.buf
	if len(p.buf) <= l.MaxPacked {
		l.unit.PutWhole(l.key, &l.v, store.List, p.buf)
		return nil
	}
	l.unit.PutWhole(l.key, &l.v, store.List, p.buf)
	return l.split()
}

// Insert puts an element before the one with a number, or behind the last.
func (l *List) Insert(i int64, element []byte) error {
	n := l.Len()
	switch {
	case i == 0 || i >= n:
		return l.Push(i == 0, element)
	case l.v.Whole():
		all, err := l.items()
		if err != nil {
			return err
		}
		return l.put(slices.Insert(all, int(i), element))
	}
	front := i < n-i
	from, to := i, n-1
	if front {
		from, to = 0, i-1
	}
	shifts, err := mayShift(l, from, to)
	switch {
	case err != nil:
		return err
	case !shifts:
		return l.rebuild(func(yield func([]byte) error) error {
			return l.each(func(at int64, e []byte) error {
				if at == i {
					if err := yield(element); err != nil {
						return err
					}
				}
				return yield(e)
			})
		})
	case l.v.Chunks:
		return l.insertChunked(i, element)
	case front: // those in front go one to the front
		err := l.Range(0, i-1, false, func(at int64, e []byte) bool {
			l.sub = l.at(l.sub[:0], at-1)
			l.unit.SetElement(l.key, &l.v, l.sub, e)
			return true
		})
		if err != nil {
			return err
		}
		l.grow(true)
	default:
		err := l.Range(i, n-1, true, func(at int64, e []byte) bool {
			l.sub = l.at(l.sub[:0], at+1)
			l.unit.SetElement(l.key, &l.v, l.sub, e)
			return true
		})
		if err != nil {
			return err
		}
		l.grow(false)
	}
	l.sub = l.at(l.sub[:0], i)
	l.unit.SetElement(l.key, &l.v, l.sub, element)
	l.head(l.v.Count+1, l.v.Size+int64(len(element)))
	return nil
}

// Remove removes the elements with some numbers, which must exist and rise. With its last
// element the key goes.
func (l *List) Remove(numbers []int64) error {
	n, k := l.Len(), int64(len(numbers))
	switch {
	case k == 0:
		return nil
	case k == n:
		l.Clear()
		return nil
	case l.v.Whole():
		all, err := l.items()
		if err != nil {
			return err
		}
		kept := all[:0]
		for i, e := range all {
			if _, gone := slices.BinarySearch(numbers, int64(i)); !gone {
				kept = append(kept, e)
			}
		}
		return l.put(kept)
	}
	// What is on the shorter side of them closes the gaps.
	front := numbers[k-1]+1 < n-numbers[0]
	from, to, at, step := numbers[0], n-1, numbers[0], int64(1)
	if front {
		from, to, at, step = 0, numbers[k-1], numbers[k-1], -1
	}
	shifts, err := mayShift(l, from, to)
	switch {
	case err != nil:
		return err
	case !shifts || l.v.Chunks && to-from+1 == n:
		return l.rebuild(func(yield func([]byte) error) error {
			rest := numbers
			return l.each(func(at int64, e []byte) error {
				if len(rest) > 0 && at == rest[0] {
					rest = rest[1:]
					return nil
				}
				return yield(e)
			})
		})
	}
	if l.v.Chunks {
		return l.removeChunked(numbers)
	}
	size := l.v.Size
	err = l.Range(from, to, front, func(i int64, e []byte) bool {
		if _, gone := slices.BinarySearch(numbers, i); gone {
			size -= int64(len(e))
			return true
		}
		l.sub = l.at(l.sub[:0], at)
		l.unit.SetElement(l.key, &l.v, l.sub, e)
		at += step
		return true
	})
	if err != nil {
		return err
	}
	switch {
	case k <= fewCut:
		for left := n; left > n-k; left-- {
			l.sub = l.at(l.sub[:0], 0)
			if !front {
				l.sub = l.at(l.sub[:0], left-1)
			}
			l.leave(front, maxLeftSize+1, left) // what lies there may be long
		}
	case front:
		l.removeFront(k)
	default:
		l.removeBack(n-k, n)
	}
	l.head(n-k, size)
	return nil
}

// Trim removes all elements but those from one number to another, both included and in the
// list. With its last element the key goes.
func (l *List) Trim(from, to int64) error {
	n := l.Len()
	kept := to - from + 1
	switch {
	case from > to:
		l.Clear()
		return nil
	case kept == n:
		return nil
	case l.v.Whole():
		all, err := l.items()
		if err != nil {
			return err
		}
		return l.put(all[from : to+1])
	case kept < n-kept: // what stays is less than what would have to be looked at
		return l.rebuild(func(yield func([]byte) error) error {
			var failure error
			err := l.Range(from, to, false, func(_ int64, e []byte) bool {
				failure = yield(e)
				return failure == nil
			})
			return errors.Join(failure, err)
		})
	}
	if l.v.Chunks {
		return l.trimChunked(from, to)
	}
	less, err := l.cut(from, n, true)
	if err != nil {
		return err
	}
	size := l.v.Size - less
	if less, err = l.cut(n-1-to, n-from, false); err != nil {
		return err
	}
	l.head(kept, size-less)
	return nil
}

// fewCut is up to how many elements are cut off one by one.
const fewCut = 256

// cut takes k elements, but not all, out of a list of n at the front, or else at the back, and
// returns how many bytes they hold. Few are left where they are, as elements that are popped: of
// a deletion of a range for each call Pebble would make fragments anew for each read (store/crowd.go).
func (l *List) cut(k, n int64, front bool) (size int64, err error) {
	if k <= 0 {
		return 0, nil
	}
	from := n - k
	if front {
		from = 0
	}
	var sizes []int
	note := func(s int) {
		size += int64(s)
		if k <= fewCut {
			sizes = append(sizes, s)
		}
	}
	for i := from; k <= fewSought && i < from+k; i++ {
		l.sub = l.at(l.sub[:0], i)
		s, ok, err := l.unit.ElementSize(l.key, &l.v, l.sub)
		if err != nil || !ok {
			return 0, errors.Join(err, errList)
		}
		note(s)
	}
	if k > fewSought {
		err := l.Range(from, from+k-1, false, func(_ int64, e []byte) bool {
			note(len(e))
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	switch {
	case k > fewCut && front:
		l.removeFront(k)
	case k > fewCut:
		l.removeBack(from, n)
	case front:
		for _, s := range sizes {
			l.sub = l.at(l.sub[:0], 0)
			l.leave(true, s, n)
			n--
		}
	default:
		for _, s := range slices.Backward(sizes) {
			n--
			l.sub = l.at(l.sub[:0], n)
			l.leave(false, s, n+1)
		}
	}
	return size, nil
}
