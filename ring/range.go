package ring

import (
	"fmt"
	"strconv"
	"strings"
)

// A Range is the tokens from Start up to, not including, End, modulo 2³². With
// Start == End it is the whole circle; there is no empty range.
type Range struct {
	Start, End Token
}

// Whole is the range of all tokens.
var Whole = Range{}

// Contains tells whether a token lies in the range.
func (r Range) Contains(t Token) bool {
	return r.Start == r.End || t-r.Start < r.End-r.Start
}

// Len is the number of tokens in the range, 1..2³².
func (r Range) Len() uint64 {
	if r.Start == r.End {
		return 1 << 32
	}
	return uint64(r.End - r.Start)
}

// Cut returns the range cut at the bounds of n equal parts of the circle, 1..2³². No piece wraps.
func (r Range) Cut(n uint64) []Range {
	var all []Range
	length := (1<<32 + n - 1) / n
	for at, left := uint64(r.Start), r.Len(); left > 0; at %= 1 << 32 {
		end := min((at/length+1)*length, at+left, 1<<32)
		all = append(all, Range{Token(at), Token(end)})
		left -= end - at
		at = end
	}
	return all
}

// Wraps tells whether the range goes on past the last token, so that it is two
// pieces of an ordered store. A range that ends with the last token does not.
func (r Range) Wraps() bool {
	return r.End <= r.Start && r.End != 0
}

// String is the range as START-END, eight hexadecimal digits each.
func (r Range) String() string {
	return fmt.Sprintf("%08x-%08x", uint32(r.Start), uint32(r.End))
}

// ParseRange reads what [Range.String] writes.
func ParseRange(s string) (Range, error) {
	start, end, ok := strings.Cut(s, "-")
	if ok && len(start) == 8 && len(end) == 8 {
		a, errA := strconv.ParseUint(start, 16, 32)
		b, errB := strconv.ParseUint(end, 16, 32)
		if errA == nil && errB == nil {
			return Range{Token(a), Token(b)}, nil
		}
	}
	return Range{}, fmt.Errorf("%w: %.40q is not a range: a range is two tokens of eight hexadecimal digits, as in 00000000-10000000", ErrMalformed, s)
}
