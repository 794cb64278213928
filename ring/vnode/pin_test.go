package vnode

import (
	"errors"
	"strconv"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestPinIsTheTokenOfItsHash(t *testing.T) {
	for _, tt := range []struct {
		text string
		want ring.Token
	}{
		{"-2147483648", 0},
		{"2147483648", 0},
		{"0x80000000", 0},
		{"0", 1 << 31},
		{"0x0", 1 << 31},
		{"-1", 1<<31 - 1},
		{"4294967295", 1<<31 - 1},
		{"0xFFFFFFFF", 1<<31 - 1},
		{"0Xff", 1<<31 + 255},
		{"2147483647", 1<<32 - 1},
		{"1383330446", Token([]byte("hello"))},
		{"+7", 1<<31 + 7},
	} {
		if got, err := ParsePin(tt.text); err != nil || got != tt.want {
			t.Errorf("%s is at %#x, want %#x, %v", tt.text, got, tt.want, err)
		}
	}
}

func TestBadPins(t *testing.T) {
	for _, text := range []string{"", "-", "0x", "x", "ff", "1.5", "1e3", " 1", "1 ", "1_000", "-0x1", "0x-1", "0x+1", "0x1_0",
		"-2147483649", "4294967296", "0x100000000", "99999999999999999999", "0x99999999999999999999", "\x00", "١"} {
		if token, err := ParsePin(text); !errors.Is(err, ErrPin) {
			t.Errorf("%q is at %#x, %v", text, token, err)
		}
	}
}

func FuzzParsePin(f *testing.F) {
	for _, text := range []string{"0", "-1", "0xff", "4294967295", "-2147483648", "", "0x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParsePin(text)
		if err != nil {
			if !errors.Is(err, ErrPin) {
				t.Fatal(err)
			}
			return
		}
		// What is read has its place in each way of writing.
		hash := uint32(token) ^ signBit
		for _, again := range []string{
			strconv.FormatInt(int64(int32(hash)), 10), strconv.FormatUint(uint64(hash), 10), "0x" + strconv.FormatUint(uint64(hash), 16),
		} {
			if same, err := ParsePin(again); err != nil || same != token {
				t.Fatalf("%q is at %#x, %q at %#x, %v", text, token, again, same, err)
			}
		}
	})
}
