package lua

import (
	"math"
	"sync"
)

// The functions of package math may be off in the last bit, other than those of the C library.
// These here compute with some 70 bits before they round: they differ from the C library's only
// where that one does not return the nearest number.

// A double is the unevaluated sum of two numbers, of which lo is at most half a unit in the last
// place of hi (T. J. Dekker, A floating-point technique for extending the available precision,
// 1971). The conversions to float64 keep a product and a sum from being fused.
type double struct{ hi, lo float64 }

func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quickSum is sum for an a that is not smaller than b.
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

func product(a, b float64) double {
	p := float64(a * b)
	return double{p, math.FMA(a, b, -p)}
}

func (a double) add(b double) double {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a double) times(b double) double {
	p := product(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.add(b.times(double{-q, 0}))
	return quickSum(q, r.hi/b.hi)
}

const (
	places   = 128 // of a table, per power of two
	firstLog = places * 3 / 4
)

var (
	ln2    = double{0.6931471805599453, 2.3190468138462996e-17}
	tables = sync.OnceValue(func() *preciseTables {
		t := new(preciseTables)
		for i := range t.powers {
			t.powers[i] = slowExp(ln2.times(double{float64(i) / places, 0}))
		}
		for i := range t.logs {
			x := float64(firstLog+i) / places
			y := math.Log(x)
			rest := slowExp(double{-y, 0}).times(double{x, 0}).add(double{-1, 0})
			t.logs[i] = double{y, 0}.add(rest).add(double{-rest.hi * rest.hi / 2, 0})
		}
		return t
	})
)

// preciseTables are 2^(i/places), and the logarithms of (firstLog+i)/places.
type preciseTables struct {
	powers [places]double
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

// exp returns the exponential function of x.
func (x double) exp() float64 {
	if x.hi > 710 || x.hi < -746 {
		return math.Exp(x.hi)
	}
	n := math.Round(x.hi * (places / math.Ln2))
	x = x.add(product(-n/places, ln2.hi)).add(double{-n / places * ln2.lo, 0})
	r := x.hi
	// e^x-1 is x + x²/2 + …
	more := float64(r*r) * (0.5 + float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120+r*(1.0/720))))))))
	p := tables().powers[int(n)&(places-1)]
	y := p.add(p.times(quickSum(x.hi, x.lo+more)))
	return math.Ldexp(y.hi+y.lo, int(n)>>7)
}

// logarithm returns the natural logarithm of a positive finite number.
func logarithm(x float64) double {
	m, e := math.Frexp(x) // from 0.5 up to 1
	if m < 0.75 {
		m, e = 2*m, e-1
	}
	i := int(m*places + 0.5)
	c := float64(i) / places
	q := (m - c) / c
	x2 := double{q, math.FMA(-q, c, m-c) / c}
	// log(1+x) is x - x²/2 + x³/3 - …
	square := x2.times(x2)
	r := x2.hi
	rest := float64(square.hi*square.hi) * (-1.0/4 + float64(r*(1.0/5+float64(r*(-1.0/6+float64(r*(1.0/7-r*(1.0/8))))))))
	y := x2.add(square.times(double{-0.5, 0})).add(square.times(x2).times(double{1.0 / 3, 1.850371707708594e-17})).add(double{rest, 0})
	return product(float64(e), ln2.hi).add(double{float64(e) * ln2.lo, 0}).add(tables().logs[i-firstLog]).add(y)
}

func exp(x float64) float64 { return double{x, 0}.exp() }

func log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return logarithm(x).hi
}

// log10 takes the way of the C library, whose result is not the nearest number.
func log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return math.Log10(x)
	}
	m, e := math.Frexp(x) // the logarithm is that of a number from 1 up to 2, or below 1 from 0.5 up
	if e--; e >= 0 {
		m *= 2
	} else {
		e++
	}
	const high, low = 3.01029995663611771306e-01, 3.69423907715893078616e-13 // log10(2)
	n := float64(e)
	return float64(float64(n*low)+float64(4.34294481903251816668e-01*log(m))) + float64(n*high)
}

// pow is a^b.
func pow(a, b float64) float64 {
	if !(math.Abs(a) > 0) || math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsNaN(b) || a < 0 && b != math.Trunc(b) {
		return oddPow(a, b)
	}
	p := logarithm(math.Abs(a))
	t := product(p.hi, b)
	y := 0.0
	if math.Abs(t.hi) > 746 {
		y = math.Exp(t.hi)
	} else {
		y = quickSum(t.hi, t.lo+p.lo*b).exp()
	}
	if a < 0 && math.Mod(b, 2) != 0 {
		y = -y
	}
	return y
}

// oddPow is pow where a or b is no common number, or there is no result.
func oddPow(a, b float64) float64 {
	switch {
	case b == 0 || a == 1:
		return 1
	case math.IsNaN(a):
		if math.Signbit(a) && math.Abs(math.Mod(b, 2)) == 1 {
			return -a
		}
		return a
	case math.IsNaN(b):
		return b
	case a < 0 && !math.IsInf(a, 0) && !math.IsInf(b, 0) && b != math.Trunc(b):
		return negativeNaN
	}
	return math.Pow(a, b)
}
