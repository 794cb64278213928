package rdb

import "fmt"

// Types of the forms in which collections are written here; Redis reads them whatever
// the size, and chooses its own form.
const (
	typeList = 1
	typeSet  = 2
	typeHash = 4
)

// BeginHash appends the beginning of a payload for a hash of n fields. Each field and its
// value follow, by [AppendElement], then [Seal].
func BeginHash(dst []byte, n int64) []byte { return appendLen(append(dst, typeHash), uint64(n)) }

// BeginSet is BeginHash for a set of n members.
func BeginSet(dst []byte, n int64) []byte { return appendLen(append(dst, typeSet), uint64(n)) }

// BeginList is BeginHash for a list of n elements.
func BeginList(dst []byte, n int64) []byte { return appendLen(append(dst, typeList), uint64(n)) }

// AppendElement appends an element of a collection.
func AppendElement(dst, element []byte) []byte { return appendString(dst, element) }

// Seal ends a payload that begins at dst[start].
func Seal(dst []byte, start int) []byte { return seal(dst, start) }

// Each calls yield for each field of a Hash, with its value, or each member of a Set or
// element of a List, until it returns an error. Fields that come twice are not noticed. The errors are those of
// Decode, and yield's. What yield is given is valid until it returns.
func (v *Value) Each(yield func(field, value []byte) error) error {
	if err := v.each(yield); err != nil {
		return fmt.Errorf("decode %s: %w", v.Type, err)
	}
	return nil
}

func (v *Value) each(yield func(field, value []byte) error) error {
	if v.Timed() {
		return v.eachExpiring(func(field, value []byte, _ int64) error { return yield(field, value) })
	}
	elements, err := elementsOf(v.enc, v.body, v.most)
	if err != nil {
		return err
	}
	total := int64(0)
	next := func() (b []byte, ok bool, err error) {
		if b, ok, err = elements(); err != nil || !ok {
			return nil, ok, err
		}
		if err := checkLen(uint64(len(b)), v.most); err != nil {
			return nil, false, err
		}
		if total += int64(len(b)); total > v.most.bytes {
			return nil, false, fmt.Errorf("%w: more than %d bytes in all", ErrTooLarge, v.most.bytes)
		}
		return b, true, nil
	}
	n := 0
	var buf []byte
	for ; ; n++ {
		field, ok, err := next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		var value []byte
		if v.Type == Hash || v.Type == SortedSet {
			buf = append(buf[:0], field...) // what comes next may overwrite it
			field = buf
			if value, ok, err = next(); err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("%w: a field without a value", ErrFormat)
			}
		}
		if err := yield(field, value); err != nil {
			return err
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: it has no elements", ErrFormat)
	}
	return nil
}

// An elementReader returns the elements of a collection one after the other; false behind
// the last. What it returns is valid until it is called again.
type elementReader func() (element []byte, ok bool, err error)

// elementsOf returns a reader for the value of a type byte: of a hash each field and then
// its value.
func elementsOf(enc byte, body []byte, most limit) (elementReader, error) {
	switch enc {
	case typeSortedSetText, typeSortedSet:
		return scoredReader(enc, body, most)
	case typeList, typeSet, typeHash:
		n, rest, err := readPlainLen(body)
		if err != nil {
			return nil, err
		}
		if enc == typeHash {
			if n > 1<<62 {
				return nil, fmt.Errorf("%w: %d fields", ErrFormat, n)
			}
			n *= 2
		}
		return stringReader(n, rest, most), nil
	}
	if enc == 14 || enc == 18 {
		return quicklist(enc, body, most)
	}
	blob, rest, err := readString(body, most)
	if err != nil {
		return nil, err
	}
	if err := CheckEnd(rest); err != nil {
		return nil, err
	}
	switch enc {
	case 9:
		return zipmap(blob)
	case 11:
		return intset(blob)
	case 10, 12, 13:
		return ziplist(blob)
	}
	return listpack(blob)
}

// stringReader reads n strings.
func stringReader(n uint64, p []byte, most limit) elementReader {
	return func() (element []byte, ok bool, err error) {
		if n == 0 {
			err = CheckEnd(p)
			return nil, false, err
		}
		n--
		element, p, err = readString(p, most)
		return element, err == nil, err
	}
}

// Of the second form of a quicklist, what a node is.
const (
	nodePlain  = 1 // one element
	nodePacked = 2 // a listpack
)

// quicklist reads a list of nodes, each of them a ziplist or, in the second form, a listpack
// or an element.
func quicklist(enc byte, body []byte, most limit) (elementReader, error) {
	nodes, p, err := readPlainLen(body)
	if err != nil {
		return nil, err
	}
	var node elementReader
	return func() (element []byte, ok bool, err error) {
		for {
			if node != nil {
				if element, ok, err = node(); err != nil || ok {
					return element, ok, err
				}
				node = nil
			}
			if nodes == 0 {
				err = CheckEnd(p)
				return nil, false, err
			}
			nodes--
			kind := uint64(nodePacked)
			if enc == 18 {
				if kind, p, err = readPlainLen(p); err != nil {
					return nil, false, err
				}
			}
			var blob []byte
			if blob, p, err = readString(p, most); err != nil {
				return nil, false, err
			}
			switch {
			case kind == nodePlain && len(blob) == 0:
				return nil, false, fmt.Errorf("%w: an empty node of a list", ErrFormat)
			case kind == nodePlain:
				return blob, true, nil
			case kind != nodePacked:
				return nil, false, fmt.Errorf("%w: node %d of a list", ErrFormat, kind)
			case enc == 14:
				node, err = ziplist(blob)
			default:
				node, err = listpack(blob)
			}
			if err != nil {
				return nil, false, err
			}
		}
	}, nil
}
