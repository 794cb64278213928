package feed

import (
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// EachOwn says of each row what the state says of it by itself, and takes no memory: it is called
// several times a second, for thousands of rows.
func TestEachOwnAgreesWithTheStateOfEachRow(t *testing.T) {
	backups := make([][]string, 64)
	for i := range backups {
		backups[i] = [][]string{nil, {"n1"}, {"n2"}}[i%3]
	}
	st := officeState(t, backups...)
	hub := New(t.Context(), Config{Self: "n0", Incarnation: 1})
	f := &hub.primary
	f.mu.Lock()
	f.state.applyTransition(f.state.planTransition(st, f.isDrained), st)
	f.state.markJoined("n1", f.state.terms)
	f.heldRanges = []ring.Range{f.state.terms[3].Range, f.state.terms[5].Range}
	f.mu.Unlock()
	// A later table has rows that the state does not know yet.
	row, _ := st.Row(f.state.terms[7].Range.Start)
	later := then(t, st, &table.Release{Node: "n1", Rows: []table.Ref{row.Ref()}})
	row, _ = later.Row(f.state.terms[10].Range.Start)
	later = then(t, later, &table.CutOver{To: "n1", Incarnation: 1, Rows: []table.Ref{row.Ref()}})
	for _, st := range []*table.State{st, later} {
		opens, drains := 0, 0
		check := func(row *table.Row, open, drained bool) {
			if want := f.state.serves(row); open != want || drained != (want && within(row.Range, f.heldRanges)) {
				t.Errorf("%v: open %v, want %v, drained %v", row.Range, open, want, drained)
			}
			if open {
				opens++
			}
			if drained {
				drains++
			}
		}
		hub.EachOwn(st, check)
		if opens < 40 || opens >= 64 || drains == 0 {
			t.Errorf("%d rows are open, %d drained", opens, drains)
		}
	}
	if n := testing.AllocsPerRun(10, func() { hub.EachOwn(st, func(*table.Row, bool, bool) {}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
