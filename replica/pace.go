package replica

import (
	"context"
	"sync"
	"time"
)

// A bucket bounds how many bytes a second the copies of a node send together.
type bucket struct {
	mu   sync.Mutex
	debt int64 // bytes that were sent and are not yet paid for
	paid time.Time
	rate int64 // bytes a second; 0 is no bound
}

// take notes what has been sent.
func (b *bucket) take(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rate > 0 {
		b.debt += n
	}
}

// wait returns how long a copy has to wait under a rate, which may have changed.
func (b *bucket) wait(rate int64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if rate != b.rate {
		// What was sent under another rate is not held against this one.
		b.rate, b.debt, b.paid = rate, 0, now
	}
	if rate == 0 {
		return 0
	}
	// A float, since bytes times nanoseconds need not fit.
	b.debt = max(0, b.debt-int64(now.Sub(b.paid).Seconds()*float64(rate)))
	b.paid = now
	return time.Duration(float64(b.debt) / float64(rate) * float64(time.Second))
}

// rest leaves the machine to clients for a time in proportion to what a step of a copy
// has taken, and to how much clients want.
func (e *Engine) rest(ctx context.Context, worked time.Duration) {
	if e.cfg.Requests == nil {
		return
	}
	busy := min(1, e.cfg.Requests()/busyRequests)
	if d := time.Duration(restMost * busy * float64(worked)); d > 100*time.Microsecond {
		pause(ctx, min(d, slice))
	}
}
