package latch

import (
	"sync"
	"testing"
)

// While a unit takes long, others that wait for it hold no latch of another key, however many
// they are.
func TestUnitsHoldNothingWhileTheyWaitForAScript(t *testing.T) {
	var l Table
	const script = 7
	l.MarkLong([]uint16{script})
	l.Lock([]uint16{script})
	var begun, waiting sync.WaitGroup
	begun.Add(20)
	for i := range uint16(20) {
		waiting.Go(func() {
			begun.Done()
			l.Unlock(l.Lock([]uint16{1, 2, 3 + i%3, script, 100 + i, 200}))
		})
	}
	begun.Wait()
	// Each latch comes free, again and again, as they come to wait.
	taken := 0
	for range 1000 {
		for n := range uint16(300) {
			if n != script {
				l[n].mu.Lock()
				taken++
				l[n].mu.Unlock()
			}
		}
	}
	if taken == 0 {
		t.Error("no latch was taken")
	}
	if _, ok := l.LockWithin([]uint16{1, script, 200}); ok {
		t.Error("a latch is held, and was taken")
	}
	l.Unlock([]uint16{script})
	l.UnmarkLong([]uint16{script})
	waiting.Wait()
	for n := range l {
		if !l[n].mu.TryLock() || l[n].long.Load() != 0 {
			t.Errorf("latch %d is still held", n)
		}
	}
}
