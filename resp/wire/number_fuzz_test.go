package wire_test

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/resp/wire"
)

// FuzzParseInt: what is accepted is the text of the number, and the text of every
// number is accepted.
func FuzzParseInt(f *testing.F) {
	for _, text := range notInts {
		f.Add([]byte(text), int64(len(text)))
	}
	f.Add([]byte("-9223372036854775808"), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, b []byte, n int64) {
		if got, ok := wire.ParseInt(b); ok && strconv.FormatInt(got, 10) != string(b) {
			t.Errorf("%q: %d", b, got)
		}
		if got, ok := wire.ParseInt(strconv.AppendInt(nil, n, 10)); !ok || got != n {
			t.Errorf("%d: %d, %t", n, got, ok)
		}
	})
}

// FuzzParseFloat: the readers of floats agree with each other and never accept what
// is not a number.
func FuzzParseFloat(f *testing.F) {
	for _, text := range append(notFloats, "1", "-0", "1.5e3", "0x1.8p1", "inf", "1e-4940", "9e4931", "1e99999999999") {
		f.Add([]byte(text), []byte("1"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, ok := wire.ParseFloat(a)
		if ok && math.IsNaN(x) {
			t.Errorf("%q is NaN", a)
		}
		// The range of a long double includes that of a double.
		if y, wide := wire.ParseLongDouble(a); ok && !wide && len(a) < longText {
			t.Errorf("%q: %v is no long double", a, x)
		} else if wide {
			// Rounded twice, so that the last bit may differ.
			if f, _ := y.Float64(); ok && f != x && math.Nextafter(f, x) != x {
				t.Errorf("%q: %v and %v", a, x, f)
			}
		}
		sum, err := wire.AddFloat(a, b)
		if err != nil {
			return
		}
		for _, c := range sum {
			if (c < '0' || c > '9') && c != '-' && c != '.' {
				t.Fatalf("%q + %q: %q", a, b, sum)
			}
		}
		if other, err := wire.AddFloat(b, a); err != nil || !bytes.Equal(sum, other) {
			t.Errorf("%q + %q: %q, the other way %q, %v", a, b, sum, other, err)
		}
	})
}
