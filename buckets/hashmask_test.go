package buckets

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestHashmaskIsARange(t *testing.T) {
	for width := 1; width <= 16; width++ {
		mask := uint32(1)<<width - 1
		for range 100 {
			h := Hashmask{Mask: mask, ID: rand.Uint32() & mask}
			r := h.Range()
			if back, ok := ofRange(r); !ok || back != h {
				t.Fatalf("%v is %v, which is %v, %v", h, r, back, ok)
			}
			for range 20 {
				token := ring.Token(rand.Uint32())
				if r.Contains(token) != h.Contains(HashOf(token)) {
					t.Fatalf("%v, %v: token %08x", h, r, token)
				}
			}
			if r.Wraps() {
				t.Fatalf("%v wraps: %v", h, r)
			}
		}
	}
}

func TestChildrenTileTheirParent(t *testing.T) {
	for _, h := range []Hashmask{{0x1, 1}, {0xF, 4}, {0xFF, 0x52}, {0xFFF, 0xFFF}} {
		at := h.Range().Start
		for _, child := range h.children() {
			if child.Mask != h.Mask<<4|0xF || child.ID&h.Mask != h.ID || child.Range().Start != at {
				t.Errorf("%v: child %v at %08x", h, child, at)
			}
			at = child.Range().End
		}
		if at != h.Range().End {
			t.Errorf("%v: children end at %08x", h, at)
		}
	}
}

func TestRangesThatAreNoBuckets(t *testing.T) {
	for _, r := range []ring.Range{
		{}, {Start: 5, End: 5}, {Start: 0, End: 3}, {Start: 0x08000000, End: 0x18000000}, {Start: 0, End: 1 << 15},
		{Start: 0xF0000000, End: 0x10000000},
	} {
		if h, ok := ofRange(r); ok {
			t.Errorf("%v is %v", r, h)
		}
	}
}

func TestMasks(t *testing.T) {
	for text, want := range map[string]uint32{"000F": 0xF, "0x00ff": 0xFF, "0XFFF": 0xFFF, "ffff": 0xFFFF, "7": 7, "1": 1} {
		if m, err := ParseMask(text); err != nil || m != want {
			t.Errorf("ParseMask(%q) = %x, %v", text, m, err)
		}
	}
	for text, why := range map[string]string{
		"0": "no bit", "00F0": "not a run of ones", "5": "not a run of ones", "FFFFFFFF": "above FFFF", "1FFFF": "above FFFF",
		"": "not hexadecimal", "0x": "not hexadecimal", "zz": "not hexadecimal", "-1": "not hexadecimal", "0x0XFF": "not hexadecimal", "100000000": "not hexadecimal",
	} {
		if _, err := ParseMask(text); !errors.Is(err, ErrMask) || !strings.Contains(err.Error(), why) {
			t.Errorf("ParseMask(%q): %v", text, err)
		}
	}
}

func FuzzParseHashmask(f *testing.F) {
	f.Add("0009/000F")
	f.Add("0052/00FF")
	f.Add("10/F")
	f.Add("/")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseHashmask(s)
		if err != nil {
			if !errors.Is(err, ErrMask) && !errors.Is(err, ring.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		if back, err := ParseHashmask(h.String()); err != nil || back != h {
			t.Fatalf("%q is %v, again %v, %v", s, h, back, err)
		}
		if back, ok := ofRange(h.Range()); !ok || back != h {
			t.Fatalf("%v: range %v", h, h.Range())
		}
	})
}
