package vnode

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/ringside-kv/ringside/ring"
)

// ErrPin: what should be a pinned point is no hash.
var ErrPin = errors.New("bad pin")

// ParsePin reads the hash at which an operator wants a point, and returns the token
// there. It is a number of 32 bits as murmur3 gives it: signed or unsigned in
// decimals, or in hexadecimals after 0x; -2147483648 is the first place on the ring,
// 2147483647 the last.
func ParsePin(s string) (ring.Token, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		n, err = parseHex(s[2:])
	}
	if err != nil || n < math.MinInt32 || n > math.MaxUint32 {
		return 0, fmt.Errorf("%w: %.40q is no hash, which is a number from %d to %d or from 0x0 to 0xffffffff",
			ErrPin, s, math.MinInt32, uint32(math.MaxUint32))
	}
	return ring.Token(uint32(n) ^ signBit), nil
}

func parseHex(digits string) (int64, error) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return int64(n), err
}
