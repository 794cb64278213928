package collection

import (
	"encoding/binary"
	"errors"

	"github.com/ringside-kv/ringside/store"
)

// chunked returns an element by its number, which must be in the list; false if that is malformed. The list was opened
// as a whole, or with its latch held.
func (l *List) chunked(n int64) (element []byte, ok bool, err error) {
	e, from := l.endAt(n)
	var all []byte
	switch {
	case e == nil:
		if all, ok, err = l.unit.Element(l.key, &l.v, l.chunkKey(from)); err != nil {
			return nil, false, err
		}
	case !e.loose:
		all, ok = e.packed, true
	}
	if !ok {
		return l.unit.Element(l.key, &l.v, l.itemKey(n))
	}
	return packedElement(all, n-from)
}

// find is Index for a unit without the latch: others may change the list meanwhile.
func (l *List) find(i int64) (element []byte, ok bool, err error) {
	for try := range findTries {
		var malformed error
		there, entry := false, chunkItems // which entry of a chunk is the element, if it is looked for in one
		l.v, element, ok, err = l.unit.GetElement(l.key, func(v *store.Value) []byte {
			l.v, there, entry = *v, false, chunkItems
			if malformed = l.readHead(); malformed != nil || v.Type != store.List || v.Whole() || !l.seek(i) {
				return nil
			}
			there = true
			if !l.v.Chunks {
				return l.sub
			}
			n := numberIn(l.sub)
			switch e, from := l.endAt(n); {
			case e != nil && !e.loose:
				return nil
			case e == nil && try%2 == 0:
				entry = int(n - from)
				return l.chunkKey(from)
			}
			return l.sub
		})
		switch {
		case err != nil || malformed != nil:
			return nil, false, errors.Join(err, malformed)
		case l.v.Exists() && l.v.Type != store.List:
			return nil, false, ErrType
		case l.v.Whole(): // since Open
			return l.inPacked(i)
		case ok && entry < chunkItems:
			return packedElement(element, int64(entry))
		case ok || !there || !l.v.Chunks:
			return element, ok, nil
		}
		l.seek(i)
		if e, _ := l.endAt(numberIn(l.sub)); e != nil && !e.loose {
			return l.chunked(numberIn(l.sub))
		}
	}
	if err := l.OpenWhole(l.unit, l.key); err != nil {
		return nil, false, err
	}
	return l.Index(i)
}

// findTries is how often find looks for a chunk and, in between, for an element with an entry of its own, before it has
// writers wait.
const findTries = 4

// packedElement returns the entry number i of some.
func packedElement(all []byte, i int64) (element []byte, ok bool, err error) {
	at, _, ok := packedAt(all, i)
	if ok {
		element, _, ok = cut(all[at:])
	}
	return element, ok, nil
}

// rangeChunks is Range for numbers from one to another, both in the list.
func (l *List) rangeChunks(from, to int64, back bool, yield func(n int64, element []byte) bool) error {
	c := chunkRange{from: from, to: to, back: back, next: from, step: 1, yield: yield}
	if back {
		c.next, c.step = to, -1
	}
	first, last, firstEntry, backFrom := l.headerEnds()
	low, high := max(chunkOf(from), firstEntry), min(chunkOf(to)+chunkItems, backFrom)
	more := false
	if back {
		more = c.packed(last, backFrom)
	} else {
		more = c.packed(first, l.first)
	}
	if more && low < high {
		it := l.unit.Elements(l.key, &l.v, appendNumber([]byte{kindItem}, low), appendNumber([]byte{kindItem}, high), back)
		for more && it.Next() {
			more = c.entry(it.Sub(), it.Value())
		}
		c.err = errors.Join(c.err, it.Close())
	}
	if more && c.err == nil {
		if back {
			more = c.packed(first, l.first)
		} else {
			more = c.packed(last, backFrom)
		}
	}
	if more && c.err == nil && c.next >= from && c.next <= to {
		return errList // there are fewer
	}
	return c.err
}

// headerEnds returns the ends that are in the header, and the numbers between which no element is in one of them.
func (l *List) headerEnds() (front, back []byte, low, high int64) {
	low, high = l.first, l.last
	if e, _ := l.endAt(l.first); e == &l.front && !e.loose {
		front, low = e.packed, chunkOf(l.first)+chunkItems
	}
	if e, from := l.endAt(l.last - 1); e == &l.back && !e.loose {
		back, high = e.packed, from
	}
	return front, back, low, high
}

// nearFront has l.near hold those elements from one number to another that the front in the header has, and returns the
// first number and how many are not in the header.
func (l *List) nearFront(from, to int64) (first, n int64) {
	front, _, low, high := l.headerEnds()
	l.addNear(front, l.first, from, to)
	first = max(from, low)
	return first, max(min(to+1, high)-first, 0)
}

// nearBack adds those of the back, and reports whether l.near has all then.
func (l *List) nearBack(from, to int64) bool {
	_, back, _, high := l.headerEnds()
	l.addNear(back, high, from, to)
	return int64(l.near.Len()) == to-from+1
}

// addNear adds those of some packed elements, the first of which has the number n, that are asked for.
func (l *List) addNear(all []byte, n, from, to int64) {
	for element, rest, ok := cut(all); ok; element, rest, ok = cut(rest) {
		if n >= from && n <= to {
			l.near.Add(element)
		}
		n++
	}
}

// A chunkRange yields elements in the order of their numbers, or against it.
type chunkRange struct {
	from, to   int64
	back       bool
	next, step int64 // the number of the next element that is yielded
	yield      func(n int64, element []byte) bool
	err        error
}

// entry yields what an entry has. It returns false if there is no more to yield.
func (c *chunkRange) entry(sub, value []byte) bool {
	switch {
	case len(sub) == 9:
		return c.element(numberIn(sub), value)
	case len(sub) == 10 && sub[9] == kindChunk:
		return c.packed(value, numberIn(sub))
	}
	c.err = errList
	return false
}

func numberIn(sub []byte) int64 { return int64(binary.BigEndian.Uint64(sub[1:]) ^ 1<<63) }

// packed yields packed elements, the first of which has a number.
func (c *chunkRange) packed(all []byte, from int64) bool {
	var elements [chunkItems][]byte
	count := 0
	for rest, ok := all, true; len(rest) > 0; count++ {
		if count == chunkItems {
			c.err = errList
			return false
		}
		if elements[count], rest, ok = cut(rest); !ok {
			c.err = errList
			return false
		}
	}
	for i := range count {
		if c.back {
			i = count - 1 - i
		}
		if !c.element(from+int64(i), elements[i]) {
			return false
		}
	}
	return true
}

// element yields an element if it is one of those that are asked for.
func (c *chunkRange) element(n int64, element []byte) bool {
	switch {
	case n < c.from || n > c.to:
		return true
	case n != c.next:
		c.err = errList
		return false
	}
	c.next += c.step
	return c.yield(n, element)
}
