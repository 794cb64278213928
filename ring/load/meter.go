package load

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
)

const (
	// Cells is the number of equal parts of the circle whose load is measured. Under the hash slot a
	// cell is a slot of Redis Cluster.
	Cells     = 1 << cellBits
	cellBits  = 14
	cellShift = 32 - cellBits
	cellSize  = 1 << cellShift
)

// memory is the time constant of rates, in seconds: a load that ends has decayed to a third after it.
const memory = 10

// A Rate is what a range has to do, per second.
type Rate struct {
	Ops   float64 `json:"operations"`
	Bytes float64 `json:"bytes"` // of requests and replies
}

// bytesPerOp is how many bytes cost about as much as one operation.
const bytesPerOp = 4096

// Cost is the load in operations per second, where bytes count as operations, too.
func (r Rate) Cost() float64 { return r.Ops + r.Bytes/bytesPerOp }

func (r *Rate) add(of Rate, share float64) {
	r.Ops += of.Ops * share
	r.Bytes += of.Bytes * share
}

// A Meter counts the operations on one node's ranges. Its memory is 256 KiB.
type Meter struct {
	// counts are those since the last Tick. One addition counts an operation with its bytes: the
	// number of operations is above bit opShift, that of bytes below.
	counts [Cells]atomic.Uint64

	mu    sync.Mutex // guards the rest
	rates [Cells]cellRate
	total Rate // the sum of rates
}

// opShift leaves room for 2²⁴ operations and 2⁴⁰ bytes of a cell between two ticks.
const opShift = 40

type cellRate struct{ ops, bytes float32 }

// Count counts an operation on a key and the bytes of its request and reply. Any goroutine may call it; it
// costs one atomic addition.
func (m *Meter) Count(t ring.Token, bytes int) {
	m.counts[t>>cellShift].Add(1<<opShift | uint64(min(max(bytes, 0), 1<<opShift-1)))
}

// Tick brings the rates up to date. Call it about once a second, with the seconds since the last call.
func (m *Meter) Tick(seconds float64) {
	if !(seconds > 0) {
		return
	}
	weight := float32(1 - math.Exp(-seconds/memory))
	per := 1 / float32(seconds)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total = Rate{}
	for i := range m.counts {
		r := &m.rates[i]
		if m.counts[i].Load() == 0 {
			if *r == (cellRate{}) {
				continue
			}
			r.decay(weight)
		} else {
			n := m.counts[i].Swap(0)
			r.ops += (float32(n>>opShift)*per - r.ops) * weight
			r.bytes += (float32(n&(1<<opShift-1))*per - r.bytes) * weight
		}
		m.total.add(r.rate(), 1)
	}
}

// leastRate is the rate below which a cell counts as idle.
const leastRate = 1e-3

func (r *cellRate) decay(weight float32) {
	r.ops -= r.ops * weight
	r.bytes -= r.bytes * weight
	if r.ops < leastRate {
		*r = cellRate{}
	}
}

// Total returns the rate of all ranges together.
func (m *Meter) Total() Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total
}

// Rate returns the rate of a range. Cells that a range has a part of count in proportion.
func (m *Meter) Rate(r ring.Range) Rate {
	m.mu.Lock()
	defer m.mu.Unlock()
	var sum Rate
	for cell, share := range cellsOf(r) {
		sum.add(m.rates[cell].rate(), share)
	}
	return sum
}

func (r cellRate) rate() Rate { return Rate{float64(r.ops), float64(r.bytes)} }

// Hottest returns the range with the highest cost, and its rate. It reports false if no range has any load.
func (m *Meter) Hottest(ranges func(yield func(ring.Range) bool)) (hottest ring.Range, rate Rate, ok bool) {
	if m.Total().Cost() == 0 {
		return hottest, rate, false
	}
	for r := range ranges {
		if of := m.Rate(r); of.Cost() > rate.Cost() {
			hottest, rate, ok = r, of, true
		}
	}
	return hottest, rate, ok
}

// cellsOf goes over the cells of a range, with the share of each cell that the range has.
func cellsOf(r ring.Range) func(yield func(cell int, share float64) bool) {
	return func(yield func(int, float64) bool) {
		at, left := r.Start, r.Len()
		for left > 0 {
			n := min(left, uint64(cellSize-at%cellSize))
			if !yield(int(at>>cellShift), float64(n)/cellSize) {
				return
			}
			at, left = at+ring.Token(n), left-n
		}
	}
}
