package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxValueSize is the size in bytes of the largest value, Redis' own limit.
const MaxValueSize = 512 << 20

// Sizes are the sizes of values in bytes: evenly spread from Min to Max, both
// included.
type Sizes struct{ Min, Max int }

// ParseSizes reads one size ("100") or a smallest and a largest one ("100-4000").
func ParseSizes(s string) (Sizes, error) {
	low, high, two := strings.Cut(s, "-")
	if !two {
		high = low
	}
	smallest, errLow := strconv.Atoi(low)
	largest, errHigh := strconv.Atoi(high)
	if errLow != nil || errHigh != nil {
		return Sizes{}, fmt.Errorf("%.40q is not a size in bytes, as in 100 or 100-4000", s)
	}
	sizes := Sizes{smallest, largest}
	return sizes, sizes.Validate()
}

// Validate checks the bounds.
func (s Sizes) Validate() error {
	if s.Min < 0 || s.Max < s.Min || s.Max > MaxValueSize {
		return fmt.Errorf("sizes of values from %d to %d: they must rise and lie within 0..%d", s.Min, s.Max, MaxValueSize)
	}
	return nil
}

// String is what [ParseSizes] reads.
func (s Sizes) String() string {
	if s.Min == s.Max {
		return strconv.Itoa(s.Min)
	}
	return fmt.Sprintf("%d-%d", s.Min, s.Max)
}

// of is the size of the i-th value, the same whenever it is asked for.
func (s Sizes) of(seed uint64, i int) int {
	if s.Min == s.Max {
		return s.Min
	}
	return s.Min + int(mix(seed^mix(uint64(i)))%uint64(s.Max-s.Min+1))
}
