package rdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// The compact forms that Redis keeps small collections in, and dumps as one string. They
// are read only. See ziplist.c, listpack.c, intset.c and zipmap.c of Redis for the forms.

// compactEnd ends a listpack, a ziplist and a zipmap.
const compactEnd = 0xff

// cut takes n bytes off a compact form.
func cut(p []byte, n uint64) (head, rest []byte, err error) {
	if n > uint64(len(p)) {
		return nil, nil, errShort("compact element")
	}
	return p[:n:n], p[n:], nil
}

// littleInt is a signed integer of 1 to 8 bytes.
func littleInt(b []byte) int64 {
	n := uint64(0)
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	shift := 64 - 8*len(b)
	return int64(n<<shift) >> shift
}

// framed checks the head of a compact form, which says how long it is and how many
// elements it has, unless they are too many for that, and what ends it.
func framed(blob []byte, head int) (rest []byte, n uint16, err error) {
	if len(blob) < head+1 || uint64(binary.LittleEndian.Uint32(blob)) != uint64(len(blob)) || blob[len(blob)-1] != compactEnd {
		return nil, 0, fmt.Errorf("%w: frame of a compact collection", ErrFormat)
	}
	return blob[head : len(blob)-1], binary.LittleEndian.Uint16(blob[head-2:]), nil
}

// counted reads elements by one until there is nothing left, and compares how many there
// were with what the head has said.
func counted(p []byte, n uint16, one func(p, num []byte) (element, rest []byte, err error)) elementReader {
	seen := 0
	num := make([]byte, 0, 20)
	return func() (element []byte, ok bool, err error) {
		if len(p) == 0 {
			if n != 1<<16-1 && seen != int(n) {
				err = fmt.Errorf("%w: %d elements where %d are said to be", ErrFormat, seen, n)
			}
			return nil, false, err
		}
		seen++
		element, p, err = one(p, num[:0])
		return element, err == nil, err
	}
}

// listpack: total bytes 4 B, elements 2 B, elements, end.
func listpack(blob []byte) (elementReader, error) {
	p, n, err := framed(blob, 6)
	if err != nil {
		return nil, err
	}
	return counted(p, n, listpackElement), nil
}

// listpackElement reads one element: an encoding, what it encodes, and the length of both
// for those who come from behind.
func listpackElement(p, num []byte) (element, rest []byte, err error) {
	head, size, ints := 1, uint64(0), true
	short := func(n int) bool { return len(p) < n }
	switch c := p[0]; {
	case c < 0x80:
		element = strconv.AppendUint(num, uint64(c), 10)
	case c < 0xc0:
		ints, size = false, uint64(c&0x3f)
	case c < 0xe0:
		if short(2) {
			return nil, nil, errShort("compact element")
		}
		head = 2
		n := int64(c&0x1f)<<8 | int64(p[1])
		element = strconv.AppendInt(num, n<<51>>51, 10)
	case c < 0xf0:
		if short(2) {
			return nil, nil, errShort("compact element")
		}
		head, ints, size = 2, false, uint64(c&0x0f)<<8|uint64(p[1])
	case c == 0xf0:
		if short(5) {
			return nil, nil, errShort("compact element")
		}
		head, ints, size = 5, false, uint64(binary.LittleEndian.Uint32(p[1:]))
	case c <= 0xf3:
		size = uint64(c - 0xf0 + 1)
	case c == 0xf4:
		size = 8
	default:
		return nil, nil, fmt.Errorf("%w: encoding %#02x of a listpack", ErrFormat, c)
	}
	data, rest, err := cut(p[head:], size)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case !ints:
		element = data
	case size > 0:
		element = strconv.AppendInt(num, littleInt(data), 10)
	}
	back, rest, err := cut(rest, uint64(backLen(head+len(data))))
	if err != nil {
		return nil, nil, err
	}
	if !isBackLen(back, head+len(data)) {
		return nil, nil, fmt.Errorf("%w: length behind an element of a listpack", ErrFormat)
	}
	return element, rest, nil
}

// backLen is how many bytes a length takes behind an element: seven bits in each.
func backLen(n int) int {
	switch {
	case n <= 127:
		return 1
	case n < 16383:
		return 2
	case n < 2097151:
		return 3
	case n < 268435455:
		return 4
	}
	return 5
}

// isBackLen reports whether b is a length for those who read from its end.
func isBackLen(b []byte, n int) bool {
	got := 0
	for i, c := range b {
		if (c&0x80 != 0) != (i > 0) {
			return false
		}
		got = got<<7 | int(c&0x7f)
	}
	return got == n
}

// ziplist: total bytes 4 B, where the last element begins 4 B, elements 2 B, elements, end.
func ziplist(blob []byte) (elementReader, error) {
	p, n, err := framed(blob, 10)
	if err != nil {
		return nil, err
	}
	tail := uint64(binary.LittleEndian.Uint32(blob[4:]))
	if tail >= uint64(len(blob)) {
		return nil, fmt.Errorf("%w: a ziplist's last element is behind its end", ErrFormat)
	}
	at, before := uint64(len(blob)-1-len(p)), uint64(0)
	return counted(p, n, func(p, num []byte) (element, rest []byte, err error) {
		said := uint64(p[0])
		if said == 254 && len(p) > 4 {
			said = uint64(binary.LittleEndian.Uint32(p[1:]))
		}
		if said != before {
			return nil, nil, fmt.Errorf("%w: length before an element of a ziplist", ErrFormat)
		}
		if element, rest, err = ziplistElement(p, num); err != nil {
			return nil, nil, err
		}
		if len(rest) == 0 && at != tail {
			return nil, nil, fmt.Errorf("%w: a ziplist's last element is elsewhere", ErrFormat)
		}
		before = uint64(len(p) - len(rest))
		at += before
		return element, rest, nil
	}), nil
}

// ziplistElement reads one element: the length of the one before, an encoding, and what it
// encodes.
func ziplistElement(p, num []byte) (element, rest []byte, err error) {
	before := 1
	if p[0] == 254 {
		before = 5
	}
	if len(p) <= before || p[0] == compactEnd {
		return nil, nil, errShort("compact element")
	}
	p = p[before:]
	head, size, ints := 1, uint64(0), false
	switch c := p[0]; {
	case c < 0x40:
		size = uint64(c)
	case c < 0x80:
		if len(p) < 2 {
			return nil, nil, errShort("compact element")
		}
		head, size = 2, uint64(c&0x3f)<<8|uint64(p[1])
	case c == 0x80:
		if len(p) < 5 {
			return nil, nil, errShort("compact element")
		}
		head, size = 5, uint64(binary.BigEndian.Uint32(p[1:]))
	case c == 0xc0:
		ints, size = true, 2
	case c == 0xd0:
		ints, size = true, 4
	case c == 0xe0:
		ints, size = true, 8
	case c == 0xf0:
		ints, size = true, 3
	case c == 0xfe:
		ints, size = true, 1
	case c > 0xf0 && c < 0xfe:
		return strconv.AppendUint(num, uint64(c&0x0f)-1, 10), p[1:], nil
	default:
		return nil, nil, fmt.Errorf("%w: encoding %#02x of a ziplist", ErrFormat, c)
	}
	if element, rest, err = cut(p[head:], size); err == nil && ints {
		element = strconv.AppendInt(num, littleInt(element), 10)
	}
	return element, rest, err
}

// intset: size of an integer 4 B, how many 4 B, the integers.
func intset(blob []byte) (elementReader, error) {
	if len(blob) < 8 {
		return nil, errShort("set of integers")
	}
	size, n, p := binary.LittleEndian.Uint32(blob), binary.LittleEndian.Uint32(blob[4:]), blob[8:]
	if size != 2 && size != 4 && size != 8 || uint64(size)*uint64(n) != uint64(len(p)) {
		return nil, fmt.Errorf("%w: set of %d integers of %d bytes", ErrFormat, n, size)
	}
	num := make([]byte, 0, 20)
	return func() ([]byte, bool, error) {
		if len(p) == 0 {
			return nil, false, nil
		}
		num = strconv.AppendInt(num[:0], littleInt(p[:size]), 10)
		p = p[size:]
		return num, true, nil
	}, nil
}

// zipmap: pairs 1 B, then fields and values, each behind its length, end. Behind the length
// of a value is how many unused bytes follow it.
func zipmap(blob []byte) (elementReader, error) {
	if len(blob) < 2 || blob[len(blob)-1] != compactEnd {
		return nil, fmt.Errorf("%w: frame of a compact collection", ErrFormat)
	}
	p := blob[1 : len(blob)-1]
	isValue := false
	return func() (element []byte, ok bool, err error) {
		if len(p) == 0 {
			return nil, false, nil
		}
		size, unused := uint64(p[0]), uint64(0)
		p = p[1:]
		switch {
		case size == 254 && len(p) >= 4:
			size, p = uint64(binary.LittleEndian.Uint32(p)), p[4:]
		case size >= 254:
			return nil, false, fmt.Errorf("%w: length in a zipmap", ErrFormat)
		}
		if isValue {
			if len(p) == 0 {
				return nil, false, errShort("compact element")
			}
			unused, p = uint64(p[0]), p[1:]
		}
		isValue = !isValue
		if element, p, err = cut(p, size); err == nil {
			_, p, err = cut(p, unused)
		}
		return element, err == nil, err
	}, nil
}
