package rdb

import (
	"encoding/binary"
	"fmt"
)

const (
	// Version is the RDB version that payloads are written with: that of Redis
	// 7.0, so that it and every later one take them.
	Version = 10

	// MaxVersion is the newest RDB version that is read: 11 is Redis 7.2, 12
	// Redis 7.4 and 8. They add types and encodings of collections and leave
	// strings as they were.
	MaxVersion = 12

	footerLen = 2 + 8
)

// seal appends the footer to a payload that begins at dst[start].
func seal(dst []byte, start int) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, Version)
	return binary.LittleEndian.AppendUint64(dst, checksum(dst[start:]))
}

// open checks a payload's footer and returns what stands before it. A checksum
// of zero is not taken for "not computed", as it is in RDB files: RESTORE does
// not do that either.
func open(payload []byte) ([]byte, error) {
	n := len(payload) - footerLen
	if n < 0 {
		return nil, fmt.Errorf("%w: %d bytes", ErrPayload, len(payload))
	}
	if v := binary.LittleEndian.Uint16(payload[n:]); v > MaxVersion {
		return nil, fmt.Errorf("%w: version %d, newest known %d", ErrPayload, v, MaxVersion)
	}
	if binary.LittleEndian.Uint64(payload[n+2:]) != checksum(payload[:n+2]) {
		return nil, fmt.Errorf("%w: checksum", ErrPayload)
	}
	return payload[:n], nil
}
