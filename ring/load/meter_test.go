package load

import (
	"math"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*max(math.Abs(a), math.Abs(b), 1) }

func TestMeterReachesSteadyRateAndDecays(t *testing.T) {
	m := new(Meter)
	second := func(ops int) {
		for range ops {
			m.Count(0x12345678, 100)
		}
		m.Tick(1)
	}
	for range 100 {
		second(50)
	}
	if r := m.Total(); !near(r.Ops, 50) || !near(r.Bytes, 5000) {
		t.Errorf("a steady load of 50 operations and 5000 bytes a second is measured as %+v", r)
	}
	for range memory {
		second(0)
	}
	if r := m.Total(); !near(r.Ops, 50/math.E) || !near(r.Bytes, 5000/math.E) {
		t.Errorf("after the time constant %+v is left", r)
	}
	for range 200 {
		second(0)
	}
	if r := m.Total(); r != (Rate{}) {
		t.Errorf("an idle meter shows %+v", r)
	}
}

// The rate must not depend on how often the meter is read.
func TestMeterRateDoesNotDependOnTickInterval(t *testing.T) {
	often, seldom := new(Meter), new(Meter)
	for i := range 60 {
		for range 100 {
			often.Count(7, 1)
			seldom.Count(7, 1)
		}
		often.Tick(1)
		if i%4 == 3 {
			seldom.Tick(4)
		}
	}
	if a, b := often.Total(), seldom.Total(); !near(a.Ops, b.Ops) {
		t.Errorf("%v and %v operations a second", a.Ops, b.Ops)
	}
	often.Tick(0)
	if a, b := often.Total(), seldom.Total(); !near(a.Ops, b.Ops) {
		t.Errorf("a tick of no time changed the rate: %v and %v", a.Ops, b.Ops)
	}
}

func TestMeterRateOfRangesAddsUpToTotal(t *testing.T) {
	m := new(Meter)
	for i := range 1 << 12 {
		m.Count(ring.Token(i)<<20|0x1234, i)
	}
	m.Tick(1)
	total := m.Total()
	for _, cuts := range [][]ring.Token{{0, 1 << 31}, {5, 77 << 20, 0xfffffff0}, {0x80000001, 0x80000002}, {cellSize, 3*cellSize + 1}} {
		var sum Rate
		for i, start := range cuts {
			sum.add(m.Rate(ring.Range{Start: start, End: cuts[(i+1)%len(cuts)]}), 1)
		}
		if !near(sum.Ops, total.Ops) || !near(sum.Bytes, total.Bytes) {
			t.Errorf("cut at %08x: %+v instead of %+v", cuts, sum, total)
		}
	}
}

func TestMeterCutCellCountsInProportion(t *testing.T) {
	m := new(Meter)
	m.Count(cellSize+3, 1<<20)
	m.Tick(1)
	total := m.Total()
	if r := m.Rate(ring.Range{Start: 0, End: cellSize + cellSize/4}); !near(r.Ops, total.Ops/4) || !near(r.Bytes, total.Bytes/4) {
		t.Errorf("a quarter of a cell has %+v of %+v", r, total)
	}
}

func TestMeterHottestRange(t *testing.T) {
	m := new(Meter)
	ranges := []ring.Range{{Start: 0, End: 1 << 30}, {Start: 1 << 30, End: 1 << 31}, {Start: 1 << 31, End: 0}}
	each := func(yield func(ring.Range) bool) {
		for _, r := range ranges {
			if !yield(r) {
				return
			}
		}
	}
	for range 3 {
		m.Count(1<<30+5, 10)
	}
	m.Count(1<<31, 20*bytesPerOp) // few operations, and many bytes
	m.Tick(1)
	if r, rate, ok := m.Hottest(each); !ok || r != ranges[2] || rate.Cost() < 1 {
		t.Errorf("%v with %+v", r, rate)
	}
	if _, _, ok := m.Hottest(func(func(ring.Range) bool) {}); ok {
		t.Error("a range of no ranges is the hottest")
	}
}

func TestMeterLosesNoConcurrentOperation(t *testing.T) {
	m := new(Meter)
	const workers, each = 8, 2000
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for range each {
				m.Count(9, 3)
			}
		})
	}
	work.Wait()
	m.Tick(1)
	weight := 1 - math.Exp(-1./memory)
	if r := m.Total(); !near(r.Ops, workers*each*weight) || !near(r.Bytes, 3*workers*each*weight) {
		t.Errorf("%+v", r)
	}
}

func BenchmarkMeterCount(b *testing.B) {
	m := new(Meter)
	t := ring.Token(1)
	for b.Loop() {
		t = t*2654435761 + 1
		m.Count(t, 64)
	}
}
