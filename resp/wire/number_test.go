package wire_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/wire"
)

// longText is the first length of text that Redis does not read as a long double.
const longText = 5 * 1024

func TestParseInt(t *testing.T) {
	for _, n := range []int64{
		0, 1, -1, 9, 10, 127, -128, math.MaxInt32, math.MinInt32,
		math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, 1e18,
	} {
		text := strconv.FormatInt(n, 10)
		if got, ok := wire.ParseInt([]byte(text)); !ok || got != n {
			t.Errorf("%s: %d, %t", text, got, ok)
		}
	}
	for _, text := range notInts {
		if got, ok := wire.ParseInt([]byte(text)); ok {
			t.Errorf("%q: %d", text, got)
		}
	}
}

var notInts = []string{
	"", "-", "+", "+1", "-0", "00", "01", "-01", " 1", "1 ", "\t1", "1\n", "1\x00", "\x001", "1.0", "1e3", "0x1",
	"--1", "1-", "1_000", "one", "９", "9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"18446744073709551616", "99999999999999999999", "-9999999999999999999", "100000000000000000000", "-18446744073709551616",
}

func TestParseFloat(t *testing.T) {
	inf := math.Inf(1)
	for text, want := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "+1": 1, "1.": 1, ".5": 0.5, "+.5e-0": 0.5, "007": 7, "1E5": 1e5, "1e+5": 1e5,
		"3.0e3": 3000, "17976931348623157e292": math.MaxFloat64, "4.9e-324": math.SmallestNonzeroFloat64,
		"0e-99999999999999999999": 0, "0e99999999999999999999": 0, "0x10": 16, "0X1.8P1": 3, "0x.8": 0.5, "0x1.": 1,
		"-0x1p-2": -0.25, "0xep1": 28, "0x0p-99999": 0, "inf": inf, "+Inf": inf, "-INFINITY": -inf, "iNfInItY": inf,
		strings.Repeat("0", 1000) + "1": 1, "0." + strings.Repeat("0", 400) + "1e401": 1,
	} {
		got, ok := wire.ParseFloat([]byte(text))
		if !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: %v, %t, want %v", text, got, ok, want)
		}
	}
	for _, text := range notFloats {
		if got, ok := wire.ParseFloat([]byte(text)); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"1e309", "-1e309", "1e-400", "-1e-400", "0x1p1024", "0x1p-1075", "1e99999999999999999999"} {
		if got, ok := wire.ParseFloat([]byte(text)); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

var notFloats = []string{
	"", " ", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "1e5.0", "1.2.3", " 1", "1 ", "\t1", "1\n", "1\x00", "\x001",
	"1_000", "0x", "0x.", "0x.p1", "0xg", "0x1p", "0x1p+", "0x1e+5", "0x_1p3", "0b1", "0o7", "1p5", "1f", "--1", "+-1",
	"nan", "-nan", "NaN", "nan(1)", "in", "infinit", "infinityy", "inf ", "1,5", "１",
}

func TestAddFloat(t *testing.T) {
	for _, c := range []struct{ old, incr, want string }{
		{"0", "0", "0"},
		{"10.50", "0.1", "10.6"},
		{"10.6", "-5", "5.6"},
		{"5.0e3", "2.0e2", "5200"},
		{"0", "3.0e3", "3000"},
		{"0.1", "0.2", "0.3"},
		{"1", "-1", "0"},
		{"-0", "-0", "0"},
		{"-1e-30", "0", "0"},
		{"1e-17", "0", "0.00000000000000001"},
		{"1", "1e-17", "1.00000000000000001"},
		{"3", "1.000000000000000001", "4"},
		{"3", "1.000000000000000005", "4.00000000000000001"},
		{"0x1p4", "0x.8", "16.5"},
		{"100", "-0.01", "99.99"},
		{"18446744073709551615", "0", "18446744073709551615"},
		{"18446744073709551615", "2", "18446744073709551616"},
		{"9007199254740993", "0", "9007199254740993"},
		{"-1.5", "-1.5", "-3"},
		{"1e-4940", "5", "5"},
		{"0.00001", "0", "0.00001"},
	} {
		got, err := wire.AddFloat([]byte(c.old), []byte(c.incr))
		if err != nil || string(got) != c.want {
			t.Errorf("%s + %s: %s, %v, want %s", c.old, c.incr, got, err, c.want)
		}
	}
	const sum, notFinite = "<nil>", "ERR increment would produce NaN or Infinity"
	notFloat := wire.ErrNotFloat.Error()
	for _, c := range []struct {
		old, incr string
		want      string
	}{
		{"inf", "1", notFinite},
		{"1", "-inf", notFinite},
		{"inf", "-inf", notFinite},
		{largest, largest, notFinite},
		{"-" + largest, "-" + largest, notFinite},
		{largest, "-" + largest, sum},
		{"abc", "inf", notFloat},
		{"1e4933", "1", notFloat},
		{"1", "1e-4960", notFloat},
		{"1", "1e999999999999999999999", notFloat},
		{"1", "0x1p16384", notFloat},
		{"1", "0x1p-16446", notFloat},
		{"1", "0x1p999999999999999999999", notFloat},
		{"1", "0x1.00000000000000001p-16446", notFloat},
		{"1", "0x1.000000000000001p-16446", sum},
		{"1", "0e999999999999999999999", sum},
		{strings.Repeat("0", longText), "1", notFloat},
		{strings.Repeat("0", longText-1), "1", sum},
	} {
		if got, err := wire.AddFloat([]byte(c.old), []byte(c.incr)); fmt.Sprint(err) != c.want {
			t.Errorf("%.40s + %.40s: %.40s, %v, want %v", c.old, c.incr, got, err, c.want)
		}
	}
	for _, text := range notFloats {
		if got, err := wire.AddFloat([]byte(text), []byte("1")); err != wire.ErrNotFloat {
			t.Errorf("%q + 1: %s, %v", text, got, err)
		}
		if got, err := wire.AddFloat([]byte("1"), []byte(text)); err != wire.ErrNotFloat {
			t.Errorf("1 + %q: %s, %v", text, got, err)
		}
	}
}

// largest is the largest long double.
const largest = "1.18973149535723176502e4932"

// edges are numbers at the borders of what a long double holds, and no numbers.
func edges() []string {
	return append([]string{
		"0", "-0", "1", "-1", "inf", "-infinity", largest, "-" + largest, "1.1897314953572317651e4932", "1.189731495357231766e4932",
		"0x1p16383", "0x1p16384", "0x1.fffffffffffffffep16383", "0x1.ffffffffffffffff7p16383", "0x1.ffffffffffffffffp16383", "0x1p16319", "0x1p16318",
		"3.6e-4951", "1.8e-4951", "1.9e-4951", "0x1p-16382", "0x1p-16445", "0x1p-16446", "0x1.000000000000001p-16446", "0x1p-16447",
		"1e-17", "5e-18", "4.9e-18", "-5e-18", "18446744073709551615", "18446744073709551616", "18446744073709551617", "18446744073709551618.5",
		"1e4932", "1e4933", "1e-4960", "1e9999999", "1e-9999999", "1e99999999999999999999", "0e99999999999999999999", "0x1p99999999999999999999",
		strings.Repeat("0", longText), strings.Repeat("0", longText-2) + "7", "0." + strings.Repeat("0", 5000) + "1e5000",
	}, notFloats...)
}

// randomNumeral is the text of a number as clients write them, and now and then of
// none.
func randomNumeral(r *rand.Rand) string {
	sign := []string{"", "", "-", "+"}[r.IntN(4)]
	switch r.IntN(12) {
	case 0:
		return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
	case 1: // prices
		return sign + strconv.FormatFloat(float64(r.IntN(1_000_000))/100, 'f', -1, 64)
	case 2: // small decimals
		return sign + "0." + strings.Repeat("0", r.IntN(20)) + strconv.Itoa(r.IntN(100_000))
	case 3, 4:
		return strconv.FormatFloat(r.NormFloat64()*math.Pow(10, float64(r.IntN(40)-20)), 'g', 1+r.IntN(20), 64)
	case 5: // every double
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) {
			f = 1
		}
		return strconv.FormatFloat(f, 'e', -1, 64)
	case 6: // more digits than a long double has
		return sign + randomDigits(r, 1+r.IntN(40)) + "." + randomDigits(r, r.IntN(60))
	case 7:
		return sign + randomDigits(r, 1+r.IntN(10)) + "e" + strconv.Itoa(r.IntN(10_000)-5000)
	case 8:
		return sign + strconv.FormatFloat(math.Abs(r.NormFloat64()), 'x', -1, 64)
	case 9:
		return sign + "0x" + strconv.FormatUint(r.Uint64(), 16) + "." + strconv.FormatUint(r.Uint64(), 16) +
			"p" + strconv.Itoa(r.IntN(200)-100)
	case 10: // halfway between two texts
		return sign + strconv.Itoa(r.IntN(4)) + "." + randomDigits(r, 17) + "5"
	default:
		b := []byte(strconv.FormatFloat(r.NormFloat64(), 'g', 5, 64))
		const odd = "0123456789+-.eEpPxXinfINF \x00_a"
		b[r.IntN(len(b))] = odd[r.IntN(len(odd))]
		return string(b)
	}
}

func randomDigits(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
	}
	return string(b)
}

func BenchmarkAddFloat(b *testing.B) {
	for _, c := range [][2]string{{"10.50", "0.1"}, {"1e4932", "1"}, {strings.Repeat("9", 4000), "1e-4900"}} {
		b.Run(c[0][:min(len(c[0]), 6)], func(b *testing.B) {
			b.ReportAllocs()
			old, incr := []byte(c[0]), []byte(c[1])
			for b.Loop() {
				wire.AddFloat(old, incr)
			}
		})
	}
}
