package trig

import "math"

// sureSinCos bounds the numbers of which sinCos knows the remainder of π/2 well enough.
const sureSinCos = 1 << 30

// Tan returns the tangent of x.
func Tan(x float64) float64 {
	if !(math.Abs(x) < sureSinCos) || math.Abs(x) < 1e-150 {
		return math.Tan(x)
	}
	sin, cos := sinCos(double{x, 0})
	return sin.over(cos).hi
}

// Acos returns the arccosine of x.
func Acos(x float64) float64 {
	switch {
	case !(x > -1 && x < 1):
		return math.Acos(x)
	case x > 0.5:
		y := near(root((1 - x) / 2))
		return 2 * y.hi
	case x < -0.5:
		y := near(root((1 + x) / 2))
		return halfPi.add(double{-y.hi, -y.lo}).hi * 2
	case x < 0:
		return halfPi.add(near(double{-x, 0})).hi
	}
	return halfPi.add(near(double{x, 0}).negated()).hi
}

// Atan returns the arctangent of x.
func Atan(x float64) float64 { return Atan2(x, 1) }

// Atan2 returns the angle of a point, by a step of Newton's from what math.Atan2 says.
func Atan2(y, x float64) float64 {
	at := math.Atan2(y, x)
	if a, b := math.Abs(x), math.Abs(y); !(a > 1e-150 && a < 1e150 && b > 1e-150 && b < 1e150) || math.Abs(at) < 1e-150 {
		return at
	}
	sin, cos := sinCos(double{at, 0})
	p, q := double{x, 0}, double{y, 0}
	rest := q.times(cos).add(p.times(sin).negated()).over(p.times(cos).add(q.times(sin)))
	return double{at, 0}.add(rest).hi
}
