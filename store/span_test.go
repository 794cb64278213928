package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// Spans that tile the circle count, scan and draw each key in exactly one of them.
func TestSpansShareTheKeysOut(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	const keys = 600
	for i := range keys {
		key := fmt.Sprint("k", i)
		if i%4 == 0 {
			key = fmt.Sprint("{tag}", i)
		}
		s.set(t, key, "v", 0)
	}
	for range 40 {
		// Cuts beside keys, at slices' ends and anywhere.
		cuts := []ring.Token{0}
		for range rnd.IntN(20) {
			at := ring.Token(rnd.Uint32())
			switch rnd.IntN(3) {
			case 0:
				at = s.token(fmt.Append(nil, "k", rnd.IntN(keys))) + ring.Token(rnd.IntN(3)) - 1
			case 1:
				at &^= 0xffff
			}
			cuts = append(cuts, at)
		}
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		seen := map[string]int{}
		total := int64(0)
		for i, start := range cuts {
			span := ring.Range{Start: start, End: cuts[(i+1)%len(cuts)]}
			load, err := s.RangeLoad(span)
			if err != nil {
				t.Fatal(err)
			}
			n := load.Keys
			total += n
			scanned := int64(0)
			for cursor, ended := CursorAt(start), false; !ended; {
				cursor, ended, err = s.ScanIn(span, cursor, 1+rnd.IntN(20), func(e Entry) bool {
					if !span.Contains(s.token(e.Key)) {
						t.Errorf("%q is outside %v", e.Key, span)
					}
					seen[string(e.Key)]++
					scanned++
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
				if ended && cursor != CursorAt(span.End) {
					t.Errorf("%v ends at %d", span, cursor)
				}
			}
			if scanned != n {
				t.Errorf("%v: %d counted, %d scanned", span, n, scanned)
			}
			key, err := s.RandomKeyIn(0, []ring.Range{span})
			if err != nil || (key == nil) != (n == 0) || key != nil && !span.Contains(s.token(key)) {
				t.Errorf("%v with %d keys: %q %v", span, n, key, err)
			}
		}
		if total != keys || len(seen) != keys {
			t.Errorf("cuts %v: %d counted, %d scanned", cuts, total, len(seen))
		}
		for key, n := range seen {
			if n != 1 {
				t.Errorf("%q was scanned %d times", key, n)
			}
		}
	}
	if _, _, err := s.ScanIn(ring.Range{Start: 10, End: 20}, CursorAt(20), 1, nil); err == nil {
		t.Error("a cursor outside the span is accepted")
	}
}

func TestRandomKeyInReachesEverySpan(t *testing.T) {
	oneGoroutine(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for i := range 200 {
		s.set(t, fmt.Sprint("k", i), "v", 0)
	}
	spans := []ring.Range{{Start: 5, End: 1 << 30}, {Start: 1<<31 + 77, End: 0}}
	var drawn [2]int
	for range 300 {
		key, err := s.RandomKeyIn(0, spans)
		if err != nil || key == nil {
			t.Fatal(key, err)
		}
		switch at := s.token(key); {
		case spans[0].Contains(at):
			drawn[0]++
		case spans[1].Contains(at):
			drawn[1]++
		default:
			t.Errorf("%q is in no span", key)
		}
	}
	if drawn[0] == 0 || drawn[1] < drawn[0] {
		t.Errorf("drawn: %v, of spans of a quarter and a half of the circle", drawn)
	}
}

// Of many spans together what their ends cut is estimated as well as of one: it does not add
// up to more than there is.
func TestSizeOfManySpans(t *testing.T) {
	oneGoroutine(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	const keys = 3000
	for i := range keys {
		s.set(t, fmt.Sprint("k", i), "v", 0)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var cuts []ring.Token
	for i := range 2000 { // in slices that have a key
		cuts = append(cuts, s.token(fmt.Append(nil, "k", i))&^0xffff|ring.Token(rnd.Uint32N(1<<16)))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var spans []ring.Range
	exact := int64(0)
	for i := 0; i+1 < len(cuts); i += 2 {
		span := ring.Range{Start: cuts[i], End: cuts[i+1]}
		load, err := s.RangeLoad(span)
		if err != nil {
			t.Fatal(err)
		}
		exact += load.Keys
		spans = append(spans, span)
	}
	got, size := s.SizeOf(spans)
	// Each end cuts a slice with a key, mostly one: the error is that of a sum of so many.
	if off := got - exact; off < -80 || off > 80 {
		t.Errorf("%d keys, there are %d", got, exact)
	}
	if size <= 0 {
		t.Errorf("%d bytes", size)
	}
	if got, _ := s.SizeOf([]ring.Range{ring.Whole}); got != keys {
		t.Errorf("%d keys in all", got)
	}
}
