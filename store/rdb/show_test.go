package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
)

// show is a value short enough for a message.
func show(b []byte) string {
	if len(b) > 60 {
		return fmt.Sprintf("%q… (%d bytes)", b[:60], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// isOnly reports whether err is want and none of the other sentinels.
func isOnly(err, want error) bool {
	for _, e := range []error{ErrPayload, ErrFormat, ErrType, ErrTooLarge} {
		if errors.Is(err, e) != (e == want) {
			return false
		}
	}
	return errors.Is(err, want)
}

// sealAs appends a right footer of any version to body.
func sealAs(body []byte, version uint16) []byte {
	body = binary.LittleEndian.AppendUint16(body, version)
	return binary.LittleEndian.AppendUint64(body, checksum(body))
}

// spoil changes, takes away, adds or repeats a few bytes of b; never all of them.
func spoil(r *rand.Rand, b []byte) []byte {
	for range 1 + r.IntN(3) {
		i := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.IntN(256))
		case 2:
			b = b[:1+i]
		case 3:
			b = append(b, byte(r.IntN(256)))
		case 4:
			b = append(b[:i:i], append([]byte{byte(r.IntN(256))}, b[i:]...)...)
		}
	}
	return b
}
