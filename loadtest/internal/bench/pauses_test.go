package main

import (
	"strings"
	"testing"
	"time"
)

func TestPauseIsTheLongestSpanThatWasOpen(t *testing.T) {
	begin := time.Now()
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	l := &load{spans: [][]span{{{at(0), at(90)}, {at(100), at(101)}, {at(110), at(150)}, {at(160), at(161)}, {at(170), at(300)}}}}
	for _, test := range []struct{ from, to, want int }{
		{0, 50, 90}, {95, 105, 1}, {95, 111, 40}, {140, 155, 40}, {155, 165, 1}, {155, 180, 130}, {400, 500, 0},
	} {
		if got := l.longest(0, func(s span) bool { return s.overlaps(at(test.from), at(test.to)) }); got != time.Duration(test.want)*time.Millisecond {
			t.Errorf("%d to %d: %v, want %d ms", test.from, test.to, got, test.want)
		}
	}
}

func TestSummary(t *testing.T) {
	var s latencies
	if s.String() != "nothing" {
		t.Error(s)
	}
	for i := range 101 {
		s = append(s, time.Duration(100-i)*time.Millisecond)
	}
	if got := strings.Join(strings.Fields(s.String()), " "); got != "0.0 50.0 99.0 100.0" {
		t.Error(got)
	}
}
