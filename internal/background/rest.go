package background

import "time"

// Rest pauses for so long, or until stop is closed. Work in the background that rests after each step for a multiple of
// the time that it took leaves the rest of the processor to requests.
func Rest(d time.Duration, stop <-chan struct{}) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}
