package background

import (
	"testing"
	"time"
)

// A rest ends with its time, or when the work is to end.
func TestRestEnds(t *testing.T) {
	stop := make(chan struct{})
	began := time.Now()
	Rest(time.Millisecond, stop)
	if took := time.Since(began); took < time.Millisecond {
		t.Errorf("a rest of a millisecond took %v", took)
	}
	Rest(-time.Hour, stop)
	close(stop)
	Rest(24*time.Hour, stop)
}
