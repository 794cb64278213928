package cells

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestLogarithms(t *testing.T) {
	check := func(x uint64) {
		got := float64(negLog2(x)) / (1 << logBits)
		want := 64 - math.Log2(float64(x)+1)
		if math.Abs(got-want)*(1<<logBits) > 8 {
			t.Fatalf("-log2 of %x ÷ 2^64 is %v, want %v", x, got, want)
		}
	}
	for shift := range 64 {
		for _, x := range []uint64{1<<shift - 1, 1 << shift, 1<<shift + 1, 3 << shift >> 1} {
			check(x)
		}
	}
	check(math.MaxUint64)
	for range 100_000 {
		check(rand.Uint64() >> rand.IntN(64))
	}
	if negLog2(math.MaxUint64) < 1 || negLog2(math.MaxUint64-1) < 1 {
		t.Error("a logarithm of 0 leaves no score to divide")
	}
}
