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

// A crew does the work of one simulation: on how many cores, until when, and whom it
// tells how far it is.
type crew struct {
	ctx     context.Context
	workers int
	report  func(done, total int, what string)

	// A task is a part of the work, and all tasks count alike.
	tasks, task int
	told        int
	what        string
}

// taskParts is how finely the progress of a task is told.
const taskParts = 100

func newCrew(ctx context.Context, report func(done, total int, what string)) *crew {
	return &crew{ctx: ctx, workers: runtime.GOMAXPROCS(0), report: report, tasks: 1, told: -1}
}

// begin names the task that is next, as progress shows it.
func (c *crew) begin(what string) {
	c.what = what
	c.tell(0)
}

func (c *crew) finish() {
	c.task++
	c.tell(0)
}

// tell says which part of the task is done. Nobody else may do so meanwhile.
func (c *crew) tell(part float64) {
	done := c.task*taskParts + int(part*taskParts)
	if c.report == nil || done <= c.told {
		return
	}
	c.told = done
	c.report(min(done, c.tasks*taskParts), c.tasks*taskParts, c.what)
}

// each has all of 0..n-1 done in chunks by the workers, which it waits for. do is given
// the number of its worker, of the chunk, and the chunk itself. from and to are the
// parts of the task that are done before and after. The error is that of the context.
func (c *crew) each(n int, from, to float64, do func(worker, chunk, from, to int)) error {
	var mu sync.Mutex
	next, done := 0, 0
	return c.apiece(func(worker int) {
		mu.Lock()
		for next < chunks(n) && c.ctx.Err() == nil {
			chunk := next
			next++
			mu.Unlock()
			do(worker, chunk, chunk*chunkKeys, min(n, (chunk+1)*chunkKeys))
			mu.Lock()
			done++
			c.tell(from + (to-from)*float64(done)/float64(chunks(n)))
		}
		mu.Unlock()
	})
}

// apiece has every worker do its own part, and waits for them. The error is that of
// the context.
func (c *crew) apiece(do func(worker int)) error {
	var wait sync.WaitGroup
	for worker := range c.workers {
		wait.Go(func() { do(worker) })
	}
	wait.Wait()
	return c.ctx.Err()
}
