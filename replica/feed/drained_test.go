package feed

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Rows that not all members have joined are not drained.
func TestWaitDrainedWaitsForJoins(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		hub := New(t.Context(), Config{Self: "n1", Incarnation: 1, Publish: func() {}})
		row := &rowTerm{
			Ref: table.Ref{Range: ring.Whole, Epoch: 1}, backups: []string{"n2"}, members: []string{"n2"},
			termState: &termState{notJoined: []string{"n2"}},
		}
		f := &hub.primary
		f.mu.Lock()
		f.state.beginSession("n2", 1)
		row.quorum = f.state.quorumOf(row.members)
		f.state.terms = []*rowTerm{row}
		f.mu.Unlock()
		of := []ring.Range{ring.Whole}
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := hub.WaitDrained(within, of); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one has not joined: %v", err)
		}
		f.mu.Lock()
		row.notJoined = nil
		f.wakeWaiters()
		f.mu.Unlock()
		if err := hub.WaitDrained(t.Context(), of); err != nil {
			t.Errorf("all have joined: %v", err)
		}
		hub.EndDrained(of)
	})
}
