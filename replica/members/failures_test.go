package members

import (
	"slices"
	"testing"
	"time"
)

func TestFailuresAreTakenOnceTheyHaveLasted(t *testing.T) {
	at := time.Unix(1000, 0)
	f := failures{"old": at, "new": at.Add(failedGrace / 2), "left": at}
	delete(f, "left") // it has left, or is there again
	for _, tt := range []struct {
		after time.Duration
		want  []string
	}{{0, nil}, {failedGrace - 1, nil}, {failedGrace, []string{"old"}}, {failedGrace, nil}, {2 * failedGrace, []string{"new"}}, {9 * failedGrace, nil}} {
		if got := f.take(at.Add(tt.after)); !slices.Equal(got, tt.want) {
			t.Errorf("after %v: %q, want %q", tt.after, got, tt.want)
		}
	}
}
