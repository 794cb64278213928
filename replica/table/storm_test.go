package table

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While leaders die and come back, nodes change rows. Nothing that was answered is
// lost, nothing is applied twice, and what is not known is applied once or not at
// all: the row's version counts.
func TestNothingIsLostOrAppliedTwiceWhileLeadersDie(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		g.start(3)
		var workers sync.WaitGroup
		var succeeded, unknown [3]atomic.Uint64 // by row
		stop := make(chan struct{})
		for w := range 3 {
			workers.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(50 * time.Millisecond):
					}
					g.mu.Lock()
					at := g.tables[nodeID(w)]
					g.mu.Unlock()
					if at == nil {
						continue
					}
					for i := range 3 {
						err := toggle(at, i)
						switch {
						case err == nil:
							succeeded[i].Add(1)
						case errors.Is(err, ErrUnknownOutcome):
							unknown[i].Add(1)
						case !IsRefused(err) && !errors.Is(err, ErrNoLeader) && !errors.Is(err, ErrClosed):
							t.Error(err)
						}
					}
				}
			})
		}
		for range 4 {
			<-time.After(time.Second)
			g.until(func() bool { return g.leader() != nil }, "there is a leader")
			id, _ := g.leader().Leader()
			g.kill(id)
			<-time.After(time.Second)
			g.open(id)
		}
		close(stop)
		workers.Wait()
		g.until(func() bool { return g.leader() != nil && g.alike() }, "all tables are alike")
		var all, open uint64
		for i := range 3 {
			s := g.leader().State()
			changes := rowAt(s, i).Version - 1
			sure, maybe := succeeded[i].Load(), unknown[i].Load()
			if changes < sure || changes > sure+maybe {
				t.Errorf("row %d changed %d times; %d changes succeeded, of %d nothing is known", i, changes, sure, maybe)
			}
			all, open = all+sure, open+maybe
		}
		t.Logf("%d changes succeeded, of %d nothing was known", all, open)
		if all < 100 {
			t.Error("that tests little")
		}
	})
}

func rowAt(s *State, i int) *Row {
	n := 0
	for row := range s.Rows() {
		if n == i {
			return row
		}
		n++
	}
	return nil
}

// toggle makes n1 a learner of a row, or no learner any more.
func toggle(at *Table, i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	row := rowAt(at.State(), i)
	if row == nil {
		return ErrNoLeader
	}
	var c Command = &AddLearner{Rows: []Ref{row.Ref()}, Node: "n1", Incarnation: 1}
	if row.learns("n1") {
		c = &DropLearner{[]Ref{row.Ref()}, "n1"}
	}
	_, err := at.Apply(ctx, c)
	return err
}
