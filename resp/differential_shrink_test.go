package resp

import (
	"slices"
	"testing"
	"time"
)

// shrink returns a part of a sequence that still fails, of which no single step can be left
// out, as far as there is time: half of it is left out first, then ever smaller pieces
// (delta debugging, Zeller and Hildebrandt 2002).
func shrink[S any](steps []S, end time.Time, fails func([]S) bool) []S {
	for size := (len(steps) + 1) / 2; size > 0 && len(steps) > 1; {
		left := false
		for at := 0; at < len(steps) && time.Now().Before(end); {
			shorter := slices.Concat(steps[:at], steps[min(at+size, len(steps)):])
			if len(shorter) > 0 && fails(shorter) {
				steps, left = shorter, true
			} else {
				at += size
			}
		}
		if time.Now().After(end) || size == 1 && !left {
			break
		}
		if size > 1 {
			size = (size + 1) / 2
		}
	}
	return steps
}

// What is left is just what fails together, wherever it stands, and in its order.
func TestFailingSequenceShrinksToTheShortest(t *testing.T) {
	var steps []int
	for i := range 1000 {
		steps = append(steps, i)
	}
	for _, wanted := range [][]int{{0}, {999}, {500}, {3, 700}, {1, 2, 3}, {0, 333, 666, 999}} {
		tries := 0
		got := shrink(steps, time.Now().Add(time.Hour), func(part []int) bool {
			tries++
			return !slices.ContainsFunc(wanted, func(w int) bool { return !slices.Contains(part, w) })
		})
		if !slices.Equal(got, wanted) {
			t.Errorf("%v shrinks to %v", wanted, got)
		}
		if tries > 400 {
			t.Errorf("%v took %d tries", wanted, tries)
		}
	}
	if got := shrink(steps, time.Now(), func([]int) bool { return true }); len(got) != len(steps) {
		t.Errorf("with no time left it tries all the same: %d", len(got))
	}
}
