package trig

import "math"

// Sin returns the sine of a number between -2π and 2π.
func Sin(x float64) float64 {
	var s double
	var within float64
	switch a := math.Abs(x); {
	case a <= halfPi.hi:
		s, within = quickSin(double{a, 0})
	case a <= 2*halfPi.hi:
		s, within = quickSin(sum(2*halfPi.hi, -a).plus(2 * halfPi.lo))
	default:
		within = math.Inf(1)
	}
	if nearest, ok := s.rounded(within); ok {
		return math.Copysign(nearest, x)
	}
	s, _ = sinCos(double{x, 0})
	return s.hi
}

// Cos returns the cosine of a number between -2π and 2π.
func Cos(x float64) float64 {
	if a := math.Abs(x); a <= maxQuickCos {
		if nearest, ok := rounded(quickCos(a)); ok {
			return nearest
		}
	}
	_, c := sinCos(double{x, 0})
	return c.hi
}

// Asin returns the arcsine of a number between 0 and 1, and what math.Asin does of any other.
func Asin(x float64) float64 {
	if !(x >= 0 && x < 1) {
		return math.Asin(x)
	}
	if nearest, ok := rounded(quickArcsin(x)); ok {
		return nearest
	}
	return arcsin(x).hi
}
