package ring

import (
	"errors"
	"fmt"
	"testing"
)

func TestRange(t *testing.T) {
	for _, tt := range []struct {
		r     Range
		len   uint64
		in    []Token
		out   []Token
		wraps bool
	}{
		{Whole, 1 << 32, []Token{0, 1, 1<<32 - 1}, nil, false},
		{Range{7, 7}, 1 << 32, []Token{0, 6, 7, 8}, nil, true},
		{Range{10, 20}, 10, []Token{10, 19}, []Token{9, 20, 0}, false},
		{Range{1<<32 - 2, 3}, 5, []Token{1<<32 - 2, 1<<32 - 1, 0, 2}, []Token{3, 1<<32 - 3}, true},
		{Range{1 << 31, 0}, 1 << 31, []Token{1 << 31, 1<<32 - 1}, []Token{0, 1<<31 - 1}, false},
		{Range{5, 6}, 1, []Token{5}, []Token{4, 6}, false},
	} {
		if tt.r.Len() != tt.len || tt.r.Wraps() != tt.wraps {
			t.Errorf("%v: %d tokens, wraps %v", tt.r, tt.r.Len(), tt.r.Wraps())
		}
		for _, token := range tt.in {
			if !tt.r.Contains(token) {
				t.Errorf("%v does not contain %08x", tt.r, token)
			}
		}
		for _, token := range tt.out {
			if tt.r.Contains(token) {
				t.Errorf("%v contains %08x", tt.r, token)
			}
		}
	}
}

func TestRangeIsCutAtEqualParts(t *testing.T) {
	for _, tt := range []struct {
		r    Range
		n    uint64
		want string
	}{
		{Whole, 1, "[00000000-00000000]"},
		{Whole, 2, "[00000000-80000000 80000000-00000000]"},
		{Range{7, 7}, 2, "[00000007-80000000 80000000-00000000 00000000-00000007]"},
		{Range{1 << 30, 3}, 4, "[40000000-80000000 80000000-c0000000 c0000000-00000000 00000000-00000003]"},
		{Range{10, 20}, 4, "[0000000a-00000014]"},
		{Range{1<<32 - 1, 0}, 3, "[ffffffff-00000000]"},
	} {
		if got := fmt.Sprint(tt.r.Cut(tt.n)); got != tt.want {
			t.Errorf("%v in %d: %s, want %s", tt.r, tt.n, got, tt.want)
		}
	}
}

func FuzzParseRange(f *testing.F) {
	f.Add("00000000-10000000")
	f.Add("+0000000-1000000")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRange(s)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		if back, err := ParseRange(r.String()); err != nil || back != r {
			t.Fatalf("%q is %v, again %v, %v", s, r, back, err)
		}
	})
}
