package replica

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
)

// After the end of either side in the middle of a copy, only what differs is sent again,
// and what was deleted meanwhile goes.
func TestCopyResumes(t *testing.T) {
	for _, who := range []string{"n1", "n2"} {
		t.Run(who, func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) {
				c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
				defer c.close()
				source := c.stores["n1"]
				want := make(map[string]int)
				source.mu.Lock()
				for i := range 600 {
					key := fmt.Sprint("key", i)
					source.put(key, i)
					want[key] = i
				}
				source.mu.Unlock()
				throttle := int64(1000)
				if err := c.agreed.decide(&table.SetMoves{Throttle: &throttle}); err != nil {
					t.Fatal(err)
				}
				c.join("n2")
				for source.sentKeys() < 100 {
					time.Sleep(100 * time.Millisecond)
				}
				c.crash(who)
				before := source.sentKeys()
				st := c.agreed.State()
				deleted := 0
				for key := range c.stores["n2"].all() {
					if st.Placement().Lookup(tokenOf(key)).Primary == "n1" && deleted < 10 {
						source.mu.Lock()
						source.change(pair{Key: key})
						source.mu.Unlock()
						delete(want, key)
						deleted++
					}
				}
				if deleted == 0 {
					t.Fatal("the receiver has nothing of what it does not serve yet")
				}
				time.Sleep(5 * time.Second)
				c.join(who)
				throttle = 0
				if err := c.agreed.decide(&table.SetMoves{Throttle: &throttle}); err != nil {
					t.Fatal(err)
				}
				c.settle("a join")
				if faults := c.check(want); faults > 0 {
					t.Errorf("%d faults", faults)
				}
				moved := len(c.stores["n2"].all())
				if sent := source.sentKeys(); sent > moved+deleted+5 {
					t.Errorf("%d keys were sent, %d of them before one side ended, for %d that moved", sent, before, moved)
				}
				if n := len(c.stores["n1"].all()) + moved; n != len(want) {
					t.Errorf("%d keys have become %d", len(want), n)
				}
			})
		})
	}
}

func (m *memory) sentKeys() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sent
}

func (m *memory) all() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.data)
}
