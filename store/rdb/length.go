package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The two high bits of a length's first byte say how the rest is to be read.
const (
	len6   = 0 << 6 // the other six bits
	len14  = 1 << 6 // those and the next byte
	lenBig = 2 << 6 // the next four or eight bytes, big-endian
	lenEnc = 3 << 6 // not a length: the other six bits name an encoding

	lenBig32 = lenBig
	lenBig64 = lenBig | 1

	maxLenSize = 9
)

// appendLen appends n in the fewest bytes.
func appendLen(dst []byte, n uint64) []byte {
	switch {
	case n < 1<<6:
		return append(dst, len6|byte(n))
	case n < 1<<14:
		return append(dst, len14|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, lenBig32), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(dst, lenBig64), n)
	}
}

// readLen reads a length, or the number of an encoding when enc is true, and
// returns what follows. Longer forms than needed are legal.
func readLen(p []byte) (n uint64, enc bool, rest []byte, err error) {
	if len(p) == 0 {
		return 0, false, nil, errShort("length")
	}
	size := 1
	switch p[0] & lenEnc {
	case len6:
		return uint64(p[0] &^ lenEnc), false, p[1:], nil
	case lenEnc:
		return uint64(p[0] &^ lenEnc), true, p[1:], nil
	case len14:
		size = 2
	default:
		switch p[0] {
		case lenBig32:
			size = 5
		case lenBig64:
			size = 9
		default:
			return 0, false, nil, fmt.Errorf("%w: length begins with %#02x", ErrFormat, p[0])
		}
	}
	if len(p) < size {
		return 0, false, nil, errShort("length")
	}
	switch size {
	case 2:
		n = uint64(p[0]&^lenEnc)<<8 | uint64(p[1])
	case 5:
		n = uint64(binary.BigEndian.Uint32(p[1:]))
	case 9:
		n = binary.BigEndian.Uint64(p[1:])
	}
	return n, false, p[size:], nil
}

// readPlainLen reads a length where an encoding has no place.
func readPlainLen(p []byte) (uint64, []byte, error) {
	n, enc, rest, err := readLen(p)
	if err == nil && enc {
		return 0, nil, fmt.Errorf("%w: encoding %d for a length", ErrFormat, n)
	}
	return n, rest, err
}

// errShort is the error of a payload that ends within what.
func errShort(what string) error { return fmt.Errorf("%w: ends within a %s", ErrFormat, what) }
