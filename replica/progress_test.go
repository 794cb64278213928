package replica

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// What is handed over is counted at the node that had it, and nothing is left to tell
// of once all lies where it should.
func TestHandoffsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
