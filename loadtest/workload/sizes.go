package workload

import (
	"math"
	"math/rand/v2"
)

// MaxValueLen is the length in bytes of the longest value, that of Redis.
const MaxValueLen = 512 << 20

// Sizes say how long values are, in bytes.
type Sizes struct {
	kind        sizeKind
	least, most int     // most is the only one of a fixed length
	mean        float64 // exp; the median of lognormal
	sigma       float64 // lognormal
}

type sizeKind uint8

const (
	fixed sizeKind = iota
	ranged
	exponential
	lognormal
)

// ParseSizes reads lengths of values, in bytes:
//
//	100                100 bytes each
//	10..1000           from 10 to 1,000, all alike
//	exp 100            exponentially distributed about a mean of 100
//	lognormal 100 1.5  with a median of 100 and a sigma of 1.5
//
// What a distribution says beyond 1..[MaxValueLen] is cut off there. The error wraps
// [ErrSizes].
func ParseSizes(text string) (Sizes, error) {
	words := Words(text, 1)
	if len(words) == 0 {
		return Sizes{}, Fault(ErrSizes, 1, "it is empty")
	}
	s := Sizes{least: 1, most: MaxValueLen}
	numbers := map[string]int{"exp": 1, "lognormal": 2}[words[0].Text]
	if numbers == 0 {
		if err := AtMost(1, ErrSizes, words); err != nil {
			return Sizes{}, err
		}
		return s.bounds(words[0])
	}
	if len(words) != numbers+1 {
		return Sizes{}, words[0].Fault(ErrSizes, "it is exp MEAN or lognormal MEDIAN SIGMA")
	}
	var err error
	if s.mean, err = words[1].Float(ErrSizes, 1, MaxValueLen); err != nil {
		return Sizes{}, err
	}
	s.kind = exponential
	if numbers == 2 {
		s.kind = lognormal
		if s.sigma, err = words[2].Float(ErrSizes, 0, 10); err != nil {
			return Sizes{}, err
		}
	}
	return s, nil
}

func (s Sizes) bounds(w Word) (Sizes, error) {
	from, to, isRange := w.Range()
	least, err := from.Int(ErrSizes, 0, MaxValueLen)
	if err != nil {
		return Sizes{}, err
	}
	most := least
	if isRange {
		s.kind = ranged
		if most, err = to.Int(ErrSizes, least, MaxValueLen); err != nil {
			return Sizes{}, err
		}
	}
	s.least, s.most = int(least), int(most)
	return s, nil
}

func (s Sizes) draw(rnd *rand.Rand) int {
	x := 0.0
	switch s.kind {
	case fixed:
		return s.most
	case ranged:
		return s.least + rnd.IntN(s.most-s.least+1)
	case exponential:
		x = s.mean * rnd.ExpFloat64()
	case lognormal:
		x = s.mean * math.Exp(s.sigma*rnd.NormFloat64())
	}
	return int(min(max(math.Round(x), float64(s.least)), float64(s.most)))
}
