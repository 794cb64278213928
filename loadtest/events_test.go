package loadtest

import (
	"context"
	"testing"
	"time"
)

// What has waited for balance says that it is there, though who watches for the event has not
// looked since.
func TestEventEndsWithTheWaitForBalance(t *testing.T) {
	es := &events{p: &play{began: time.Now()}}
	es.balanced() // of no event
	watching, stop := context.WithCancel(t.Context())
	e := &event{stop: stop}
	e.watching.Go(func() { <-watching.Done() })
	es.all = append(es.all, e)
	es.balanced()
	at := e.balanced
	if at <= 0 {
		t.Error("it is not noted")
	}
	if es.balanced(); e.balanced != at {
		t.Errorf("noted at %v, and at %v again", at, e.balanced)
	}
}
