package stats

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

func TestAnswersAreCountedOnceTheyHaveLeft(t *testing.T) {
	get, set := &command.Row{ID: 0, Full: "get"}, &command.Row{ID: 1, Full: "set"}
	s := New(&command.Table{All: []*command.Row{get, set}})
	counted := func(command string) (n uint64, sum float64) {
		s.EachAnswered(func(name string, calls durations.Histogram) {
			if name == command {
				n, sum = calls.Count, calls.Sum
			}
		})
		return n, sum
	}
	var a Answers
	a.Arrived(time.Second)
	a.Add(get)
	a.Add(get)
	a.Add(nil)
	a.Arrived(2 * time.Second)
	a.Add(get)
	a.Add(set)
	a.Add(set)
	a.Drop(4) // both of set, one of get, and the one that is not timed
	if n, _ := counted("get"); n > 0 || a.Left() {
		t.Errorf("%d before they left, none waits: %v", n, a.Left())
	}
	a.Sent(s, 4*time.Second)
	if n, sum := counted("get"); n != 2 || sum != 6 {
		t.Errorf("get: %d in %v s", n, sum)
	}
	if n, _ := counted("set"); n > 0 || !a.Left() {
		t.Errorf("set: %d", n)
	}
	a.Drop(3)
	for i := range 3 * maxAnswerRuns {
		a.Add([]*command.Row{get, set}[i%2])
	}
	a.Sent(s, 4*time.Second)
	if n, _ := counted("get"); n != 2+maxAnswerRuns/2 {
		t.Errorf("get: %d", n)
	}
	if cap(a.runs) > keepAnswerRuns {
		t.Errorf("memory for %d is kept", cap(a.runs))
	}
	s.Reset()
	if n, _ := counted("get"); n > 0 {
		t.Errorf("%d after a reset", n)
	}
}
