package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

func TestPlacementReadBackIsTheSame(t *testing.T) {
	rnd := newRand(t)
	for _, n := range []int{1, 2, 100, 3000} {
		p := randomPlacement(rnd, n)
		if n > 2 {
			p = p.WithSeats(&Seats{Nodes: []string{"", "a", "b", "", "a"}, Free: []int{3, 0}})
		}
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		data, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var fromText, fromBinary Placement
		if err := errors.Join(fromText.UnmarshalText(text), fromBinary.UnmarshalBinary(data)); err != nil {
			t.Fatal(err)
		}
		for _, read := range []*Placement{&fromText, &fromBinary} {
			if again, err := read.MarshalText(); err != nil || !bytes.Equal(again, text) {
				t.Fatalf("%d rows: read back it is another placement (%v)", n, err)
			}
		}
	}
}

func TestTextFaultsNameTheLine(t *testing.T) {
	const first = "ringside placement 1\n"
	for text, say := range map[string]string{
		"":                                                       "no line",
		"# only a comment\n":                                     "no line",
		"ringside placement 2":                                   "line 1",
		first + "00000000-00000000 epoch=1\nx":                   "line 3",
		first + "00000000-00000000":                              "no epoch",
		first + "00000000-00000000 epoch=-1":                     "not an epoch",
		first + "00000000-00000000 epoch=1 epoch=2":              "line 2",
		first + "00000000-00000000 epoch=1 primary=":             "line 2",
		first + "00000000-00000000 epoch=1 owner=a":              "owner",
		first + "00000000-80000000 epoch=1 primary=a":            "tile",
		first + "00000000-00000000 epoch=1 backups=a":            "without a primary",
		first + "0-1 epoch=1":                                    "not a range",
		first + "00000000-00000000 epoch=1 primary=a,b":          "commas",
		first + "00000000-00000000 epoch=1 primary=a backups=a,": "bad",
		first + "seats a,,b free=2":                              "line 2",
		first + "seats a,,b free=x":                              "not a number of a seat",
		first + "seats a,b free=0":                               "not free",
		first + "seats a,,b":                                     "not free",
		first + "seats ":                                         "line 2",
	} {
		var p Placement
		if err := p.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBinaryCountsAreNotTrusted(t *testing.T) {
	for name, data := range map[string][]byte{
		"nothing":          {},
		"another version":  {9},
		"cut off":          {binaryVersion},
		"many nodes":       binary.AppendUvarint([]byte{binaryVersion}, 1<<40),
		"a long name":      binary.AppendUvarint([]byte{binaryVersion, 1}, 1<<62),
		"many rows":        binary.AppendUvarint([]byte{binaryVersion, 0}, 1<<50),
		"many backups":     append([]byte{binaryVersion, 1, 1, 'a', 1, 0, 1, 1}, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0),
		"an unknown node":  {binaryVersion, 1, 1, 'a', 1, 0, 1, 3, 0, 0},
		"bytes at the end": {binaryVersion, 1, 1, 'a', 1, 0, 1, 1, 0, 0, 7},
		"an unused node":   {binaryVersion, 2, 1, 'a', 1, 'b', 1, 0, 1, 1, 0, 0},
		"no rows":          {binaryVersion, 0, 0},
		"seats cut off":    {binaryVersionSeats, 1, 1, 'a', 1, 0, 1, 1, 0, 0},
		"no seats":         {binaryVersionSeats, 1, 1, 'a', 1, 0, 1, 1, 0, 0, 0, 0},
		"a seat not free":  {binaryVersionSeats, 1, 1, 'a', 1, 0, 1, 1, 0, 0, 1, 1, 'a', 1, 0},
		"a free seat lost": {binaryVersionSeats, 1, 1, 'a', 1, 0, 1, 1, 0, 0, 2, 1, 'a', 0, 0},
	} {
		var p Placement
		if err := p.UnmarshalBinary(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	p := mustPlacement(f, `ringside placement 1
		10000000-40000000 epoch=4 primary=a backups=b,c learners=d
		40000000-10000000 epoch=9`)
	data, _ := p.MarshalBinary()
	f.Add(data)
	f.Add([]byte{binaryVersion, 1, 1, 'a', 1, 0, 1, 1, 0, 0})
	f.Add([]byte{binaryVersionSeats, 1, 1, 'a', 1, 0, 1, 1, 0, 0, 2, 1, 'a', 0, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Placement
		if p.UnmarshalBinary(data) != nil {
			return
		}
		again, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var q Placement
		if err := q.UnmarshalBinary(again); err != nil {
			t.Fatal(err)
		}
		for _, token := range []Token{0, 1 << 31, 1<<32 - 1} {
			if row := q.Lookup(token); !row.Range.Contains(token) || row.Range != p.Lookup(token).Range {
				t.Fatalf("%08x: %v", token, row.Range)
			}
		}
	})
}

func FuzzUnmarshalText(f *testing.F) {
	f.Add("ringside placement 1\n00000000-80000000 epoch=3 primary=a backups=b,c learners=d\n80000000-00000000 epoch=1")
	f.Add("ringside placement 1\nseats a,,b free=1\n00000000-00000000 epoch=3 primary=a")
	f.Fuzz(func(t *testing.T, text string) {
		var p Placement
		if p.UnmarshalText([]byte(text)) != nil {
			return
		}
		written, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var q Placement
		if err := q.UnmarshalText(written); err != nil {
			t.Fatalf("%v:\n%s", err, written)
		}
		if again, _ := q.MarshalText(); !bytes.Equal(again, written) {
			t.Fatalf("got\n%s\nwant\n%s", again, written)
		}
	})
}
