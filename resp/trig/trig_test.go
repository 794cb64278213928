package trig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const precision = 256

// bigSin returns the sine of a number, by Taylor's series.
func bigSin(x *big.Float) *big.Float {
	square := new(big.Float).Mul(x, x)
	term, all := new(big.Float).Copy(x), new(big.Float).Copy(x)
	for n := int64(2); term.Sign() != 0 && term.MantExp(nil) > all.MantExp(nil)-precision; n += 2 {
		term.Mul(term, square).Quo(term, new(big.Float).SetInt64(-n*(n+1)))
		all.Add(all, term)
	}
	return all
}

// bigCos returns the cosine of a number: 1 - 2 sin²(x/2).
func bigCos(x *big.Float) *big.Float {
	s := bigSin(new(big.Float).Quo(x, big.NewFloat(2)))
	s.Mul(s, s).Mul(s, big.NewFloat(-2))
	return s.Add(s, big.NewFloat(1).SetPrec(precision))
}

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// isNearest fails unless got is the number nearest to want.
func isNearest(t *testing.T, name string, x, got float64, want *big.Float) {
	t.Helper()
	if nearest, _ := want.Float64(); nearest != got {
		t.Fatalf("%s(%x) is %x, want %x", name, x, got, nearest)
	}
}

// someNumbers returns numbers up to a largest one, of all sizes, and those at the ends.
func someNumbers(rnd *rand.Rand, n int, most float64) []float64 {
	all := []float64{0, most, most / 2, math.SmallestNonzeroFloat64, 1e-300, 1e-20, 1.0 / 256, 1.0 / 128, 0.5, math.Nextafter(0.5, 1)}
	for range n {
		all = append(all, rnd.Float64()*most, rnd.Float64()*most*math.Pow(10, -8*rnd.Float64()), most-rnd.Float64()/1000)
	}
	return all
}

func TestSineAndCosineAreNearest(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, x := range someNumbers(rnd, 700, 2*math.Pi) {
		for _, x := range []float64{x, -x, x / 4} {
			isNearest(t, "sin", x, Sin(x), bigSin(bigOf(x)))
			isNearest(t, "cos", x, Cos(x), bigCos(bigOf(x)))
		}
	}
}

// The arcsine of x is nearer to y than to its neighbours if x lies between the sines of the middles.
func TestArcsineIsNearest(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	middle := func(a, b float64) *big.Float {
		m := new(big.Float).Add(bigOf(a), bigOf(b))
		return bigSin(m.Quo(m, big.NewFloat(2)))
	}
	for _, x := range someNumbers(rnd, 1000, 1) {
		y := Asin(x)
		if x == 0 && y == 0 {
			continue
		}
		below, above := middle(math.Nextafter(y, -1), y), middle(y, math.Nextafter(y, 2))
		if below.Cmp(bigOf(x)) > 0 || above.Cmp(bigOf(x)) < 0 {
			if x != 1 { // where sines fall again
				t.Fatalf("asin(%x) is %x, sines around it are %g and %g", x, y, below, above)
			}
		}
	}
	if Asin(1) != math.Pi/2 {
		t.Errorf("asin(1) is %x", Asin(1))
	}
}

// The quick functions say how exact they are, and are mostly exact enough.
func TestQuickFunctionsKeepTheirBounds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	unsure := 0
	check := func(name string, x float64, quick double, within float64, exact double) {
		t.Helper()
		if off := quick.add(exact.negated()); math.Abs(off.hi) > within {
			t.Fatalf("%s(%x) is off by %g, within %g is promised", name, x, off.hi, within)
		}
		if _, ok := quick.rounded(within); !ok {
			unsure++
		}
	}
	const n = 20_000
	for range n {
		x := rnd.Float64() * math.Pow(10, -6*rnd.Float64())
		angle := x * halfPi.hi
		sin, cos := sinCos(double{angle, 0})
		got, within := quickSin(double{angle, 0})
		check("sin", angle, got, within, sin)
		if angle <= maxQuickCos {
			got, within = quickCos(angle)
			check("cos", angle, got, within, cos)
		}
		got, within = quickArcsin(x)
		check("asin", x, got, within, arcsin(x))
	}
	if unsure > n/50 {
		t.Errorf("of %d numbers %d were not exact enough", 3*n, unsure)
	}
}

var sink float64

func BenchmarkFunctions(b *testing.B) {
	var xs [1024]float64
	for i := range xs {
		xs[i] = rand.Float64()
	}
	for name, f := range map[string]func(float64) float64{
		"sin": Sin, "cos": Cos, "asin": Asin, "math sin": math.Sin, "math cos": math.Cos, "math asin": math.Asin,
	} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				sink += f(xs[i%1024])
			}
		})
	}
}
