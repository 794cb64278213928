package trig

import "math"

// halfPi and beyondHalfPi together are π/2, to some 160 bits.
var halfPi = double{1.5707963267948966, 6.123233995736766e-17}

const beyondHalfPi = -1.4973849048591833e-33

// factorials are 1/n!.
var factorials = func() (all [28]double) {
	all[0] = double{1, 0}
	for n := 1; n < len(all); n++ {
		all[n] = all[n-1].over(double{float64(n), 0})
	}
	return all
}()

// exactSin and exactCos return the functions of a number between -π/4 and π/4, by Taylor's series.
func exactSin(x double) double { return series(x, 27).times(x) }

func exactCos(x double) double { return series(x, 26) }

// series returns the sum of every other term of the exponential function's series, with signs in turn,
// down from x to the power n, divided by x if n is odd.
func series(x double, n int) double {
	square := x.times(x).negated()
	s := factorials[n]
	for n -= 2; n >= 0; n -= 2 {
		s = s.times(square).add(factorials[n])
	}
	return s
}

// sinCos returns sine and cosine of a number between -2π and 2π, to some 100 bits.
func sinCos(x double) (sin, cos double) {
	n := math.Round(x.hi / halfPi.hi)
	if n != 0 {
		x = x.add(product(-n, halfPi.hi)).add(product(-n, halfPi.lo)).add(double{-n * beyondHalfPi, 0})
	}
	sin, cos = exactSin(x), exactCos(x)
	switch int(n) & 3 {
	case 1:
		return cos, sin.negated()
	case 2:
		return sin.negated(), cos.negated()
	case 3:
		return cos.negated(), sin
	}
	return sin, cos
}

// arcsin returns the arcsine of a number between 0 and 1, to some 100 bits.
func arcsin(x float64) double {
	if x <= 0.5 {
		return near(double{x, 0})
	}
	y := near(root((1 - x) / 2))
	return halfPi.add(double{-2 * y.hi, -2 * y.lo})
}

// near returns the arcsine of a number up to 0.71, by a step of Newton's from what math.Asin says.
func near(x double) double {
	y := math.Asin(x.hi)
	sin, cos := sinCos(double{y, 0})
	return double{y, 0}.add(x.add(sin.negated()).over(cos))
}
