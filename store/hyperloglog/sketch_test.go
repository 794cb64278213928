package hyperloglog

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// Appleby's function has no vectors of its own; these are of elements that Redis was given,
// whose places PFDEBUG DECODE showed.
func TestPlacesOfElements(t *testing.T) {
	for _, test := range []struct {
		element  string
		register int
		count    uint8
	}{
		{"", 5938, 2},
		{"a", 12711, 2},
		{"ab", 719, 1},
		{"abc", 9474, 1},
		{"abcdefg", 5634, 2},
		{"abcdefgh", 1383, 1},
		{"abcdefghi", 6903, 1},
		{"0123456789abcdef", 5949, 1},
		{"0123456789abcdefXYZ", 8222, 1},
	} {
		if register, count := place([]byte(test.element)); register != test.register || count != test.count {
			t.Errorf("%q: register %d holds %d, want %d and %d", test.element, register, count, test.register, test.count)
		}
	}
}

// What a sketch holds is the most of each register, in either form and in any order, and its
// estimate is about right.
func TestBothFormsHoldTheMostOfEachRegister(t *testing.T) {
	for _, n := range []int{0, 1, 10, 300, 2000, 30_000} {
		var want [Registers]uint8
		small, dense, never := New(), New(), New()
		if err := dense.MakeDense(); err != nil {
			t.Fatal(err)
		}
		var element [8]byte
		for i := range n {
			binary.LittleEndian.PutUint64(element[:], uint64(i))
			register, count := place(element[:])
			for s, most := range map[*Sketch]int{&small: 3000, &dense: 0, &never: MaxSize} {
				changed, err := s.Add(element[:], most)
				if err != nil || changed != (want[register] < count) {
					t.Fatalf("element %d of %d: changed %v, %v", i, n, changed, err)
				}
			}
			want[register] = max(want[register], count)
		}
		for form, s := range map[string]*Sketch{"small": &small, "dense": &dense, "never dense": &never} {
			if form != "small" && s.Dense() != (form == "dense") {
				t.Errorf("%d elements, %s: dense %v", n, form, s.Dense())
			}
			s.Touch()
			counts, err := s.Counts()
			if err != nil || !bytes.Equal(counts, want[:]) {
				t.Errorf("%d elements, %s: registers are wrong: %v", n, form, err)
			}
			got, err := s.Estimate()
			if off := math.Abs(float64(got) - float64(n)); err != nil || off > 0.04*float64(n) {
				t.Errorf("%d elements, %s: estimated as %d: %v", n, form, got, err)
			}
		}
	}
}

func TestUnionIsTheSketchOfAllElements(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 100, 5000} {
		var u Union
		all := New()
		for range 3 {
			s := New()
			for range n {
				element := binary.LittleEndian.AppendUint64(nil, rnd.Uint64N(uint64(2*n)))
				_, err1 := s.Add(element, 3000)
				_, err2 := all.Add(element, 3000)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
			}
			if err := u.Add(&s); err != nil {
				t.Fatal(err)
			}
		}
		merged := New()
		if err := u.Into(&merged, 3000); err != nil {
			t.Fatal(err)
		}
		all.Touch()
		want, _ := all.Estimate()
		got, err := merged.Estimate()
		if err != nil || got != want || u.Estimate() != want {
			t.Errorf("3 times %d: %d and %d, want %d: %v", n, got, u.Estimate(), want, err)
		}
	}
}

func TestStoredEstimateIsUsed(t *testing.T) {
	s := New()
	binary.LittleEndian.PutUint64(s.b[estimateAt:], 4711)
	if n, err := s.Estimate(); n != 4711 || err != nil {
		t.Error(n, err)
	}
	s.Touch()
	if n, err := s.Estimate(); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// Whatever bytes come, nothing breaks, and what can be read once can be read in the other
// form, where it says the same.
func FuzzSketch(f *testing.F) {
	s := New()
	f.Add(s.b, []byte("a"), uint16(3000))
	for i := range 200 {
		_, _ = s.Add([]byte{byte(i)}, 3000)
	}
	f.Add(s.b, []byte("a"), uint16(20))
	_ = s.MakeDense()
	f.Add(s.b, []byte("b"), uint16(0))
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f"), []byte("c"), uint16(9999))
	f.Fuzz(func(t *testing.T, b, element []byte, most uint16) {
		s, err := Parse(b, int64(len(b)))
		if err != nil {
			return
		}
		s = s.Clone()
		_ = s.Parts()
		s.Touch()
		counts, err := s.Counts()
		n, again := s.Estimate()
		if (err == nil) != (again == nil) {
			t.Fatalf("counts: %v, estimate: %v", err, again)
		}
		if err == nil {
			dense := s.Clone()
			if err := dense.MakeDense(); err != nil {
				t.Fatal(err)
			}
			got, _ := dense.Counts()
			if same, err := dense.Estimate(); same != n || err != nil || !bytes.Equal(got, counts) {
				t.Fatalf("dense: %d, %v; sparse: %d", same, err, n)
			}
		}
		_, added := s.Add(element, int(most))
		if err != nil {
			return
		}
		register, count := place(element)
		counts[register] = max(counts[register], count)
		got, after := s.Counts()
		if added != nil || after != nil || !bytes.Equal(got, counts) {
			t.Fatalf("add: %v, %v", added, after)
		}
	})
}
