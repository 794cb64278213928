package collection

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// A List is elements in an order. It is for the commands of one unit, as a [Table] is.
//
// The element number i of a list that is not whole lies under
//
//	'l' | first + i, 8 B BE with the sign bit turned
//
// and the header knows first, a varint: so that there is room at both ends, and any element
// is found by its number.
//
// Small elements that are popped stay under their numbers, which are outside of the list then,
// until there are many at one end, and go together: one write for all of them, where each
// would have one of its own, which Pebble has to carry down to where the element lies. How
// many places before the first, and behind the last, may have some is in the header behind
// first, two uvarints, unless there are none.
//
// A list may have chunks; see list_chunk.go.
type List struct {
	base
	// Chunks: the elements of a list that is changed may be kept in chunks.
	Chunks         bool
	first          int64
	before, behind int64
	last           int64 // of a list with chunks: the number behind the last element
	front, back    end
	spare          []byte      // scratch
	near           store.Items // scratch
	// Both are 0 but in tests.
	oddMost, shiftMost int64
}

const (
	// maxLeft is how many popped elements stay at one end, or members of a sorted set at both,
	// and maxLeftSize how large each is of a list.
	maxLeft     = 1 << 12
	maxLeftSize = 256
)

const kindItem = 'l'

var errList = errors.New("malformed list")

// Open makes l the list at a key, for whoever changes it, with the key's latch held, or looks
// at one element. A key that does not exist is an empty list.
func (l *List) Open(u *store.Unit, key []byte) error {
	if l.again(u, key, store.List) {
		return l.readHead()
	}
	v, err := u.Get(key)
	if err = l.opened(u, key, v, false, err); err == nil {
		l.stays()
	}
	return err
}

// OpenWhole is Open for whoever looks at more than one element: all is of one moment.
func (l *List) OpenWhole(u *store.Unit, key []byte) error {
	v, err := u.GetWhole(key)
	return l.opened(u, key, v, true, err)
}

// OpenRange is OpenWhole for whoever looks at the elements from one number to another, both
// included, which bounds says of a list of n. If they are at hand it returns them, for as long
// as l is not opened again; otherwise they are for Range.
func (l *List) OpenRange(u *store.Unit, key []byte, bounds func(n int64) (from, to int64)) (*store.Items, error) {
	var malformed error
	var from, to int64
	v, ok, err := u.GetItems(key, func(v *store.Value) ([]byte, int64) {
		l.v = *v
		if malformed = l.readHead(); malformed != nil || v.Whole() {
			return nil, -1
		}
		if from, to = bounds(v.Count); from > to {
			return nil, -1
		}
		from, to = l.first+from, l.first+to
		first, n := from, to-from+1
		if v.Chunks {
			first, n = l.nearFront(from, to)
		}
		return l.itemKey(first), n
	}, &l.near)
	if err = errors.Join(err, malformed); err != nil {
		return nil, err
	}
	if ok && l.v.Chunks {
		ok = l.nearBack(from, to)
	}
	if !ok {
		return nil, l.OpenWhole(u, key)
	}
	return &l.near, l.opened(u, key, v, false, nil)
}

// Over makes l the list at a key that is going to be replaced, whatever v, what Get returned,
// is.
func (l *List) Over(u *store.Unit, key []byte, v store.Value) {
	_ = l.open(u, key, store.List, v, true, nil)
}

func (l *List) opened(u *store.Unit, key []byte, v store.Value, steady bool, err error) error {
	if err := l.open(u, key, store.List, v, steady, err); err != nil {
		return err
	}
	return l.readHead()
}

func (l *List) readHead() error {
	if l.begin(); l.v.Whole() {
		return nil
	}
	n, w := binary.Varint(l.v.Inline)
	if w <= 0 {
		return errList
	}
	l.first, l.last = n, n+l.v.Count
	if l.v.Chunks {
		return l.readChunks(l.v.Inline[w:])
	}
	if rest := l.v.Inline[w:]; len(rest) > 0 {
		before, w := binary.Uvarint(rest)
		if w <= 0 || before > maxLeft {
			return errList
		}
		behind, w := binary.Uvarint(rest[w:])
		if w <= 0 || behind > maxLeft {
			return errList
		}
		l.before, l.behind = int64(before), int64(behind)
	}
	return nil
}

// at returns the sub key of an element, which need not exist.
func (l *List) at(dst []byte, i int64) []byte {
	return appendNumber(append(dst, kindItem), l.first+i)
}

// head notes how many elements there are, and what they hold.
func (l *List) head(count, size int64) {
	l.form = binary.AppendVarint(l.form[:0], l.first)
	if l.v.Chunks {
		l.form = l.appendChunks(l.form)
	} else if l.before+l.behind > 0 {
		l.form = binary.AppendUvarint(binary.AppendUvarint(l.form, uint64(l.before)), uint64(l.behind))
	}
	l.putHead(count, size, l.form)
	if l.v.Chunks { // the ends may lie in the header that this one was written over
		_, w := binary.Varint(l.v.Inline)
		_ = l.readChunks(l.v.Inline[w:]) // which appendChunks has written
	}
}

// grow makes room for one more element at the front, or else at the back.
func (l *List) grow(front bool) {
	if front {
		l.first--
		l.before = max(l.before-1, 0)
	} else {
		l.behind = max(l.behind-1, 0)
	}
}

// leave takes an element of so many bytes, the first or else the last of n, out of the list.
// l.sub is its sub key.
func (l *List) leave(front bool, size int, n int64) {
	left := &l.behind
	if front {
		left = &l.before
		l.first++
	}
	if size <= maxLeftSize {
		l.unit.LeaveElement(l.key, &l.v, l.sub)
		*left++
	} else {
		l.unit.RemoveElement(l.key, &l.v, l.sub)
		if *left > 0 {
			*left++
		}
	}
	switch {
	case *left < cmp.Or(l.oddMost, maxLeft):
	case front:
		l.removeFront(0)
	default:
		l.removeBack(n-1, n-1)
	}
}

// removeFront removes the first so many elements, and what was left before them.
func (l *List) removeFront(n int64) {
	l.unit.RemoveElements(l.key, &l.v, l.at(nil, -l.before), l.at(nil, n))
	l.first, l.before = l.first+n, 0
}

// removeBack removes the elements from one number up to, not including, another, that of
// the first which is not there, and what was left behind them.
func (l *List) removeBack(from, to int64) {
	l.unit.RemoveElements(l.key, &l.v, l.at(nil, from), l.at(nil, to+l.behind))
	l.behind = 0
}

// Index returns an element by its number, which counts from the end, -1 for the last, if it
// is negative.
func (l *List) Index(i int64) (element []byte, ok bool, err error) {
	switch {
	case l.v.Whole():
		return l.inPacked(i)
	case l.steady || l.v.Chunks && l.unit.HasLatchOf(&l.v):
		switch {
		case !l.seek(i):
			return nil, false, nil
		case l.v.Chunks:
			return l.chunked(numberIn(l.sub))
		}
		return l.unit.Element(l.key, &l.v, l.sub)
	}
	return l.find(i)
}

// seek makes l.sub the sub key of an element, as Index counts, if it exists.
func (l *List) seek(i int64) bool {
	if i < 0 {
		i += l.v.Count
	}
	if i < 0 || i >= l.v.Count {
		return false
	}
	l.sub = l.at(l.sub[:0], i)
	return true
}

func (l *List) inPacked(i int64) (element []byte, ok bool, err error) {
	if i < 0 {
		i += l.packed().len()
	}
	if i < 0 {
		return nil, false, nil
	}
	r := l.packed().reader()
	for r.next() {
		if i == 0 {
			return r.field, true, nil
		}
		i--
	}
	return nil, false, r.err
}

// items are the elements of a list that is whole.
func (l *List) items() (all [][]byte, err error) {
	r := l.packed().reader()
	for r.next() {
		all = append(all, r.field)
	}
	return all, r.err
}

// Range calls yield for the elements from one number to another, both included, until it
// returns false; backwards if back is set. Numbers may lie outside of the list. It was opened
// as a whole, or with its latch held; yield must not keep what it is given. It may change a
// list without chunks, which Range does not see.
func (l *List) Range(from, to int64, back bool, yield func(i int64, element []byte) bool) error {
	from, to = max(from, 0), min(to, l.Len()-1)
	if from > to {
		return nil
	}
	if l.v.Whole() {
		all, err := l.items()
		if err != nil || int64(len(all)) <= to {
			return errors.Join(err, errPacked)
		}
		for n := range to - from + 1 {
			i := from + n
			if back {
				i = to - n
			}
			if !yield(i, all[i]) {
				break
			}
		}
		return nil
	}
	first := l.first
	if l.v.Chunks {
		return l.rangeChunks(l.first+from, l.first+to, back, func(n int64, element []byte) bool {
			return yield(n-first, element)
		})
	}
	it := l.unit.Elements(l.key, &l.v, l.at(nil, from), l.at(nil, to+1), back)
	i, step := from, int64(1)
	if back {
		i, step = to, -1
	}
	for ; it.Next(); i += step {
		if sub := it.Sub(); len(sub) != 9 || numberIn(sub) != first+i {
			return errors.Join(errList, it.Close())
		}
		if !yield(i, it.Value()) {
			break
		}
	}
	return it.Close()
}

// Push adds elements at the front, one before the other, or else at the back. With an error the list has none of them,
// or those that it had room for while it was whole.
func (l *List) Push(front bool, elements ...[]byte) error {
	for len(elements) > 0 && l.v.Whole() {
		p := l.packed()
		l.sub = appendEntry(l.sub[:0], elements[0], nil, false)
		if len(p.buf)+len(l.sub) > l.MaxPacked {
			if err := l.split(); err != nil {
				return err
			}
			break
		}
		at := len(p.buf)
		if front {
			at = p.begin()
		}
		l.form = p.splice(l.form[:0], p.len()+1, at, at, l.sub)
		l.unit.PutWhole(l.key, &l.v, store.List, l.form)
		elements = elements[1:]
	}
	if len(elements) == 0 {
		return nil
	}
	if l.Chunks && !l.v.Chunks {
		l.startChunks()
	}
	count, size := l.v.Count, l.v.Size
	for _, element := range elements {
		size += int64(len(element))
		if l.v.Chunks {
			l.add(element, front)
			continue
		}
		i := count
		if front {
			i = 0
		}
		l.grow(front)
		l.sub = l.at(l.sub[:0], i)
		l.unit.SetElement(l.key, &l.v, l.sub, element)
		count++
	}
	if l.v.Chunks {
		count = l.last - l.first
	}
	l.head(count, size)
	return nil
}

// split makes of a list that is whole one of elements.
func (l *List) split() error {
	all, err := l.items()
	if err == nil {
		err = l.unit.Split(l.key, &l.v, store.List)
	}
	if err != nil {
		return err
	}
	l.begin()
	l.v.Chunks = l.Chunks
	size := int64(0)
	for i, element := range all {
		if l.v.Chunks {
			l.add(element, false)
		} else {
			l.sub = l.at(l.sub[:0], int64(i))
			l.unit.SetElement(l.key, &l.v, l.sub, element)
		}
		size += int64(len(element))
	}
	l.head(int64(len(all)), size)
	return nil
}

// begin makes l a list without an element.
func (l *List) begin() {
	l.first, l.last, l.before, l.behind = 0, 0, 0, 0
	l.front, l.back = end{}, end{}
}

// Pop removes the first element, or else the last, and returns it; false if there is none.
func (l *List) Pop(front bool) (element []byte, ok bool, err error) {
	i := l.Len() - 1
	if front {
		i = 0
	}
	if l.v.Whole() {
		p := l.packed()
		r := p.reader()
		for range i + 1 {
			if !r.next() {
				return nil, false, r.err
			}
		}
		if i < 0 {
			return nil, false, nil
		}
		element = slices.Clone(r.field)
		if n := p.len() - 1; n > 0 {
			l.form = p.splice(l.form[:0], n, r.at, r.size-len(r.rest), nil)
			l.unit.PutWhole(l.key, &l.v, store.List, l.form)
		} else {
			l.Clear()
		}
		return element, true, nil
	}
	if l.v.Chunks && l.v.Count > 1 {
		if element, _, err = l.take(front, true); err != nil {
			return nil, false, err
		}
		l.head(l.v.Count-1, l.v.Size-int64(len(element)))
		return element, true, nil
	}
	l.sub = l.at(l.sub[:0], i)
	if l.v.Chunks {
		element, ok, err = l.chunked(l.first)
	} else {
		element, ok, err = l.unit.Element(l.key, &l.v, l.sub)
	}
	if err != nil || !ok {
		return nil, false, errors.Join(err, errList)
	}
	if l.v.Count == 1 {
		l.Clear()
		return element, true, nil
	}
	l.leave(front, len(element), l.v.Count)
	l.head(l.v.Count-1, l.v.Size-int64(len(element)))
	return element, true, nil
}
