package sim

import (
	"context"
	"runtime"
	"sync"
)

// chunkKeys is how many keys a worker takes at a time. At thousands of nodes a key can
// take ten microseconds, and the context is looked at in between.
const chunkKeys = 4096

func chunks(n int) int { return (n + chunkKeys - 1) / chunkKeys }

func workers() int { return runtime.GOMAXPROCS(0) }

// inParallel has all of 0..n-1 done in chunks by [workers] goroutines, which it waits
// for. do is given the number of its worker, of the chunk, and the chunk itself. report,
// if not nil, is told what part is done, by one goroutine at a time. The error is
// that of the context.
func inParallel(ctx context.Context, n int, report func(part float64), do func(worker, chunk, from, to int)) error {
	var mu sync.Mutex
	next, done := 0, 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next == chunks(n) || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	finish := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		if report != nil {
			report(float64(done) / float64(chunks(n)))
		}
	}
	var wait sync.WaitGroup
	for worker := range workers() {
		wait.Go(func() {
			for chunk, ok := take(); ok; chunk, ok = take() {
				do(worker, chunk, chunk*chunkKeys, min(n, (chunk+1)*chunkKeys))
				finish()
			}
		})
	}
	wait.Wait()
	return ctx.Err()
}
