package load

import (
	"errors"
	"reflect"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func profileOf(ops map[int]float32) *Profile {
	p := new(Profile)
	for cell, n := range ops {
		p.cells[cell] = cellLoad{cellRate{n, 16 * n}, int64(1000 * n)}
	}
	return p
}

func TestProfileGoesThroughItsBinaryForm(t *testing.T) {
	for _, p := range []*Profile{profileOf(nil), profileOf(map[int]float32{0: 1.5, 1: 2, 700: 1e6, Cells - 1: 0.25})} {
		b, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q := profileOf(map[int]float32{5: 1})
		if err := q.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
}

func FuzzProfileUnmarshal(f *testing.F) {
	b, _ := profileOf(map[int]float32{0: 1, 9: 3, Cells - 1: 7}).MarshalBinary()
	f.Add(b)
	f.Add([]byte{0, 1, 1, 1})
	f.Add([]byte{1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(Profile)
		if err := p.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		again, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q := new(Profile)
		if err := q.UnmarshalBinary(again); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSustainedKeepsOnlyLoadThatLasts(t *testing.T) {
	p := Sustained(profileOf(map[int]float32{1: 10, 2: 5}), profileOf(map[int]float32{1: 7, 3: 9}), profileOf(map[int]float32{1: 8, 2: 5, 3: 9}))
	if total := p.Total(); total.Ops != 7 {
		t.Errorf("%+v", total)
	}
	if p.cells[3].stored != 9000 {
		t.Errorf("stored bytes of the last profile: %d", p.cells[3].stored)
	}
}

func TestOverrideReplacesWhatItCovers(t *testing.T) {
	span := func(start, end ring.Token) ring.Range { return ring.Range{Start: start, End: end} }
	o := func(start, end ring.Token, node, home string) ring.Override {
		return ring.Override{Range: span(start, end), Node: node, Home: home}
	}
	for name, tt := range map[string]struct {
		all           []ring.Override
		r             ring.Range
		node, primary string
		want          []ring.Override
	}{
		"first":           {nil, span(10, 20), "b", "a", []ring.Override{o(10, 20, "b", "a")}},
		"beside another":  {[]ring.Override{o(10, 20, "b", "a")}, span(20, 30), "b", "a", []ring.Override{o(10, 30, "b", "a")}},
		"another home":    {[]ring.Override{o(10, 20, "b", "a")}, span(20, 30), "b", "c", []ring.Override{o(10, 20, "b", "a"), o(20, 30, "b", "c")}},
		"in the middle":   {[]ring.Override{o(10, 40, "b", "a")}, span(20, 30), "c", "b", []ring.Override{o(10, 20, "b", "a"), o(20, 30, "c", "a"), o(30, 40, "b", "a")}},
		"back home":       {[]ring.Override{o(10, 40, "b", "a")}, span(10, 30), "a", "b", []ring.Override{o(30, 40, "b", "a")}},
		"over token 0":    {[]ring.Override{o(0xfffffff0, 16, "b", "a")}, span(0, 16), "c", "b", []ring.Override{o(0, 16, "c", "a"), o(0xfffffff0, 0, "b", "a")}},
		"whole circle":    {[]ring.Override{o(0, 0, "b", "a")}, span(5, 9), "a", "b", []ring.Override{o(9, 5, "b", "a")}},
		"not carried out": {[]ring.Override{o(10, 20, "b", "a")}, span(10, 20), "c", "a", []ring.Override{o(10, 20, "c", "a")}},
	} {
		if got := override(tt.all, tt.r, tt.node, tt.primary); !reflect.DeepEqual(got, tt.want) || ring.CheckOverrides(got) != nil {
			t.Errorf("%s: %+v, want %+v, %v", name, got, tt.want, ring.CheckOverrides(got))
		}
	}
}
