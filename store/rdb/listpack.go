package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// appendListpackText appends an element of a listpack: as an integer, if it is the text of
// one.
func appendListpackText(dst, element []byte) []byte {
	if n, ok := canonicalInt(element); ok {
		return appendListpackInt(dst, n)
	}
	start := len(dst)
	switch n := len(element); {
	case n < 1<<6:
		dst = append(dst, 0x80|byte(n))
	case n < 1<<12:
		dst = append(dst, 0xe0|byte(n>>8), byte(n))
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, 0xf0), uint32(n))
	}
	dst = append(dst, element...)
	return appendBackLen(dst, len(dst)-start)
}

// canonicalInt reports the integer whose decimal text is exactly b.
func canonicalInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > len("-9223372036854775808") || b[0] != '-' && (b[0] < '0' || b[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	var text [20]byte
	return n, err == nil && string(strconv.AppendInt(text[:0], n, 10)) == string(b)
}

func appendListpackInt(dst []byte, n int64) []byte {
	start := len(dst)
	switch {
	case n >= 0 && n < 1<<7:
		dst = append(dst, byte(n))
	case n >= -1<<12 && n < 1<<12:
		dst = append(dst, 0xc0|byte(n>>8)&0x1f, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		dst = binary.LittleEndian.AppendUint16(append(dst, 0xf1), uint16(n))
	case n >= -1<<23 && n < 1<<23:
		dst = append(dst, 0xf2, byte(n), byte(n>>8), byte(n>>16))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		dst = binary.LittleEndian.AppendUint32(append(dst, 0xf3), uint32(n))
	default:
		dst = binary.LittleEndian.AppendUint64(append(dst, 0xf4), uint64(n))
	}
	return appendBackLen(dst, len(dst)-start)
}

// appendBackLen appends the length of an element for those who come from behind.
func appendBackLen(dst []byte, n int) []byte {
	size := backLen(n)
	for i := size - 1; i >= 0; i-- {
		c := byte(n>>(7*i)) & 0x7f
		if i < size-1 {
			c |= 0x80
		}
		dst = append(dst, c)
	}
	return dst
}

// frameListpack ends a listpack of n elements, the bytes of which follow dst[start+6].
func frameListpack(dst []byte, start, n int) []byte {
	dst = append(dst, compactEnd)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	binary.LittleEndian.PutUint16(dst[start+4:], uint16(min(n, math.MaxUint16)))
	return dst
}
