package show

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestFiguresForPeople(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1234), "1,234"}, {count(1004), "1,004"}, {count(9999), "9,999"},
		{count(10_000), "10.0k"}, {count(999_949), "1.00M"}, {count(999_400), "999k"}, {count(12_345_678), "12.3M"}, {count(math.MaxInt64), "9.22E"}, {count(-5), "-5.00"},
		{size(0), "0 B"}, {size(1023), "1023 B"}, {size(1024), "1.00 KiB"}, {size(1 << 20), "1.00 MiB"}, {size(1<<20 - 1), "1.00 MiB"}, {size(math.MaxInt64), "8.00 EiB"},
		{percent(0), "0"}, {percent(1), "100"}, {percent(0.0909), "9.09"}, {percent(0.5), "50.0"}, {percent(0.00001), "<0.01"}, {percent(0.9999), "100"},
		{ratio(1), "1.00"}, {ratio(9.996), "10.0"}, {ratio(123.4), "123"}, {ratio(123456), "123k"}, {ratio(math.NaN()), none}, {ratio(math.Inf(1)), none},
		{nanos(12.34), "12.3 ns"}, {nanos(1500), "1.50 µs"}, {duration(2 * time.Second), "2.00 s"}, {duration(3 * time.Minute), "3m"}, {duration(math.MaxInt64), "2.56M h"},
		{plain(1), "1"}, {plain(0.25), "0.25"}, {plain(1e-12), "0"}, {plain(10), "10"},
		{plural(1, "node"), "1 node"}, {plural(0, "node"), "0 nodes"}, {plural(12345, "key"), "12.3k keys"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestFiguresStayShort(t *testing.T) {
	for n := int64(1); n > 0 && n < math.MaxInt64/3; n = n*3 + 1 {
		if s := count(n); len(s) > 6 {
			t.Errorf("count(%d) = %s", n, s)
		}
		if s := size(n); len(s) > 8 {
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
		got := wrap(s, cells, lines)
		if len(got) < 1 || len(got) > lines {
			t.Fatalf("%d lines of %d", len(got), lines)
		}
		for _, line := range got {
			if width(line) > cells {
				t.Errorf("%q has %d cells of %d", line, width(line), cells)
			}
			if !utf8.ValidString(line) {
				t.Errorf("%q is not UTF-8", line)
			}
		}
		if len(got) < lines && len(s) < 16*cells*lines {
			strip := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if strip(strings.Join(got, "")) != strip(printable(s)) {
				t.Errorf("%q became %q", s, got)
			}
		}
	})
}
