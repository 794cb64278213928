package result

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// distributions are shapes of latencies, in microseconds.
var distributions = map[string]func(r *rand.Rand) float64{
	"uniform":     func(r *rand.Rand) float64 { return r.Float64() * 10_000 },
	"exponential": func(r *rand.Rand) float64 { return r.ExpFloat64() * 500 },
	"lognormal":   func(r *rand.Rand) float64 { return 200 * math.Exp(r.NormFloat64()*1.5) },
	"two humps": func(r *rand.Rand) float64 {
		if r.IntN(100) == 0 {
			return 1e6 + r.Float64()*1e6
		}
		return 80 + r.Float64()*40
	},
	"constant": func(*rand.Rand) float64 { return 12_345_678 },
}

func TestQuantilesOfKnownDistributions(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
	for name, draw := range distributions {
		r := rand.New(rand.NewPCG(1, 2))
		var values []int64
		sum := 0.0
		hists := map[float64]*hist{1.0 / 128: {digits: coarse}, 1.0 / 1024: {digits: fine}}
		for range 200_000 {
			v := int64(math.Round(draw(r)))
			values = append(values, v)
			sum += float64(v)
			for _, h := range hists {
				h.add(v, 1)
			}
		}
		slices.Sort(values)
		for width, h := range hists {
			l := h.latency()
			for share, got := range map[float64]float64{0.5: l.P50, 0.9: l.P90, 0.99: l.P99, 0.999: l.P999, 1: l.Max} {
				want := float64(values[int(math.Ceil(share*float64(len(values))))-1])
				if got < want || got > want*(1+width)+1 {
					t.Errorf("%s: of %v it is %v, exactly %v", name, share, got, want)
				}
			}
			if got, want := l.Mean, sum/float64(len(values)); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%s: mean %v, exactly %v", name, got, want)
			}
			if l.Max != float64(values[len(values)-1]) {
				t.Errorf("%s: max %v", name, l.Max)
			}
		}
	}
}

// What is written for other programs says the same.
func TestHistogramsAreWrittenAsHdrHistogramDoes(t *testing.T) {
	for name, draw := range distributions {
		r := rand.New(rand.NewPCG(1, 2))
		h := &hist{digits: fine}
		for range 10_000 {
			h.add(int64(draw(r)), 1)
		}
		full, err := hdrhistogram.Decode([]byte(h.encode()))
		if err != nil {
			t.Fatal(err)
		}
		l := h.latency()
		for share, want := range map[float64]float64{50: l.P50, 90: l.P90, 99: l.P99, 99.9: l.P999} {
			if got := float64(full.ValueAtPercentile(share)); math.Abs(got-want) > want/1000+1 {
				t.Errorf("%s: %v%% is %v, and %v once it is read", name, share, want, got)
			}
		}
		if full.TotalCount() != 10_000 {
			t.Errorf("%s: %d values are read", name, full.TotalCount())
		}
	}
	if _, err := hdrhistogram.Decode([]byte((&hist{digits: fine}).encode())); err != nil {
		t.Error(err)
	}
}

func TestPackedHistogramsAreTheSame(t *testing.T) {
	for name, draw := range distributions {
		r := rand.New(rand.NewPCG(1, 2))
		a, b := &hist{digits: coarse}, &hist{digits: coarse}
		for range 1000 {
			a.add(int64(draw(r)), 1)
			b.add(int64(draw(r)), 1)
		}
		both := &hist{digits: coarse}
		both.unpack(a.pack())
		both.unpack(b.pack())
		a.merge(b)
		if both.latency() != a.latency() || both.count != 2000 {
			t.Errorf("%s: %+v, %+v", name, both.latency(), a.latency())
		}
		a.reset()
		if a.latency().Max != 0 || len(a.pack()) > 2 {
			t.Error("it is not empty")
		}
	}
}

func TestValuesBeyondAnythingAreKept(t *testing.T) {
	h := &hist{digits: fine}
	h.add(-5, 1)
	h.add(math.MaxInt64/2, 1)
	if h.count != 2 || h.max != longest || h.quantiles(0.5, 1)[1] != longest {
		t.Errorf("%d values, at most %d", h.count, h.max)
	}
}
