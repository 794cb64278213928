package report

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

func TestThinLinesKeepPeaksAndDips(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 999, 1000, 1001, 12_345, 864_000} {
		points := make(plotter.XYs, n)
		for i := range points {
			points[i] = plotter.XY{X: float64(i), Y: 10 + rand.Float64()}
		}
		if n > 10 {
			points[n/3].Y, points[n/2].Y, points[n/7].Y = 99, 1, math.NaN()
		}
		thin := Thin(points, 1000)
		if len(thin) > 1000 || n <= 1000 && len(thin) != n {
			t.Errorf("%d of %d are left", len(thin), n)
		}
		low, high := math.Inf(1), math.Inf(-1)
		for i, p := range thin {
			if i > 0 && p.X <= thin[i-1].X {
				t.Fatalf("of %d: %v comes after %v", n, p, thin[i-1])
			}
			low, high = min(low, p.Y), max(high, p.Y)
		}
		if n > 1001 && (low != 1 || high != 99) {
			t.Errorf("of %d, from 1 to 99, those from %v to %v are left", n, low, high)
		}
	}
}

func TestGapsStayGaps(t *testing.T) {
	points := make(plotter.XYs, 10_000)
	for i := range points {
		points[i] = plotter.XY{X: float64(i), Y: 1}
		if i >= 4000 && i < 6000 {
			points[i].Y = math.NaN()
		}
	}
	gaps := 0
	for _, p := range Thin(points, 100) {
		if math.IsNaN(p.Y) {
			gaps++
		}
	}
	if gaps == 0 {
		t.Error("the gap is gone")
	}
	p := NewPlot("")
	p.Add(Series{points, Nth(0).Line(1)})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 10_000, 0, 2
	text := Drawing{Width: 300, Height: 200, Paint: func(c draw.Canvas) { p.Draw(c) }}.Inline()
	if n := strings.Count(text, `stroke:`+hex(blue)); n != 2 || strings.Contains(text, "NaN") {
		t.Errorf("%d lines, want one on each side of the gap", n)
	}
}

func TestLogAxesShowAll(t *testing.T) {
	for low := 1e-3; low < 1e9; low *= 1.37 {
		for _, span := range []float64{1, 1.01, 3, 9, 1e3, 1e6} {
			from, to := LogBounds(low, low*span)
			if from > low*1.001 || to < low*span*0.999 || from < low/2.6 || to > low*max(span*2.6, 10.1) {
				t.Fatalf("%v to %v lie on an axis from %v to %v", low, low*span, from, to)
			}
			if n := len(LogTicks{InPercent}.Ticks(from, to)); n < 2 || n > 12 {
				t.Fatalf("%d ticks from %v to %v", n, from, to)
			}
		}
	}
	for _, bad := range [][2]float64{{0, 1}, {math.NaN(), 1}, {1, math.NaN()}, {-1, 5}, {math.Inf(1), math.Inf(1)}} {
		if from, to := LogBounds(bad[0], bad[1]); from != 1 || to != 10 {
			t.Errorf("%v: %v to %v", bad, from, to)
		}
	}
}

func TestMarksAreNamedWhereThereIsRoom(t *testing.T) {
	p := NewPlot("")
	MarkRoom(p)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 100, 0, 1
	p.Add(Marks{Color: grey, List: []Mark{{10, 20, "first"}, {10.5, 0, "hidden"}, {60, 500, "second"}, {200, 300, "outside"}}})
	text := Drawing{Width: 300, Height: 200, Paint: func(c draw.Canvas) { p.Draw(c) }}.Inline()
	for word, want := range map[string]bool{"first": true, "second": true, "hidden": false, "outside": false} {
		if strings.Contains(text, ">"+word+"<") != want {
			t.Errorf("%s is there: %v", word, !want)
		}
	}
	if n := strings.Count(text, "stroke-dasharray:3,2"); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}

func TestManyNodesLookDifferent(t *testing.T) {
	seen := map[string]int{}
	for i := range 21 {
		c := hex(Nth(i).Color)
		if before, ok := seen[c]; ok {
			t.Errorf("%d and %d have the colour %s", before, i, c)
		}
		seen[c] = i
	}
}
