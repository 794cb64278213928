package rdb

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
)

// What readers and writers of RDB files need of the encoding of values: see package rdbfile.

// LenSize returns how many bytes a length takes that begins with the byte first, and whether it is the
// number of a string encoding instead. The size is 0 for a byte that begins no length.
func LenSize(first byte) (size int, encoding bool) {
	switch first & lenEnc {
	case len6:
		return 1, false
	case len14:
		return 2, false
	case lenEnc:
		return 1, true
	}
	switch first {
	case lenBig32:
		return 5, false
	case lenBig64:
		return 9, false
	}
	return 0, false
}

// ReadLen reads a length, or the number of a string encoding if encoding is true, and returns what
// follows it.
func ReadLen(p []byte) (n uint64, encoding bool, rest []byte, err error) { return readLen(p) }

// AppendLen appends a length in the fewest bytes.
func AppendLen(dst []byte, n uint64) []byte { return appendLen(dst, n) }

// ReadString reads a string of at most maxLen bytes, in whichever encoding, and returns what follows it.
// The value may share memory with p.
func ReadString(p []byte, maxLen int64) (value, rest []byte, err error) {
	return readString(p, limit{bytes: maxLen})
}

// Checksum returns the checksum of a text, of which sum is that of the beginning and p the rest. The
// checksum of nothing is 0.
func Checksum(sum uint64, p []byte) uint64 { return ^crc64.Update(^sum, jones, p) }

// SealAs is [Seal] with another RDB version than [Version].
func SealAs(dst []byte, start, version int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, uint16(version))
	return binary.LittleEndian.AppendUint64(dst, checksum(dst[start:]))
}

// Reseal gives a payload that begins at dst[start] another RDB version.
func Reseal(dst []byte, start, version int) []byte {
	return SealAs(dst[:len(dst)-footerLen], start, version)
}

// OpenAny checks the checksum of a payload of any RDB version and returns what stands before the footer.
func OpenAny(payload []byte) (body []byte, version int, err error) {
	n := len(payload) - footerLen
	if n < 0 {
		return nil, 0, fmt.Errorf("%w: %d bytes", ErrPayload, len(payload))
	}
	if binary.LittleEndian.Uint64(payload[n+2:]) != checksum(payload[:n+2]) {
		return nil, 0, fmt.Errorf("%w: checksum", ErrPayload)
	}
	return payload[:n], int(binary.LittleEndian.Uint16(payload[n:])), nil
}
