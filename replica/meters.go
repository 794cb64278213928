package replica

import (
	"sync"
	"sync/atomic"
	"time"
)

// A progressCounter counts how much of a total is done.
type progressCounter struct{ done, total atomic.Int64 }

func (f *progressCounter) set(done, total int64) {
	f.done.Store(done)
	f.total.Store(total)
}

// A rateMeter measures bytes a second over the last seconds.
type rateMeter struct {
	mu    sync.Mutex
	at    time.Time
	bytes int64
	rate  float64
}

// ratePeriod is the approximate period that a rate is measured over.
const ratePeriod = 2 * time.Second

func (s *rateMeter) add(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.at.IsZero() {
		s.at = now
	}
	s.bytes += n
	if d := now.Sub(s.at); d >= ratePeriod/4 {
		rate := float64(s.bytes) / d.Seconds()
		if s.rate != 0 {
			weight := min(1, float64(d)/float64(ratePeriod))
			rate = s.rate + (rate-s.rate)*weight
		}
		s.at, s.bytes, s.rate = now, 0, rate
	}
}

// get returns the rate; 0 if nothing was added for a while.
func (s *rateMeter) get() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > 2*ratePeriod {
		return 0
	}
	return s.rate
}

// addProgress adds keys and bytes that a copy has completed.
func (t *transfer) addProgress(keys, bytes int64) {
	t.keys.done.Add(keys)
	t.bytes.done.Add(bytes)
	if bytes > 0 {
		t.recent.add(bytes)
	}
}
