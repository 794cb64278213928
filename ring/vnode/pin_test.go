package vnode

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

func TestParsePins(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Pins
	}{
		{"a=0", Pins{"a", []ring.Token{1 << 31}, true}},
		{"a+=0", Pins{"a", []ring.Token{1 << 31}, false}},
		{"10.0.1.1:11211=-2147483648,0xffffffff", Pins{"10.0.1.1:11211", []ring.Token{0, 1<<31 - 1}, true}},
		{"x=y=5,5", Pins{"x=y", []ring.Token{1<<31 + 5, 1<<31 + 5}, true}},
		{"a++=0", Pins{"a+", []ring.Token{1 << 31}, false}},
	} {
		got, err := ParsePins(tt.text)
		if err != nil || got.Node != tt.want.Node || got.Only != tt.want.Only || !slices.Equal(got.Tokens, tt.want.Tokens) {
			t.Errorf("%s: %+v, want %+v, %v", tt.text, got, tt.want, err)
		}
	}
	for _, text := range []string{"", "a", "=", "+=", "=1", "+=1", "a=", "a+=", "a=1,", "a=,1", "a=1, 2", "a=x", "a=4294967296", "a+1"} {
		if got, err := ParsePins(text); !errors.Is(err, ErrPin) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if _, err := ParsePins("=x,1,y"); strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("not every fault: %v", err)
	}
}

func TestAddPins(t *testing.T) {
	members := []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 2}, {ID: "c", Weight: 1}}
	got, err := AddPins(members, []Pins{{"a", []ring.Token{1}, true}, {"b", []ring.Token{2}, false}, {"a", []ring.Token{3}, true}})
	if err != nil || !slices.Equal(got[0].Pins, []ring.Token{1, 3}) || !got[0].OnlyPins ||
		!slices.Equal(got[1].Pins, []ring.Token{2}) || got[1].OnlyPins || got[2].Pins != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if members[0].Pins != nil {
		t.Error("the members that were given have changed")
	}
	for _, pins := range [][]Pins{
		{{"d", []ring.Token{1}, true}},
		{{"a", []ring.Token{1}, true}, {"a", []ring.Token{1}, false}},
		{{"a", []ring.Token{1}, false}, {"a", []ring.Token{1}, true}},
	} {
		if _, err := AddPins(members, pins); !errors.Is(err, ErrPin) {
			t.Errorf("%+v: %v", pins, err)
		}
	}
}

func FuzzParsePins(f *testing.F) {
	for _, text := range []string{"a=1", "a+=1,-1,0xff", "=", "a==1", "a+", ",=,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePins(text)
		if err != nil {
			return
		}
		again := p.Node
		if !p.Only {
			again += "+"
		}
		for i, token := range p.Tokens {
			again += fmt.Sprintf("%c%d", "=,"[min(i, 1)], int32(uint32(token)^signBit))
		}
		same, err := ParsePins(again)
		if err != nil || same.Node != p.Node || same.Only != p.Only || !slices.Equal(same.Tokens, p.Tokens) {
			t.Fatalf("%q is %+v, %q is %+v, %v", text, p, again, same, err)
		}
	})
}
