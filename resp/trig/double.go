package trig

import "math"

// A double is the unevaluated sum of two numbers, of which lo is at most half a unit in the last
// place of hi: some 106 bits (T. J. Dekker, A floating-point technique for extending the available
// precision, 1971). The conversions to float64 keep the compiler from fusing a product and a sum,
// as it may on some processors.
type double struct{ hi, lo float64 }

// sum returns a+b exactly.
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

// product returns a*b exactly, unless it underflows.
func product(a, b float64) double {
	p := float64(a * b)
	return double{p, math.FMA(a, b, -p)}
}

func (a double) add(b double) double {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a double) negated() double { return double{-a.hi, -a.lo} }

func (a double) times(b double) double {
	p := product(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) over(b double) double {
	q := a.hi / b.hi
	r := a.add(b.times(double{-q, 0}))
	p := r.hi / b.hi
	r = r.add(b.times(double{-p, 0}))
	return quickSum(q, p).add(double{r.hi / b.hi, 0})
}

// root returns the square root of a number that is greater than 0.
func root(a float64) double {
	s := math.Sqrt(a)
	rest := math.FMA(-s, s, a)
	return quickSum(s, rest/(2*s))
}
