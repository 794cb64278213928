package table

import (
	"testing"
	"time"
)

// Who waits for a decision, as clients do whose range changes hands, waits for no timer.
func TestDecisionsReachAllWaitersAtOnce(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(5)
		var latest time.Duration
		for i := range 40 {
			<-time.After(time.Duration(i) * 7 * time.Millisecond)
			at := g.tables[nodeID(i%5)]
			done, err := at.Apply(g.context(), &SetWeight{"n1", 1, float64(1 + i%3)})
			if err != nil {
				t.Fatal(err)
			}
			decided := time.Now()
			for _, table := range g.tables {
				if err := table.Wait(g.context(), done.Index); err != nil {
					t.Fatal(err)
				}
			}
			latest = max(latest, time.Since(decided))
		}
		t.Logf("the last node knew %v later", latest)
		if latest > 5*time.Millisecond {
			t.Error("somebody waited for a timer")
		}
	})
}

// A decision that some have not heard of is one that they get with the next word.
func TestCommitNotificationIsLimitedToStoredEntries(t *testing.T) {
	virtually(t, "", func(t *testing.T, g *group) {
		g.start(5)
		leader, _ := g.leader().Leader()
		behind := g.others(leader)[0]
		g.link(leader, behind, false)
		for i := range 20 {
			g.must(g.tables[leader].Apply(g.context(), &SetWeight{"n1", 1, float64(1 + i%3)}))
		}
		g.link(leader, behind, true)
		g.must(g.tables[leader].Apply(g.context(), &SetWeight{"n1", 1, 9}))
		g.until(g.alike, "all tables are alike")
	})
}
