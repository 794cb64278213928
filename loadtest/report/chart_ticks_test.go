package report

import (
	"testing"
)

func TestAxesHaveRoundTicks(t *testing.T) {
	for _, tt := range []struct{ low, value, end float64 }{
		{0, 87, 100}, {0, 9.3, 10}, {1, 1.02, 1.02}, {1, 2.25, 2.4}, {0, 0, 1}, {0, 0.11, 0.12},
	} {
		if end := Bound(tt.low, tt.value); end < tt.end-1e-9 || end > tt.end+1e-9 {
			t.Errorf("from %v with %v an axis ends at %v, want %v", tt.low, tt.value, end, tt.end)
		}
	}
	for span := 1e-6; span < 1e12; span *= 1.7 {
		if n := len(RoundTicks{Form: Plain}.Ticks(0, span)); n < 4 || n > 12 {
			t.Errorf("%d ticks from 0 to %v", n, span)
		}
		if n := len(FactorTicks{}.Ticks(0.8, 1.25+span)); n < 2 || n > 40 {
			t.Errorf("%d factors up to %v", n, 1.25+span)
		}
	}
}
