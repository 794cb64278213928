package collection

import (
	"bytes"
	"errors"
)

// add puts an element at the front, or else at the back. endChunks notes it.
func (l *List) add(element []byte, front bool) {
	n := l.last
	if front {
		n = l.first - 1
	}
	e := l.endFor(n, front)
	if !e.loose && len(element) > maxChunked {
		if front {
			l.loosen(e, l.first)
		} else {
			l.loosen(e, max(chunkOf(n), l.first))
		}
	}
	switch {
	case e.loose:
		l.unit.SetElement(l.key, &l.v, l.itemKey(n), element)
	case front:
		at := len(l.spare)
		l.spare = append(appendEntry(l.spare, element, nil, false), e.packed...)
		e.packed, e.spare = l.spare[at:len(l.spare):len(l.spare)], len(l.spare)
	default:
		at := len(l.spare)
		if e.spare == at && at > 0 {
			at -= len(e.packed)
		} else {
			l.spare = append(l.spare, e.packed...)
		}
		l.spare = appendEntry(l.spare, element, nil, false)
		e.packed, e.spare = l.spare[at:len(l.spare):len(l.spare)], len(l.spare)
	}
	if l.last = max(l.last, n+1); front {
		l.first = n
	}
	switch chunk := chunkOf(n); {
	case chunk >= l.first && chunk+chunkItems <= l.last: // the list has all of it now
		if !e.loose {
			l.unit.SetElement(l.key, &l.v, l.chunkKey(chunk), e.packed)
		}
		if *e = (end{}); l.front.spare == 0 && l.back.spare == 0 {
			l.spare = l.spare[:0] // the unit has copied what was there
		}
	case e == &l.back && l.last == chunk+chunkItems:
		l.front, l.back = l.back, end{}
	}
}

// endFor returns the end that an element is added to; n is the number that it gets.
func (l *List) endFor(n int64, front bool) *end {
	chunk := chunkOf(n)
	switch {
	case l.first == l.last: // as fill adds the first one
		return &l.back
	case chunk == chunkOf(l.last) && l.last != chunk:
		return &l.back
	case front || chunk == chunkOf(l.first):
		return &l.front
	}
	return &l.back
}

// loosen gives the elements of an end, the first of which has a number, entries of their own.
func (l *List) loosen(e *end, from int64) {
	l.unpack(e.packed, from)
	*e = end{loose: true}
}

// unpack gives packed elements entries of their own, from a number on.
func (l *List) unpack(all []byte, from int64) {
	for element, rest, ok := cut(all); ok; element, rest, ok = cut(rest) {
		l.unit.SetElement(l.key, &l.v, l.itemKey(from), element)
		from++
	}
}

// take removes the first element, or else the last, of a list that has others, and returns its length and, if it is
// wanted, the element. endChunks notes it.
func (l *List) take(front, wanted bool) (element []byte, size int, err error) {
	n := l.last - 1
	if front {
		n = l.first
	}
	e, from := l.endAt(n)
	if e == nil {
		e = &l.back
		if front {
			e = &l.front
		}
		chunk, ok, err := l.unit.Element(l.key, &l.v, l.chunkKey(from))
		if err != nil {
			return nil, 0, err
		}
		if *e = (end{packed: chunk, loose: !ok}); ok {
			l.unit.RemoveElement(l.key, &l.v, l.sub)
		}
	}
	if e.loose {
		var ok bool
		if wanted {
			element, ok, err = l.unit.Element(l.key, &l.v, l.itemKey(n))
			size = len(element)
		} else {
			size, ok, err = l.unit.ElementSize(l.key, &l.v, l.itemKey(n))
		}
		if err != nil || !ok {
			return nil, 0, errors.Join(err, errList)
		}
		l.unit.RemoveElement(l.key, &l.v, l.sub)
	} else {
		at, to, ok := packedAt(e.packed, n-from)
		if !ok || !front && to != len(e.packed) {
			return nil, 0, errList
		}
		element, _, _ = cut(e.packed[at:])
		if size = len(element); wanted {
			element = bytes.Clone(element) // the head is going to be overwritten
		}
		if front {
			e.packed = e.packed[to:]
		} else {
			e.packed = e.packed[:at:at]
		}
		if e.spare > 0 {
			e.spare = -1
		}
	}
	switch {
	case front:
		if l.first++; e == &l.front && l.first == chunkOf(l.first) {
			*e = end{}
		}
	case e == &l.front: // the list does not reach the end of its only chunk any more
		l.last--
		l.front, l.back = end{}, l.front
	default:
		if l.last--; l.last == chunkOf(l.last) {
			*e = end{}
		}
	}
	return element, size, nil
}

// drop removes k elements, not all, at the front, or else at the back, and returns how many bytes they hold. endChunks
// notes it. Whole chunks go with one deletion of a range, unless they are few: see cut.
func (l *List) drop(k int64, front bool) (size int64, err error) {
	if k > fewCut {
		if size, err = l.dropChunks(&k, front); err != nil {
			return 0, err
		}
	}
	for range k {
		_, n, err := l.take(front, false)
		if err != nil {
			l.unit.Fail(err) // some may be gone
			return 0, err
		}
		size += int64(n)
	}
	return size, nil
}

// dropChunks is drop for all of k elements but those whose chunk the list keeps a part of. k is what is left.
func (l *List) dropChunks(k *int64, front bool) (size int64, err error) {
	first, last := l.first, l.last
	from, to := first, chunkOf(first+*k)
	if !front {
		from, to = chunkOf(last-*k+chunkItems-1), last
	}
	if from >= to {
		return 0, nil
	}
	err = l.Range(from-first, to-1-first, false, func(_ int64, e []byte) bool {
		size += int64(len(e))
		return true
	})
	if err != nil {
		return 0, err
	}
	l.unit.RemoveElements(l.key, &l.v, appendNumber([]byte{kindItem}, from), appendNumber([]byte{kindItem}, to))
	*k -= to - from
	if front {
		l.first, l.front = to, end{}
	} else {
		l.last, l.back = from, end{}
	}
	return size, nil
}

// endChunks notes what add, take, setChunked and drop have done; size is what the elements hold now.
func (l *List) endChunks(size int64) { l.head(l.last-l.first, size) }
