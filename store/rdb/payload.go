package rdb

import (
	"encoding/binary"
	"fmt"
)

const (
	// Version is the RDB version that payloads are written with: that of Redis
	// 7.0, so that it and every later one take them.
	Version = 10

	// MaxVersion is the newest RDB version of Redis that is read: 11 is Redis 7.2, 12
	// Redis 7.4 to 8.4, 13 is 8.6 and 14 is 8.8. They add types and encodings of collections
	// and leave the others as they were.
	MaxVersion = 14

	// ValkeyVersion is the RDB version of Valkey 9, which has left those of Redis. Up to 11 they
	// are the same.
	ValkeyVersion = 80

	// OldestVersion is the oldest RDB version that payloads can be written with: that of Redis 5.0
	// to 6.2.
	OldestVersion = 9

	footerLen = 2 + 8

	// FrameLen is how many bytes a payload has beside its value: the type and the footer.
	FrameLen = 1 + footerLen
)

// seal appends the footer to a payload that begins at dst[start].
func seal(dst []byte, start int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	return binary.LittleEndian.AppendUint64(dst, checksum(dst[start:]))
}

// open checks a payload's footer and returns what stands before it, and whether Valkey wrote it. A
// checksum of zero is not taken for "not computed", as it is in RDB files: RESTORE does
// not do that either.
func open(payload []byte) (body []byte, valkey bool, err error) {
	n := len(payload) - footerLen
	if n < 0 {
		return nil, false, fmt.Errorf("%w: %d bytes", ErrPayload, len(payload))
	}
	v := binary.LittleEndian.Uint16(payload[n:])
	if v > MaxVersion && v != ValkeyVersion {
		return nil, false, fmt.Errorf("%w: version %d, newest known %d", ErrPayload, v, MaxVersion)
	}
	if binary.LittleEndian.Uint64(payload[n+2:]) != checksum(payload[:n+2]) {
		return nil, false, fmt.Errorf("%w: checksum", ErrPayload)
	}
	return payload[:n], v == ValkeyVersion, nil
}
