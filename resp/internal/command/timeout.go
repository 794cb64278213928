package command

import (
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// ParseTimeout reads how long a command may wait, in ms; 0 is for ever. It returns
// an error reply, or "".
func ParseTimeout(arg []byte) (time.Duration, string) {
	n, ok := wire.ParseInt(arg)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case n < 0:
		return 0, "ERR timeout is negative"
	}
	return Milliseconds(uint64(n)), ""
}

// Milliseconds returns n ms, or as much as a Duration can be.
func Milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
}
