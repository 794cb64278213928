package report

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestFiguresForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1234), "1,234"}, {Count(1004), "1,004"}, {Count(9999), "9,999"},
		{Count(10_000), "10.0k"}, {Count(999_949), "1.00M"}, {Count(999_400), "999k"}, {Count(12_345_678), "12.3M"}, {Count(math.MaxInt64), "9.22E"}, {Count(-5), "-5.00"},
		{Size(0), "0 B"}, {Size(1023), "1023 B"}, {Size(1024), "1.00 KiB"}, {Size(1 << 20), "1.00 MiB"}, {Size(1<<20 - 1), "1.00 MiB"}, {Size(math.MaxInt64), "8.00 EiB"},
		{Percent(0), "0"}, {Percent(1), "100"}, {Percent(0.0909), "9.09"}, {Percent(0.5), "50.0"}, {Percent(0.00001), "<0.01"}, {Percent(0.9999), "100"},
		{Ratio(1), "1.00"}, {Ratio(9.996), "10.0"}, {Ratio(123.4), "123"}, {Ratio(123456), "123k"}, {Ratio(math.NaN()), None}, {Ratio(math.Inf(1)), None},
		{Nanos(12.34), "12.3 ns"}, {Nanos(1500), "1.50 µs"}, {Duration(2 * time.Second), "2.00 s"}, {Duration(3 * time.Minute), "3m"}, {Duration(math.MaxInt64), "2.56M h"},
		{Plain(1), "1"}, {Plain(0.25), "0.25"}, {Plain(1e-12), "0"}, {Plain(10), "10"},
		{Plural(1, "node"), "1 node"}, {Plural(0, "node"), "0 nodes"}, {Plural(12345, "key"), "12.3k keys"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestFiguresStayShort(t *testing.T) {
	for n := int64(1); n > 0 && n < math.MaxInt64/3; n = n*3 + 1 {
		if s := Count(n); len(s) > 6 {
			t.Errorf("count(%d) = %s", n, s)
		}
		if s := Size(n); len(s) > 8 {
			t.Errorf("size(%d) = %s", n, s)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("the quick brown fox", 7, 2)
	f.Add(strings.Repeat("節", 99), 5, 3)
	f.Add("a\x00b\u0301 \xff", 1, 1)
	f.Fuzz(func(t *testing.T, s string, cells, lines int) {
		if cells < 2 || cells > 200 || lines < 1 || lines > 50 { // a wide rune takes two
			return
		}
		got := Wrap(s, cells, lines)
		if len(got) < 1 || len(got) > lines {
			t.Fatalf("%d lines of %d", len(got), lines)
		}
		for _, line := range got {
			if Width(line) > cells {
				t.Errorf("%q has %d cells of %d", line, Width(line), cells)
			}
			if !utf8.ValidString(line) {
				t.Errorf("%q is not UTF-8", line)
			}
		}
		if len(got) < lines && len(s) < 16*cells*lines {
			strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if strip(strings.Join(got, "")) != strip(Printable(s)) {
				t.Errorf("%q became %q", s, got)
			}
		}
	})
}
