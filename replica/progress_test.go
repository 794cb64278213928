package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// What is handed over is counted at the node that had it, and nothing is left to tell
// of once all lies where it should.
func TestHandoffsAreCounted(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		for i := range 50 {
			c.count(t.Context(), string(rune('a'+i)))
		}
		c.join("n2")
		for range 600 {
			if time.Sleep(time.Second); c.settled() {
				break
			}
		}
		synctest.Wait()
		from, to := c.nodes["n1"].engine, c.nodes["n2"].engine
		got := from.Totals()
		if got.Done == 0 || got.Ranges < got.Done || got.Held <= 0 || got.Copying <= 0 {
			t.Errorf("the source: %+v", got)
		}
		if got := to.Totals(); got != (Totals{}) {
			t.Errorf("the receiver: %+v", got)
		}
		if p := from.Progress(); len(p) > 0 {
			t.Errorf("%+v", p)
		}
	})
}

// fixed is a table that stays as it is.
type fixed struct{ st *table.State }

func (f fixed) State() *table.State                        { return f.st }
func (f fixed) Changes() (<-chan struct{}, func())         { return nil, func() {} }
func (f fixed) Apply(context.Context, table.Command) error { return nil }
func (f fixed) Leads() bool                                { return false }

func TestProgressIsTheSources(t *testing.T) {
	whole := ring.Piece{Range: ring.Range{End: 1 << 31}, Primary: true, Release: "a"}
	st := new(table.State)
	for _, c := range []table.Command{
		&table.Found{
			Cluster: table.Cluster{Name: "test", Generation: 1, Strategy: table.Settings{Name: "buckets"}},
			Node:    "a", Incarnation: 1, Weight: 1,
			Rows: []ring.Row{
				{Range: ring.Range{End: 1 << 31}, Epoch: 1, Primary: "a"},
				{Range: ring.Range{Start: 1 << 31}, Epoch: 1, Primary: "a"},
			},
		},
		&table.Register{Node: "b", Incarnation: 1},
		&table.Plan{Basis: 2, Handoffs: []table.Handoff{{From: "a", To: "b", Pieces: []ring.Piece{whole}}}},
	} {
		next, err := st.Apply(st.Index()+1, c)
		if err != nil {
			t.Fatal(err)
		}
		st = next
	}
	a := &Engine{cfg: Config{Self: "a", Table: fixed{st}}}
	got := a.Progress()
	if len(got) != 1 || got[0].From != "a" || got[0].To != "b" || got[0].Ranges != 1 || got[0].Phase != "planned" {
		t.Errorf("the source: %+v", got)
	}
	b := &Engine{cfg: Config{Self: "b", Table: fixed{st}}}
	if got := b.Progress(); len(got) != 0 {
		t.Errorf("the receiver: %+v", got)
	}
}

// While a handoff goes on it tells how far it is, at the rate that it was given.
func TestProgressTellsHowFarItIs(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		source := c.stores["n1"]
		source.mu.Lock()
		for i := range 2000 {
			source.put(fmt.Sprint("key", i), i)
		}
		source.mu.Unlock()
		rate := int64(200)
		order := func(m *table.SetMoves) {
			t.Helper()
			if err := c.agreed.decide(m); err != nil {
				t.Fatal(err)
			}
		}
		order(&table.SetMoves{Throttle: &rate})
		c.join("n2")
		engine := c.nodes["n1"].engine
		now := func() Progress {
			t.Helper()
			all := engine.Progress()
			if len(all) != 1 {
				t.Fatalf("%+v", all)
			}
			return all[0]
		}
		time.Sleep(20 * time.Second)
		first, sent := now(), source.sentKeys()
		time.Sleep(20 * time.Second)
		second := now()
		if first.KeysDone == 0 || second.KeysDone <= first.KeysDone || second.KeysDone > second.KeysTotal {
			t.Errorf("%d of %d keys, then %d", first.KeysDone, first.KeysTotal, second.KeysDone)
		}
		if second.Started.IsZero() || second.Waits != "" || second.Cause != NotWaiting || second.To != "n2" {
			t.Errorf("%+v", second)
		}
		// A key and its number take some 30 bytes here.
		if keys := source.sentKeys() - sent; keys < 20*200/60 || keys > 20*200/15 {
			t.Errorf("%d keys in 20 s at %d bytes a second", keys, rate)
		}
		yes, no := true, false
		order(&table.SetMoves{Paused: &yes})
		time.Sleep(time.Second)
		sent = source.sentKeys()
		time.Sleep(time.Minute)
		if source.sentKeys() != sent || now().Waits != "paused" || now().Cause != Paused {
			t.Errorf("%d keys while it was paused: %+v", source.sentKeys()-sent, now())
		}
		rate = 0
		order(&table.SetMoves{Throttle: &rate, Paused: &no})
		c.settle("a join")
		if all := engine.Progress(); len(all) > 0 {
			t.Errorf("%+v", all)
		}
	})
}
