package durable

import (
	"errors"
	"slices"
	"testing"
)

func TestFlippedBitsOfSealedTextAreFound(t *testing.T) {
	type value struct {
		Format int      `json:"format"`
		Names  []string `json:"names,omitempty"`
		Number uint64   `json:"number,string"`
		Yes    bool     `json:"yes"`
	}
	want := value{2, []string{"a", "b\"}"}, 1<<63 + 5, true}
	text, err := Seal(want)
	if err != nil {
		t.Fatal(err)
	}
	equal := func(v value) bool {
		return v.Format == want.Format && slices.Equal(v.Names, want.Names) && v.Number == want.Number && v.Yes == want.Yes
	}
	var got value
	if err := Unseal(text, &got); err != nil || !equal(got) {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range text {
		for bit := range 8 {
			flipped := slices.Clone(text)
			flipped[i] ^= 1 << bit
			var got value
			if err := Unseal(flipped, &got); err == nil && !equal(got) {
				t.Errorf("bit %d of byte %d is believed: %s", bit, i, flipped)
			}
		}
	}
	for n := range text {
		var got value
		if err := Unseal(text[:n], &got); err == nil && !equal(got) {
			t.Errorf("believed when cut to %d bytes", n)
		}
	}
}

func TestTextsWithoutChecksumAreRead(t *testing.T) {
	var v struct{ A int }
	if err := Unseal([]byte("{\n\"A\":7}\n"), &v); err != nil || v.A != 7 {
		t.Errorf("%v, %v", v, err)
	}
	if err := Unseal([]byte(`{"A":7,"sum":"00000000"}`), &v); !errors.Is(err, ErrSum) {
		t.Error(err)
	}
	for _, v := range []any{7, struct{}{}, []int{1, 2, 3, 4, 5}} {
		if _, err := Seal(v); err == nil {
			t.Errorf("%T is sealed", v)
		}
	}
}
