package script

import (
	"math"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// number is a number as Lua shows it: "%.14g" of C.
func number(f float64) string { return formatNumber(f, 14) }

func formatNumber(f float64, digits int) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

// text is a value as an error shows it.
func text(v lua.LValue) string {
	if n, ok := v.(lua.LNumber); ok {
		return number(float64(n))
	}
	return v.String()
}

// integer is a number as C makes an integer of it on common machines.
func integer(f float64) int64 {
	if !(f >= -1<<63 && f < 1<<63) {
		return math.MinInt64
	}
	return int64(f)
}

func floor(f float64) float64 { return math.Floor(f) }

// drand48 is the generator of that name in POSIX.
type drand48 struct{ x uint64 }

func (d *drand48) seed(n uint32) { d.x = uint64(n)<<16 | 0x330e }

// next returns a number from 0 up to, not including, 1.
func (d *drand48) next() float64 {
	d.x = (d.x*0x5deece66d + 0xb) & (1<<48 - 1)
	const most = math.MaxInt32
	return float64(int32(d.x>>17)%most) / most
}
