package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// processTime is the processor time that this process has used, in ns: what an operation
// costs on a machine that others use, too.
func processTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// manyRanges cuts the circle into ranges that take turns between sets.
func manyRanges(n, sets int) [][]ring.Range {
	parts := make([][]ring.Range, sets)
	step := (1 << 32) / uint64(n)
	for i := range n {
		start, end := ring.Token(uint64(i)*step), ring.Token(uint64(i+1)*step)
		if i == n-1 {
			end = 0
		}
		parts[i%sets] = append(parts[i%sets], ring.Range{Start: start, End: end})
	}
	return parts
}

// BenchmarkFollowed is what it costs that a store is followed: one operation is a SET, in
// units of 16 of random keys from four goroutines, whose replies wait. Of 170 ranges each
// goes to one of two sets.
func BenchmarkFollowed(b *testing.B) {
	for _, kind := range []string{"none", "acked", "later"} {
		b.Run(kind, func(b *testing.B) { benchFollowed(b, kind) })
	}
}

func benchFollowed(b *testing.B, kind string) {
	s, keys := benchStore(b, 256<<20)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	if kind != "none" {
		for _, ranges := range manyRanges(170, 2) {
			var tap *Tap
			numbers := make(chan uint64, 1<<10)
			tap, err := s.Tap(func(c Change) {
				if kind == "acked" {
					tap.Acked(c.Number)
				} else {
					numbers <- c.Number
				}
			}, ranges...)
			if err != nil {
				b.Fatal(err)
			}
			waiting.Go(func() {
				for n := range numbers {
					tap.Acked(n)
				}
			})
			defer tap.Close(nil)
			defer close(numbers)
		}
	}
	value := bytes.Repeat([]byte("y"), 64)
	b.ReportAllocs()
	b.SetParallelism(2)
	b.ResetTimer()
	before := processTime()
	b.RunParallel(func(pb *testing.PB) {
		u := s.NewUnit()
		batch := make([][]byte, 16)
		places := make([]Place, len(batch))
		pending := make(chan struct{}, 8)
		for more := true; more; {
			for i := range batch {
				batch[i] = keys[rand.IntN(benchKeys)]
				places[i] = u.Place(batch[i])
				more = pb.Next() && more
			}
			u.Begin(1, places)
			for _, key := range batch {
				v, err := u.Get(key)
				if err == nil {
					err = u.PutString(key, v, value, 0, false)
				}
				if err != nil {
					b.Error(err)
				}
			}
			pending <- struct{}{}
			if _, err := u.Commit(settledBy(func() { <-pending })); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(processTime()-before)/float64(b.N), "cpu-ns/op")
}

// A settledBy is a Waiter.
type settledBy func()

func (f settledBy) Settled(error) { f() }

// BenchmarkReceived is what it costs to follow: one operation is a SET that has come in
// a batch of 16, of which so many are applied at a time.
func BenchmarkReceived(b *testing.B) {
	for _, group := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprint(group), func(b *testing.B) { benchReceived(b, group) })
	}
}

func benchReceived(b *testing.B, group int) {
	s, keys := benchStore(b, 256<<20)
	ranges := manyRanges(170, 2)
	rc := s.NewReceiver(append(ranges[0], ranges[1]...)...)
	defer rc.Close()
	line := (&layout.Header{Type: String, Value: bytes.Repeat([]byte("y"), 64)}).Append(nil)
	batches := make([][]byte, 1<<12)
	for i := range batches {
		w := ops.NewWriter(0, 1600)
		for range 16 {
			w.Add(&ops.Op{Kind: ops.Put, Key: keys[rand.IntN(benchKeys)], A: line})
		}
		batches[i] = w.Buf
	}
	pending := make(chan struct{}, 8)
	b.ReportAllocs()
	b.ResetTimer()
	before := processTime()
	for i := 0; i < b.N; i += 16 * group {
		at := i / 16 % len(batches)
		pending <- struct{}{}
		wait, err := rc.ApplyAll(batches[at:min(at+group, len(batches))], settledBy(func() { <-pending }))
		if err != nil || !wait {
			b.Fatal(wait, err)
		}
	}
	b.ReportMetric(float64(processTime()-before)/float64(b.N), "cpu-ns/op")
}
