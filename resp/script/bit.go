package script

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// openBit sets up bit: operations on numbers as 32 bits, as in BitOp for Lua.
func (r *Runtime) openBit() {
	t := r.l.NewTable()
	r.own.RawSetString("bit", t)
	set := func(name string, f lua.LGFunction) { t.RawSetString(name, r.l.NewFunction(f)) }
	unary := func(name string, f func(uint32) uint32) {
		set(name, func(l *lua.LState) int { return push(l, signed(f(checkBits(l, 1)))) })
	}
	unary("tobit", func(x uint32) uint32 { return x })
	unary("bnot", func(x uint32) uint32 { return ^x })
	unary("bswap", bits.ReverseBytes32)
	fold := func(name string, f func(a, b uint32) uint32) {
		set(name, func(l *lua.LState) int {
			x := checkBits(l, 1)
			for i := 2; i <= l.GetTop(); i++ {
				x = f(x, checkBits(l, i))
			}
			return push(l, signed(x))
		})
	}
	fold("band", func(a, b uint32) uint32 { return a & b })
	fold("bor", func(a, b uint32) uint32 { return a | b })
	fold("bxor", func(a, b uint32) uint32 { return a ^ b })
	shift := func(name string, f func(x uint32, n int) uint32) {
		set(name, func(l *lua.LState) int {
			return push(l, signed(f(checkBits(l, 1), int(checkBits(l, 2)&31))))
		})
	}
	shift("lshift", func(x uint32, n int) uint32 { return x << n })
	shift("rshift", func(x uint32, n int) uint32 { return x >> n })
	shift("arshift", func(x uint32, n int) uint32 { return uint32(int32(x) >> n) })
	shift("rol", bits.RotateLeft32)
	shift("ror", func(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) })
	set("tohex", func(l *lua.LState) int {
		x, n := checkBits(l, 1), int32(8)
		if l.GetTop() > 1 {
			n = int32(checkBits(l, 2))
		}
		upper := n < 0
		if upper {
			n = max(-n, -8) // the least number has no other
		}
		s := fmt.Sprintf("%08x", x)
		if n < 8 {
			s = s[8-max(n, 0):]
		}
		if upper {
			s = strings.ToUpper(s)
		}
		return push(l, lua.LString(s))
	})
}

func signed(x uint32) lua.LValue { return lua.LNumber(int32(x)) }

// checkBits is an argument modulo 2³², rounded to the nearest integer, halves to even.
func checkBits(l *lua.LState, n int) uint32 {
	if l.GetTop() < n {
		l.ArgError(n, "number expected, got no value")
	}
	f := math.RoundToEven(float64(l.CheckNumber(n)))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	f = math.Mod(f, 1<<32)
	return uint32(int64(f))
}
