package trig

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigExp returns the exponential function of a number, by Taylor's series for a small part of it.
func bigExp(x *big.Float) *big.Float {
	const halvings = 40
	small := new(big.Float).SetMantExp(x, -halvings)
	all, term := bigOf(1), bigOf(1)
	for n := int64(1); term.Sign() != 0 && term.MantExp(nil) > -2*precision; n++ {
		term.Mul(term, small).Quo(term, new(big.Float).SetInt64(n))
		all.Add(all, term)
	}
	for range halvings {
		all.Mul(all, all)
	}
	return all
}

// bigLog returns the logarithm of a number, by steps of Newton's.
func bigLog(x float64) *big.Float {
	y := bigOf(math.Log(x))
	for range 3 {
		d := bigExp(new(big.Float).Neg(y))
		d.Mul(d, bigOf(x)).Sub(d, bigOf(1))
		y.Add(y, d)
	}
	return y
}

// isNear fails unless got is the number nearest to want, or the next one if want lies between
// both, but for a small part of the distance.
func isNear(t *testing.T, name string, got float64, want *big.Float, args ...float64) {
	t.Helper()
	off, _ := new(big.Float).Sub(want, bigOf(got)).Float64()
	if unit := math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got); !(math.Abs(off) <= unit*(0.5+1.0/(1<<12))) {
		t.Fatalf("%s(%x) is %x, want %x", name, args, got, want)
	}
}

func randomNumbers(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestExpAndLogAreNearest(t *testing.T) {
	rnd := randomNumbers(t)
	for range 1000 {
		x := (rnd.Float64() - 0.5) * math.Pow(10, 3*rnd.Float64())
		isNear(t, "exp", Exp(x), bigExp(bigOf(x)), x)
		x = math.Exp((rnd.Float64() - 0.5) * math.Pow(10, 3*rnd.Float64()))
		isNear(t, "log", Log(x), bigLog(x), x)
	}
	for i := range 300 {
		x := 1 + float64(i-150)/(1<<40) // where logarithms are small
		if x != 1 {
			isNear(t, "log", Log(x), bigLog(x), x)
		}
	}
}

func TestPowIsNearest(t *testing.T) {
	rnd := randomNumbers(t)
	for range 1000 {
		x, y := rnd.Float64()*math.Pow(10, 4*rnd.Float64()), (rnd.Float64()-0.5)*60
		isNear(t, "pow", Pow(x, y), bigExp(new(big.Float).Mul(bigLog(x), bigOf(y))), x, y)
	}
	for x := int64(-60); x <= 60; x++ {
		for y := int64(0); y <= 60; y++ {
			exact := new(big.Int).Exp(big.NewInt(x), big.NewInt(y), nil)
			want := new(big.Float).SetPrec(400).SetInt(exact)
			got := Pow(float64(x), float64(y))
			isNear(t, "pow", got, want, float64(x), float64(y))
			if nearest, _ := want.Float64(); want.MinPrec() <= 53 && got != nearest {
				t.Fatalf("%d^%d is %x, want %x", x, y, got, nearest)
			}
		}
	}
	for n := -300; n <= 300; n++ {
		if want := math.Ldexp(1, n); Pow(2, float64(n)) != want {
			t.Errorf("2^%d is %x", n, Pow(2, float64(n)))
		}
	}
}

func TestLimitsOfExpLogAndPow(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, inf, -inf, nan, 710, -746, 1e300, -1e300, math.MaxFloat64} {
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"exp", Exp(x), math.Exp(x)}, {"log", Log(x), math.Log(x)}, {"log10", Log10(x), math.Log10(x)},
		} {
			if math.Abs(f.got-f.want) > math.Abs(f.want)*1e-14 || math.IsNaN(f.got) != math.IsNaN(f.want) || math.IsInf(f.got, 0) != math.IsInf(f.want, 0) {
				t.Errorf("%s(%g) is %g, want %g", f.name, x, f.got, f.want)
			}
		}
		for _, y := range []float64{0, 1, -1, 2, -3, 0.5, inf, -inf, nan, 1e300, -1e300} {
			got, want := Pow(x, y), math.Pow(x, y)
			if math.Abs(got-want) > math.Abs(want)*1e-12 || math.IsNaN(got) != math.IsNaN(want) || math.IsInf(got, 0) != math.IsInf(want, 0) || math.Signbit(got) != math.Signbit(want) && !math.IsNaN(want) {
				t.Errorf("%g^%g is %g, want %g", x, y, got, want)
			}
		}
	}
	for _, c := range [][2]float64{
		{Exp(709.5), 1.3549863193146328e+308}, {Exp(709.78), 1.7928227943945155e+308}, {Exp(-745), 4.9406564584124654e-324}, {Exp(-708.5), 2.006132305331306e-308},
		{Log(5e-324), -744.44007192138122}, {Log10(5e-324), -323.30621534311581}, {Pow(2, -1074), 5e-324}, {Pow(-2, 1023), -8.9884656743115795e+307},
	} {
		if c[0] != c[1] {
			t.Errorf("%.17g, want %.17g", c[0], c[1])
		}
	}
	for n := -20; n <= 22; n++ {
		if got := Log10(math.Pow10(n)); got != float64(n) {
			t.Errorf("log10 of 1e%d is %.17g", n, got)
		}
	}
}

func TestTanAndArcusFunctionsAreNearest(t *testing.T) {
	rnd := randomNumbers(t)
	for range 700 {
		x := (rnd.Float64() - 0.5) * math.Pow(10, 2*rnd.Float64())
		isNear(t, "tan", Tan(x), new(big.Float).Quo(bigSin(bigOf(x)), bigCos(bigOf(x))), x)
		y := (rnd.Float64() - 0.5) * math.Pow(10, 2*rnd.Float64())
		at := Atan2(y, x)
		s, c := bigSin(bigOf(at)), bigCos(bigOf(at))
		times := func(a float64, b *big.Float) *big.Float { return new(big.Float).Mul(bigOf(a), b) }
		rest := times(y, c)
		rest.Sub(rest, times(x, s)).Quo(rest, new(big.Float).Add(times(x, c), times(y, s)))
		isNear(t, "atan2", at, rest.Add(rest, bigOf(at)), y, x)
		if x > 0 && Atan(y/x) != Atan2(y/x, 1) {
			t.Errorf("atan(%g)", y/x)
		}
		x = rnd.Float64()*2 - 1
		at = Acos(x)
		rest = bigCos(bigOf(at))
		rest.Sub(rest, bigOf(x)).Quo(rest, bigSin(bigOf(at)))
		isNear(t, "acos", at, rest.Add(rest, bigOf(at)), x)
	}
}

// The results are those of the C library, some of which are not the nearest numbers.
func TestHyperbolicFunctionsAreThoseOfTheCLibrary(t *testing.T) {
	for _, c := range []struct{ x, sinh, cosh, tanh float64 }{
		{0, 0, 1, 0},
		{1e-10, 1e-10, 1, 1e-10},
		{0.001, 0.0010000001666666751, 1.0000005000000416, 0.0009999996666668},
		{0.017475738996747481, 0.017476628529678986, 1.0001527046130327, 0.017473960175352261},
		{0.10000000000000001, 0.10016675001984403, 1.0050041680558035, 0.099667994624955819},
		{0.29999999999999999, 0.3045202934471426, 1.0453385141288605, 0.2913126124515909},
		{0.5, 0.52109530549374738, 1.1276259652063807, 0.46211715726000974},
		{0.90000000000000002, 1.0265167257081753, 1.4330863854487745, 0.71629787019902447},
		{1, 1.1752011936438014, 1.5430806348152437, 0.76159415595576485},
		{1.5, 2.1292794550948173, 2.3524096152432472, 0.9051482536448664},
		{1.8, 2.9421742880956798, 3.1074731763172667, 0.94680601284626831},
		{2.5, 6.0502044810397875, 6.1322894796636858, 0.98661429815143031},
		{5, 74.203210577788752, 74.209948524787848, 0.99990920426259511},
		{10, 11013.232874703393, 11013.232920103324, 0.99999999587769273},
		{21.899999999999999, 1621881641.7888241, 1621881641.7888238, 1},
		{23, 4872401723.1244516, 4872401723.1244516, 1},
		{100, 1.3440585709080678e+43, 1.3440585709080678e+43, 1},
		{700, 5.0711602736750225e+303, 5.0711602736750225e+303, 1},
	} {
		if Sinh(c.x) != c.sinh || Cosh(c.x) != c.cosh || Tanh(c.x) != c.tanh {
			t.Errorf("%g: %.17g %.17g %.17g", c.x, Sinh(c.x), Cosh(c.x), Tanh(c.x))
		}
		if Sinh(-c.x) != -c.sinh || Cosh(-c.x) != c.cosh || Tanh(-c.x) != -c.tanh {
			t.Errorf("%g: the sign is wrong", -c.x)
		}
	}
}
