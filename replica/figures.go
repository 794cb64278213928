package replica

import (
	"sync"
	"sync/atomic"
	"time"
)

// A figure is how much of something is done.
type figure struct{ done, total atomic.Int64 }

func (f *figure) set(done, total int64) {
	f.done.Store(done)
	f.total.Store(total)
}

// A speed is bytes a second over the last seconds.
type speed struct {
	mu    sync.Mutex
	at    time.Time
	bytes int64
	rate  float64
}

// speedOver is about over how long a speed is taken.
const speedOver = 2 * time.Second

func (s *speed) add(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.at.IsZero() {
		s.at = now
	}
	s.bytes += n
	if d := now.Sub(s.at); d >= speedOver/4 {
		rate := float64(s.bytes) / d.Seconds()
		if s.rate != 0 {
			weight := min(1, float64(d)/float64(speedOver))
			rate = s.rate + (rate-s.rate)*weight
		}
		s.at, s.bytes, s.rate = now, 0, rate
	}
}

// get is 0 if nothing has come for a while.
func (s *speed) get() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > 2*speedOver {
		return 0
	}
	return s.rate
}

// passed notes what a copy has come by.
func (t *transfer) passed(keys, bytes int64) {
	t.keys.done.Add(keys)
	t.bytes.done.Add(bytes)
	if bytes > 0 {
		t.recent.add(bytes)
	}
}
