package settings

import (
	"math"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "1": 1, "67108864": 64 << 20, "10b": 10,
		"64mb": 64 << 20, "64MB": 64 << 20, "64MiB": 64 << 20, "64 MiB": 64 << 20, "64m": 64e6,
		"1k": 1000, "1kb": 1024, "1KiB": 1024, "2gb": 2 << 30, "2g": 2e9, "1tb": 1 << 40,
		"9223372036854775807": math.MaxInt64, "007": 7,
	} {
		if got, err := ParseSize(s); got != want || err != nil {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "mb", "-1", "+1", "1.5gb", "64mx", "64 m b", "0x10", "1e6", "9223372036854775808", "9007199254740992kb", "yes"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d", s, got)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"64mb", "64 MiB", "9223372036854775808", "-1k"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("ParseSize(%q) = %d", s, n)
		}
		if again, err := ParseSize(formatSize(n)); again != n || err != nil {
			t.Fatalf("%q is %d, written %q, read %d, %v", s, n, formatSize(n), again, err)
		}
	})
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"0": 0, "10": 10 * time.Second, "-1": -time.Second, "10s": 10 * time.Second,
		"500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "0.5s": 500 * time.Millisecond,
	} {
		if got, err := ParseDuration(s); got != want || err != nil {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "s", "10 s", "1d", "10sec", "1.5", "9223372037", "-9223372037", "never", "NaN"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("ParseDuration(%q) = %v", s, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"10", "1h30m", "-500ms", "9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDuration(s)
		if err != nil {
			return
		}
		if again, err := ParseDuration(formatDuration(d)); again != d || err != nil {
			t.Fatalf("%q is %d, written %q, read %d, %v", s, d, formatDuration(d), again, err)
		}
	})
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 10 * time.Second: "10s", 5 * time.Minute: "5m", time.Hour: "1h", 10 * time.Minute: "10m",
		90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 10 * time.Millisecond: "10ms", -time.Minute: "-1m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestYesNo(t *testing.T) {
	var b bool
	v := YesNo(&b)
	for s, want := range map[string]bool{"yes": true, "no": false, "True": true, "OFF": false, "1": true, "0": false} {
		if err := v.Set(s); err != nil || b != want {
			t.Errorf("%q is %v, %v", s, b, err)
		}
	}
	for _, s := range []string{"", "y", "nope", "2"} {
		if v.Set(s) == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestOptionalCount(t *testing.T) {
	n := 0
	v := OptionalCount(&n)
	if v.String() != "" {
		t.Errorf("nothing is %q", v.String())
	}
	for text, want := range map[string]int{"3": 3, "": 0, "-2": -2} {
		if err := v.Set(text); err != nil || n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if again := v.String(); v.Set(again) != nil || n != want {
			t.Errorf("%q does not take its own text %q", text, again)
		}
	}
	for _, bad := range []string{"x", "1.5", "99999999999999999999"} {
		if v.Set(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestCount(t *testing.T) {
	var n int
	v := Count(&n)
	if err := v.Set("42"); err != nil || n != 42 {
		t.Errorf("42 is %d, %v", n, err)
	}
	for _, s := range []string{"", "10k", "1.5", "many", "99999999999999999999"} {
		if v.Set(s) == nil || n != 42 {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestOneOf(t *testing.T) {
	s := "info"
	v := OneOf(&s, "debug", "info", "warn")
	if err := v.Set("loud"); err == nil || err.Error() != `"loud": use debug, info or warn` {
		t.Errorf("%v", err)
	}
	if err := v.Set("warn"); err != nil || s != "warn" {
		t.Errorf("%q, %v", s, err)
	}
}

func TestNumber(t *testing.T) {
	x := 1.5
	v := Number(&x)
	if v.String() != "1.5" || v.Set("0.99") != nil || x != 0.99 || v.Set("1e3") != nil || x != 1000 {
		t.Errorf("%v", x)
	}
	for _, s := range []string{"", "x", "NaN", "Inf", "-inf", "1e999", "1,5"} {
		if v.Set(s) == nil || x != 1000 {
			t.Errorf("%q is %v", s, x)
		}
	}
}

func TestFuncKeepsTheLastGoodText(t *testing.T) {
	n := 0
	v := Func("n", "0", func(s string) (err error) {
		d, err := ParseDuration(s)
		if err == nil {
			n = int(d / time.Second)
		}
		return err
	})
	if v.String() != "0" || v.Type() != "n" || v.Set("3s") != nil || v.Set("soon") == nil || n != 3 || v.String() != "3s" {
		t.Errorf("%d, %s", n, v)
	}
}
