package rdb

import "math"

// Later returns an expiry, in ms since 1970, so many ms later, or earlier where by is below 0; 0, for none, stays.
func Later(expiry, by int64) int64 {
	switch {
	case expiry == 0:
		return 0
	case by > 0 && expiry > math.MaxInt64-by:
		return math.MaxInt64
	}
	return max(expiry+by, 1)
}

// MoveExpiry returns a payload in which the fields of a hash expire by [Later]. One of another type comes back as it
// is. No payload makes it take more than maxLen bytes for strings.
func MoveExpiry(payload []byte, maxLen, by int64) ([]byte, error) {
	if len(payload) == 0 || payload[0] < typeTimedPreview {
		return payload, nil
	}
	v, err := Decode(payload, maxLen)
	if err != nil || !v.Timed() {
		return payload, err
	}
	n, expires, first := int64(0), false, int64(math.MaxInt64)
	err = v.EachExpiring(func(_, _ []byte, expiry int64) error {
		n++
		if expiry != 0 {
			expires, first = true, min(first, Later(expiry, by))
		}
		return nil
	})
	if err != nil || !expires {
		return payload, err
	}
	moved := BeginTimedHash(nil, n, first)
	err = v.EachExpiring(func(field, value []byte, expiry int64) error {
		moved = AppendElement(AppendElement(AppendExpiry(moved, first, Later(expiry, by)), field), value)
		return nil
	})
	return SealAs(moved, 0, TimedVersion), err
}
