package lua

import (
	"math"

	"github.com/ringside-kv/ringside/resp/trig"
)

// Numbers are computed as the C library of GNU on amd64 does, down to the sign of NaN, which
// scripts see as "nan" and "-nan".

var (
	positiveNaN = math.Float64frombits(0x7ff8000000000000)
	negativeNaN = math.Float64frombits(0xfff8000000000000)
	// radiansPerDegree is computed with the precision of a number, not of a constant.
	radiansPerDegree = halfTurn / 180
	halfTurn         = float64(math.Pi)
)

// OpenMath returns the library math, whose random numbers are those of Redis.
func OpenMath(t *Thread) *Table {
	random := &drand48{x: 0x1234abcd330e}
	lib := t.libraryOf([]libraryFunction{
		{"abs", mathAbs}, {"acos", function1(trig.Acos, positiveNaN)}, {"asin", function1(arcsine, positiveNaN)},
		{"atan2", mathAtan2}, {"atan", function1(trig.Atan, negativeNaN)}, {"ceil", function1(math.Ceil, negativeNaN)},
		{"cosh", function1(trig.Cosh, negativeNaN)}, {"cos", function1(cosine, negativeNaN)}, {"deg", mathDeg},
		{"exp", function1(trig.Exp, negativeNaN)}, {"floor", function1(math.Floor, negativeNaN)}, {"fmod", mathFmod},
		{"frexp", mathFrexp}, {"ldexp", mathLdexp}, {"log10", function1(trig.Log10, positiveNaN)}, {"log", function1(trig.Log, negativeNaN)},
		{"max", mathMax}, {"min", mathMin}, {"modf", mathModf}, {"pow", mathPow}, {"rad", mathRad},
		{"random", random.random}, {"randomseed", random.randomseed},
		{"sinh", function1(trig.Sinh, negativeNaN)}, {"sin", function1(sine, negativeNaN)}, {"sqrt", function1(math.Sqrt, negativeNaN)},
		{"tanh", function1(trig.Tanh, negativeNaN)}, {"tan", function1(trig.Tan, negativeNaN)},
	})
	t.SetField(lib, "pi", Number(math.Pi))
	t.SetField(lib, "huge", Number(math.Inf(1)))
	t.SetField(lib, "mod", lib.GetField("fmod"))
	return lib
}

// function1 returns a function of one number, whose result is invalid outside of its domain.
func function1(f func(float64) float64, invalid float64) GoFunction {
	return func(t *Thread) int {
		x := t.CheckNumber(1)
		y := x
		if !math.IsNaN(x) {
			if y = f(x); math.IsNaN(y) {
				y = invalid
			}
		}
		return t.push1(Number(y))
	}
}

func mathAbs(t *Thread) int { return t.push1(Number(math.Abs(t.CheckNumber(1)))) }

func mathDeg(t *Thread) int { return t.push1(Number(t.CheckNumber(1) / radiansPerDegree)) }

func mathRad(t *Thread) int { return t.push1(Number(t.CheckNumber(1) * radiansPerDegree)) }

// checkPair returns the first two arguments. C looks at the second one first.
func checkPair(t *Thread) (x, y float64) {
	y = t.CheckNumber(2)
	return t.CheckNumber(1), y
}

func mathAtan2(t *Thread) int {
	y, x := checkPair(t)
	switch {
	case math.IsNaN(y):
	case math.IsNaN(x):
		y = x
	default:
		y = trig.Atan2(y, x)
	}
	return t.push1(Number(y))
}

func mathFmod(t *Thread) int {
	x, y := checkPair(t)
	switch {
	case math.IsNaN(x):
	case math.IsNaN(y):
		x = y
	case math.IsInf(x, 0) || y == 0:
		x = negativeNaN
	default:
		x = math.Mod(x, y)
	}
	return t.push1(Number(x))
}

func mathFrexp(t *Thread) int {
	fraction, exponent := math.Frexp(t.CheckNumber(1))
	t.Push(Number(fraction))
	return 1 + t.push1(Number(float64(exponent)))
}

func mathLdexp(t *Thread) int {
	exponent := t.CheckInt32(2)
	return t.push1(Number(math.Ldexp(t.CheckNumber(1), exponent)))
}

func mathModf(t *Thread) int {
	x := t.CheckNumber(1)
	whole := math.Trunc(x)
	rest := x - whole
	if math.IsInf(x, 0) {
		rest = 0
	}
	t.Push(Number(whole))
	return 1 + t.push1(Number(math.Copysign(rest, x)))
}

func mathPow(t *Thread) int {
	x, y := checkPair(t)
	return t.push1(Number(pow(x, y)))
}

// pow is x^y, with NaN as the C library has it.
func pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case math.IsNaN(x):
		if math.Signbit(x) && math.Abs(math.Mod(y, 2)) == 1 {
			return -x
		}
		return x
	case math.IsNaN(y):
		return y
	}
	if z := trig.Pow(x, y); !math.IsNaN(z) {
		return z
	}
	return negativeNaN
}

// mostCircle bounds the numbers that trig knows the sine and cosine of.
const mostCircle = 1 << 30

func sine(x float64) float64 {
	if math.Abs(x) < mostCircle {
		return trig.Sin(x)
	}
	return math.Sin(x)
}

func cosine(x float64) float64 {
	if math.Abs(x) < mostCircle {
		return trig.Cos(x)
	}
	return math.Cos(x)
}

func arcsine(x float64) float64 { return math.Copysign(trig.Asin(math.Abs(x)), x) }

func mathMax(t *Thread) int { return extreme(t, func(a, b float64) bool { return a > b }) }
func mathMin(t *Thread) int { return extreme(t, func(a, b float64) bool { return a < b }) }

func extreme(t *Thread, better func(a, b float64) bool) int {
	best := t.CheckNumber(1)
	for i := 2; i <= t.NArgs(); i++ {
		if f := t.CheckNumber(i); better(f, best) {
			best = f
		}
	}
	return t.push1(Number(best))
}

// drand48 is the generator of that name in POSIX.
type drand48 struct{ x uint64 }

// next returns a number from 0 up to, not including, 1.
func (d *drand48) next() float64 {
	d.x = (d.x*0x5deece66d + 0xb) & (1<<48 - 1)
	return float64(int32(d.x>>17)%math.MaxInt32) / math.MaxInt32
}

func (d *drand48) randomseed(t *Thread) int {
	d.x = uint64(uint32(t.CheckInt(1)))<<16 | 0x330e
	return 0
}

func (d *drand48) random(t *Thread) int {
	x := d.next()
	switch t.NArgs() {
	case 0:
	case 1:
		high := t.CheckInt32(1)
		if high < 1 {
			t.ArgError(1, "interval is empty")
		}
		x = math.Floor(x*float64(high)) + 1
	case 2:
		low, high := t.CheckInt32(1), t.CheckInt32(2)
		if low > high {
			t.ArgError(2, "interval is empty")
		}
		x = math.Floor(x*float64(int32(high-low+1))) + float64(low)
	default:
		t.Errorf("wrong number of arguments")
	}
	return t.push1(Number(x))
}
