package client

import (
	"sync/atomic"
	"time"
)

const (
	// strainTick is how often a goroutine wants to run that finds out how long it has to
	// wait for that, and strainLate from when on it waited for a processor: timers of an
	// idle process are up to a millisecond late anyway.
	strainTick = 5 * time.Millisecond
	strainLate = 2 * time.Millisecond
)

// A strain finds out for which share of time goroutines had to wait for a processor. It
// tells nothing of why: other processes may have taken it, or servers in this one.
type strain struct {
	late, all atomic.Int64 // nanoseconds
}

// watch goes on until it is told to stop.
func (s *strain) watch(stop <-chan struct{}) {
	t := time.NewTimer(strainTick)
	defer t.Stop()
	for from := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-t.C:
		}
		now := time.Now()
		took := now.Sub(from)
		s.all.Add(int64(took))
		if took > strainTick+strainLate {
			s.late.Add(int64(took))
		}
		from = now
		t.Reset(strainTick)
	}
}

func (s *strain) share() float64 {
	all := s.all.Load()
	if all == 0 {
		return 0
	}
	return float64(s.late.Load()) / float64(all)
}
