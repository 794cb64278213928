package background

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestOthersRunWhileOneYields has a goroutine that computes on the only processor: one that can run does so at one of
// the next yields, and what OnYield lists is called at each until it is ended.
func TestOthersRunWhileOneYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran atomic.Bool
	woken := 0
	end := OnYield(func() { woken++ })
	other := OnYield(func() {})
	go func() { ran.Store(true) }()
	yields := 0
	for ; !ran.Load() && yields < 1000; yields++ {
		Yield()
	}
	if !ran.Load() || woken != yields {
		t.Errorf("after %d yields: another goroutine ran: %t, woken %d times", yields, ran.Load(), woken)
	}
	end()
	Yield()
	if woken != yields {
		t.Errorf("woken %d times after the end, want %d", woken, yields)
	}
	other()
	if all := *wakes.Load(); len(all) != 0 {
		t.Errorf("%d are listed still", len(all))
	}
}

// TestPacerYieldsNowAndThen counts the yields of a Pacer.
func TestPacerYieldsNowAndThen(t *testing.T) {
	woken := 0
	defer OnYield(func() { woken++ })()
	var pace Pacer
	for range 10 * yieldEach {
		pace.Step()
	}
	if woken != 10 {
		t.Errorf("%d yields in %d steps, want 10", woken, 10*yieldEach)
	}
}
