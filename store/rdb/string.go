package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Encodings of a string, in the place of its length.
const (
	encInt8  = 0
	encInt16 = 1
	encInt32 = 2
	encLZF   = 3
)

const (
	// minCompress is the shortest string that compression is tried on.
	minCompress = 21

	// maxIntLen is the length of the longest text of a 32-bit integer.
	maxIntLen = len("-2147483648")
)

// AppendString appends the payload that DUMP of Redis 7.0 has for a string: byte
// for byte the same, but for the rare chance described at lzfAppend. It is safe
// for concurrent use.
func AppendString(dst, value []byte) []byte {
	start := len(dst)
	dst = append(dst, typeString)
	dst = appendString(dst, value)
	return seal(dst, start)
}

// appendString appends a string as it stands in every type: an integer, if it is
// one of up to 32 bits written the usual way, else compressed, else as it is.
func appendString(dst, value []byte) []byte {
	if n, ok := canonicalInt32(value); ok {
		return appendInt(dst, n)
	}
	if len(value) >= minCompress {
		if out, ok := appendCompressed(dst, value); ok {
			return out
		}
	}
	dst = appendLen(dst, uint64(len(value)))
	return append(dst, value...)
}

// canonicalInt32 reports the integer whose decimal text is exactly b, so that
// decoding gives b back: no plus sign, no leading zeros, no "-0".
func canonicalInt32(b []byte) (int32, bool) {
	if len(b) == 0 || len(b) > maxIntLen {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 32)
	var text [maxIntLen]byte
	return int32(n), err == nil && bytes.Equal(strconv.AppendInt(text[:0], n, 10), b)
}

func appendInt(dst []byte, n int32) []byte {
	switch {
	case n >= math.MinInt8 && n <= math.MaxInt8:
		return append(dst, lenEnc|encInt8, byte(n))
	case n >= math.MinInt16 && n <= math.MaxInt16:
		return binary.LittleEndian.AppendUint16(append(dst, lenEnc|encInt16), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(dst, lenEnc|encInt32), uint32(n))
	}
}

// appendCompressed appends value compressed, or reports false and leaves dst's
// bytes alone when that would not save four bytes.
func appendCompressed(dst, value []byte) ([]byte, bool) {
	// The header has the compressed length, which is known afterwards: the
	// longest header is left free and the data moved up to the real one.
	const room = 1 + 2*maxLenSize
	start := len(dst)
	var gap [room]byte
	out, ok := lzfAppend(append(dst, gap[:]...), value, len(value)-4)
	if !ok {
		return dst, false
	}
	data := out[start+room:]
	head := append(out[:start], lenEnc|encLZF)
	head = appendLen(head, uint64(len(data)))
	head = appendLen(head, uint64(len(value)))
	return append(head, data...), true
}

// readString reads what appendString wrote and returns what follows it.
func readString(p []byte, most limit) (value, rest []byte, err error) {
	n, enc, p, err := readLen(p)
	if err != nil {
		return nil, nil, err
	}
	if enc {
		return readEncoded(p, n, most)
	}
	if n > uint64(len(p)) {
		return nil, nil, errShort("string")
	}
	if err := checkLen(n, most); err != nil {
		return nil, nil, err
	}
	return p[:n:n], p[n:], nil
}

func readEncoded(p []byte, enc uint64, most limit) (value, rest []byte, err error) {
	size, n := 0, int64(0)
	switch enc {
	case encLZF:
		return readCompressed(p, most)
	case encInt8:
		size = 1
	case encInt16:
		size = 2
	case encInt32:
		size = 4
	default:
		return nil, nil, fmt.Errorf("%w: string encoding %d", ErrFormat, enc)
	}
	if len(p) < size {
		return nil, nil, errShort("integer")
	}
	switch size {
	case 1:
		n = int64(int8(p[0]))
	case 2:
		n = int64(int16(binary.LittleEndian.Uint16(p)))
	case 4:
		n = int64(int32(binary.LittleEndian.Uint32(p)))
	}
	value = strconv.AppendInt(make([]byte, 0, maxIntLen), n, 10)
	if err := checkLen(uint64(len(value)), most); err != nil {
		return nil, nil, err
	}
	return value, p[size:], nil
}

func readCompressed(p []byte, most limit) (value, rest []byte, err error) {
	size, p, err := readPlainLen(p)
	if err != nil {
		return nil, nil, err
	}
	full, p, err := readPlainLen(p)
	if err != nil {
		return nil, nil, err
	}
	if size > uint64(len(p)) {
		return nil, nil, errShort("compressed string")
	}
	data := p[:size]
	if err := checkLen(full, most); err != nil {
		return nil, nil, err
	}
	// The tokens are counted before anything is allocated: a length that they
	// do not add up to costs nothing.
	if n, ok := lzfLen(data); !ok || n != full {
		return nil, nil, fmt.Errorf("%w: compressed string", ErrFormat)
	}
	if most.grow != nil && !most.grow(int64(full)) {
		return nil, nil, fmt.Errorf("%w: a compressed string of %d bytes", ErrMemory, full)
	}
	value, ok := lzfExpand(make([]byte, 0, full), data)
	if !ok {
		return nil, nil, fmt.Errorf("%w: compressed string refers to before its beginning", ErrFormat)
	}
	return value, p[size:], nil
}

func checkLen(n uint64, most limit) error {
	if most.bytes < 0 || n > uint64(most.bytes) {
		return fmt.Errorf("%w: %d bytes, limit %d", ErrTooLarge, n, most.bytes)
	}
	return nil
}
