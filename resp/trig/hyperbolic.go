package trig

import "math"

// The hyperbolic functions take the ways of the C library of GNU, whose results are not the nearest
// numbers.

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a < 1.0/(1<<28):
		return x
	case !(a < 22):
		return math.Sinh(x)
	}
	t := math.Expm1(a)
	y := t + t/(t+1)
	if a < 1 {
		y = 2*t - float64(t*t)/(t+1)
	}
	return math.Copysign(y/2, x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	switch a := math.Abs(x); {
	case a < math.Ln2/2:
		t := math.Expm1(a)
		w := 1 + t
		return 1 + float64(t*t)/(w+w)
	case a < 22:
		t := Exp(a)
		return t/2 + 0.5/t
	case a < 709:
		return Exp(a) / 2
	}
	return math.Cosh(x)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a < 22):
		return math.Tanh(x)
	case a < 1.0/(1<<55):
		return x
	case a >= 1:
		return math.Copysign(1-2/(math.Expm1(2*a)+2), x)
	}
	t := math.Expm1(-2 * a)
	return math.Copysign(-t/(t+2), x)
}
