package trig

import (
	"math"
	"sync"
)

// The quick functions return a result to some 66 bits, and a bound of its error. Where that leaves
// open which number is the nearest, which is rare, the exact functions say it (A. Ziv, Fast evaluation of
// elementary mathematical functions with correctly rounded last bit, 1991).

// places are how many places of the table a unit has.
const places = 128

// maxQuickCos is where the cosine is still large enough, beside what is added to it, for quickCos.
const maxQuickCos = 1.5

// table has sine and cosine of the places from 0 to π/2.
var table = sync.OnceValue(func() *[places * 8 / 5][2]double {
	var t [places * 8 / 5][2]double
	for i := range t {
		t[i][0], t[i][1] = sinCos(double{float64(i) / places, 0})
	}
	return &t
})

// quickError is greater than the error of what the table is used for, some 2^-68.
const quickError = 1.0 / (1 << 33) / (1 << 33)

// plus adds a number that is small beside a.
func (a double) plus(b float64) double { return quickSum(a.hi, a.lo+b) }

// rounded returns the number that is nearest to each that is within a distance of a, if there is one.
func (a double) rounded(within float64) (nearest float64, ok bool) {
	nearest = a.hi + (a.lo + within)
	return nearest, nearest == a.hi+(a.lo-within)
}

func rounded(a double, within float64) (nearest float64, ok bool) { return a.rounded(within) }

// small returns sine and cosine of t+l, without t and 1, which are below 1/200; l is far below t.
func small(t, l float64) (sin, cos float64) {
	s := float64(t * t)
	sin = float64(float64(t*s)*(-1.0/6+float64(s*(1.0/120-float64(s*(1.0/5040)))))) + l
	cos = float64(s*(-0.5+float64(s*(1.0/24-float64(s*(1.0/720)))))) - float64(t*l)
	return sin, cos
}

// quickSin returns the sine of a number between 0 and π/2.
func quickSin(x double) (sin double, within float64) {
	i := int(x.hi*places + 0.5)
	t := x.hi - float64(i)/places
	p, q := small(t, x.lo)
	if i == 0 {
		return double{t, p}, math.Abs(p) / (1 << 49)
	}
	at := &table()[i]
	s, c := &at[0], &at[1]
	ct := product(c.hi, t)
	r := quickSum(s.hi, ct.hi)
	r.lo += ct.lo + (s.lo + (float64(c.hi*p) + (float64(c.lo*t) + float64(s.hi*q))))
	return r, quickError
}

// quickCos returns the cosine of a number between 0 and maxQuickCos.
func quickCos(x float64) (cos double, within float64) {
	i := int(x*places + 0.5)
	t := x - float64(i)/places
	p, q := small(t, 0)
	at := &table()[i]
	s, c := &at[0], &at[1]
	st := product(-s.hi, t)
	r := quickSum(c.hi, st.hi)
	r.lo += st.lo + (c.lo + (float64(c.hi*q) - (float64(s.hi*p) + float64(s.lo*t))))
	return r, quickError
}

// quickArcsin returns the arcsine of a number between 0 and 1, as arcsin does.
func quickArcsin(x float64) (y double, within float64) {
	if x <= 0.5 {
		return quickNear(double{x, 0})
	}
	y, within = quickNear(root((1 - x) / 2))
	r := sum(halfPi.hi, -2*y.hi)
	r.lo += halfPi.lo - 2*y.lo
	return r, 2*within + quickError
}

// quickNear returns the arcsine of a number up to 0.71, as near does.
func quickNear(x double) (y double, within float64) {
	at := math.Asin(x.hi)
	sin, within := quickSin(double{at, 0})
	rest := ((x.hi - sin.hi) - sin.lo) + x.lo
	more := rest / math.Sqrt(1-float64(x.hi*x.hi))
	return double{at, more}, 1.5*within + math.Abs(more)/(1<<49)
}
