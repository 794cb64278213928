package luaext

import (
	"math"
	"math/bits"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// OpenBit returns the library bit: operations on numbers as 32 bits, as in BitOp 1.0.2.
func OpenBit(t *lua.Thread) *lua.Table {
	lib := t.NewTable(0, 12)
	register(t, lib, []function{
		{"tobit", unary(func(x uint32) uint32 { return x })},
		{"bnot", unary(func(x uint32) uint32 { return ^x })},
		{"band", fold(func(a, b uint32) uint32 { return a & b })},
		{"bor", fold(func(a, b uint32) uint32 { return a | b })},
		{"bxor", fold(func(a, b uint32) uint32 { return a ^ b })},
		{"lshift", shift(func(x uint32, n int) uint32 { return x << n })},
		{"rshift", shift(func(x uint32, n int) uint32 { return x >> n })},
		{"arshift", shift(func(x uint32, n int) uint32 { return uint32(int32(x) >> n) })},
		{"rol", shift(bits.RotateLeft32)},
		{"ror", shift(func(x uint32, n int) uint32 { return bits.RotateLeft32(x, -n) })},
		{"bswap", unary(bits.ReverseBytes32)},
		{"tohex", toHex},
	})
	return lib
}

// checkBits is an argument modulo 2³², rounded to the nearest integer.
func checkBits(t *lua.Thread, i int) uint32 {
	v := t.Arg(i)
	f, ok := 0.0, v.IsNumber()
	if ok {
		f = v.Float()
	} else if f, ok = lua.ToNumber(v); !ok {
		t.TypeError(i, "number")
	}
	// 2⁵²+2⁵¹ moves the integer to the low bits of the number.
	return uint32(math.Float64bits(f + (1<<52 + 1<<51)))
}

func pushBits(t *lua.Thread, x uint32) int { return pushNumber(t, float64(int32(x))) }

func unary(f func(uint32) uint32) lua.GoFunction {
	return func(t *lua.Thread) int { return pushBits(t, f(checkBits(t, 1))) }
}

func fold(f func(a, b uint32) uint32) lua.GoFunction {
	return func(t *lua.Thread) int {
		x := checkBits(t, 1)
		for i := t.NArgs(); i > 1; i-- {
			x = f(x, checkBits(t, i))
		}
		return pushBits(t, x)
	}
}

func shift(f func(x uint32, n int) uint32) lua.GoFunction {
	return func(t *lua.Thread) int {
		x := checkBits(t, 1)
		return pushBits(t, f(x, int(checkBits(t, 2)&31)))
	}
}

func toHex(t *lua.Thread) int {
	x, n := checkBits(t, 1), 8
	if t.NArgs() > 1 {
		n = int(int32(checkBits(t, 2)))
	}
	digits := "0123456789abcdef"
	if n < 0 {
		n, digits = -n, strings.ToUpper(digits)
	}
	var b [8]byte
	n = min(n, len(b))
	for i := n - 1; i >= 0; i-- {
		b[i] = digits[x&15]
		x >>= 4
	}
	t.PushBytes(b[:n])
	return 1
}
