package command

import (
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// ParseTimeout is ParseMilliseconds as a Duration.
func ParseTimeout(arg []byte) (time.Duration, string) {
	ms, msg := ParseMilliseconds(arg)
	return Milliseconds(uint64(ms)), msg
}

// ParseMilliseconds reads how long a command may wait, in ms; 0 is for ever. It returns an error reply, or "". As in
// Redis, the time at which the wait ends has to fit 64 bits.
func ParseMilliseconds(arg []byte) (ms int64, msg string) {
	ms, ok := wire.ParseInt(arg)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case ms < 0:
		return 0, "ERR timeout is negative"
	case ms > math.MaxInt64-time.Now().UnixMilli():
		return 0, msgTimeoutRange
	}
	return ms, ""
}

const msgTimeoutRange = "ERR timeout is out of range"

// Milliseconds returns n ms, or as much as a Duration can be.
func Milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
}
