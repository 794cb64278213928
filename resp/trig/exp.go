package trig

import (
	"math"
	"sync"
)

// The exponential function, logarithms and powers are computed with some 70 bits before they are
// rounded: one result in a hundred thousand is not the nearest number.

const (
	expPlaces = 128 // of the tables, per power of two
	firstLog  = expPlaces * 3 / 4
)

var (
	ln2         = double{0.6931471805599453, 2.3190468138462996e-17}
	tablesOfExp = sync.OnceValue(func() *expTables {
		t := new(expTables)
		for i := range t.powers {
			t.powers[i] = slowExp(ln2.times(double{float64(i) / expPlaces, 0}))
		}
		for i := range t.logs {
			x := float64(firstLog+i) / expPlaces
			y := math.Log(x)
			rest := slowExp(double{-y, 0}).times(double{x, 0}).add(double{-1, 0})
			t.logs[i] = double{y, 0}.add(rest).add(double{-rest.hi * rest.hi / 2, 0})
		}
		return t
	})
)

// expTables are 2^(i/expPlaces), and the logarithms of (firstLog+i)/expPlaces.
type expTables struct {
	powers [expPlaces]double
	logs   [firstLog + 1]double
}

// slowExp returns the exponential function of a small number to some 100 bits, by its series.
func slowExp(x double) double {
	s := double{1, 0}
	for n := 30; n > 0; n-- {
		s = s.times(x).over(double{float64(n), 0}).add(double{1, 0})
	}
	return s
}

// exp returns the exponential function of a.
func (a double) exp() float64 {
	if !(a.hi <= 710 && a.hi >= -746) {
		return math.Exp(a.hi)
	}
	n := math.Round(a.hi * (expPlaces / math.Ln2))
	x := a.add(product(-n/expPlaces, ln2.hi)).add(double{-n / expPlaces * ln2.lo, 0})
	r := x.hi
	// e^x-1 is x + x²/2 + …
	more := float64(r*r) * (0.5 + float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120+float64(r*(1.0/720)))))))))
	p := tablesOfExp().powers[int(n)&(expPlaces-1)]
	y := p.add(p.times(quickSum(x.hi, x.lo+more)))
	return math.Ldexp(y.hi+y.lo, int(n)>>7)
}

// logarithm returns the natural logarithm of a positive finite number.
func logarithm(x float64) double {
	m, e := math.Frexp(x) // from 0.5 up to 1
	if m < 0.75 {
		m, e = 2*m, e-1
	}
	i := int(m*expPlaces + 0.5)
	c := float64(i) / expPlaces
	q := (m - c) / c
	x2 := double{q, math.FMA(-q, c, m-c) / c}
	// log(1+x) is x - x²/2 + x³/3 - …
	square := x2.times(x2)
	r := x2.hi
	rest := float64(square.hi*square.hi) * (-1.0/4 + float64(r*(1.0/5+float64(r*(-1.0/6+float64(r*(1.0/7-float64(r*(1.0/8)))))))))
	y := x2.add(square.times(double{-0.5, 0})).add(square.times(x2).times(double{1.0 / 3, 1.850371707708594e-17})).add(double{rest, 0})
	return product(float64(e), ln2.hi).add(double{float64(e) * ln2.lo, 0}).add(tablesOfExp().logs[i-firstLog]).add(y)
}

// Exp returns e^x.
func Exp(x float64) float64 { return double{x, 0}.exp() }

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return logarithm(x).hi
}

// Log10 returns the decimal logarithm of x, on the way of the C library of GNU, whose result is
// not the nearest number.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log10(x)
	}
	// That is from the logarithm of a number from 1 up to 2, or from 0.5 on if x is less than 1.
	m, e := math.Frexp(x)
	if e > 0 {
		m, e = 2*m, e-1
	}
	const high, low = 3.01029995663611771306e-01, 3.69423907715893078616e-13 // log10(2)
	n := float64(e)
	return float64(float64(n*low)+float64(4.34294481903251816668e-01*Log(m))) + float64(n*high)
}

// Pow returns a^b.
func Pow(a, b float64) float64 {
	if !(math.Abs(a) > 0) || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(b) || a < 0 && b != math.Trunc(b) {
		return math.Pow(a, b)
	}
	p := logarithm(math.Abs(a))
	t := product(p.hi, b)
	y := math.Exp(t.hi) // where it is beyond what numbers can be
	if math.Abs(t.hi) <= 746 {
		y = quickSum(t.hi, t.lo+float64(p.lo*b)).exp()
	}
	if a < 0 && math.Mod(b, 2) != 0 {
		y = -y
	}
	return y
}
