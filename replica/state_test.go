package replica

import (
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// a set makes a state whose only row is served by p, with backups, each of incarnation 1.
func stateOf(t *testing.T, backups ...string) *table.State {
	t.Helper()
	st := new(table.State)
	step := func(c table.Command) {
		t.Helper()
		next, err := st.Apply(st.Index()+1, c)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		if err := next.Check(); err != nil {
			t.Fatal(err)
		}
		st = next
	}
	step(&table.Found{
		Cluster: table.Cluster{Name: "test", Generation: 1, Backups: 1, Strategy: table.Settings{Name: "ketama", Hash: "native", Points: 16}},
		Node:    "p", Incarnation: 1, Weight: 1, Rows: []ring.Row{{Range: ring.Whole, Epoch: 1, Primary: "p"}},
	})
	ref := func() []table.Ref { row, _ := st.Row(0); return []table.Ref{row.Ref()} }
	for _, b := range backups {
		step(&table.Register{Node: b, Incarnation: 1})
		step(&table.AddLearner{Node: b, Incarnation: 1, Rows: ref()})
		step(&table.Admit{Node: b, Incarnation: 1, Rows: ref()})
	}
	return st
}

func applied(t *testing.T, st *table.State, c table.Command) *table.State {
	t.Helper()
	next, err := st.Apply(st.Index()+1, c)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func rowRef(t *testing.T, st *table.State, at ring.Token) table.Ref {
	t.Helper()
	row, ok := st.Row(at)
	if !ok {
		t.Fatal("no row")
	}
	return row.Ref()
}
