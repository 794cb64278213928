package workload

import (
	"math"
	"math/rand/v2"
)

// A Zipf draws 0..n-1, where rank k comes up in proportion to (k+1)^-s for any s > 0: the
// one of the standard library needs s > 1, and the common 0.99 is below.
//
// It is the rejection-inversion of Hörmann and Derflinger, "Rejection-inversion to generate
// variates from monotone discrete distributions" (1996): constant time and memory for any n.
type Zipf struct {
	n, s           float64
	first, last    float64 // the integral at 1.5, less 1, and at n + 0.5
	acceptedBefore float64 // how far below a whole number is taken without a look
}

// NewZipf makes one for n numbers, at least 1, and an exponent above 0.
func NewZipf(n int64, s float64) *Zipf {
	z := &Zipf{n: float64(n), s: s}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.acceptedBefore = 2 - z.inverse(z.integral(2.5)-z.density(2))
	return z
}

// Draw draws a number. It may be called from any goroutine.
func (z *Zipf) Draw(rnd *rand.Rand) int64 {
	for {
		u := z.last + rnd.Float64()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.acceptedBefore || u >= z.integral(k+0.5)-z.density(k) {
			return int64(k) - 1
		}
	}
}

func (z *Zipf) density(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// integral is that of the density from 1 to x, also where s is 1 or almost.
func (z *Zipf) integral(x float64) float64 {
	l := math.Log(x)
	return l * ratio(math.Expm1, (1-z.s)*l)
}

// inverse is the x of an integral.
func (z *Zipf) inverse(y float64) float64 {
	t := max(y*(1-z.s), -1) // by rounding it may be less
	return math.Exp(y * ratio(math.Log1p, t))
}

// ratio is f(x)/x for a function that is like x near 0.
func ratio(f func(float64) float64, x float64) float64 {
	if math.Abs(x) < 1e-12 {
		return 1
	}
	return f(x) / x
}
