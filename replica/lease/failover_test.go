package lease

import (
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// a set makes a state whose only row is served by p, with backups, each of incarnation 1.
func setOf(t *testing.T, backups ...string) *table.State {
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

func restarted(t *testing.T, st *table.State, node string, intact bool) *table.State {
	t.Helper()
	n, _ := st.Node(node)
	next, err := st.Apply(st.Index()+1, &table.Register{Node: node, Incarnation: n.Incarnation + 1, Intact: intact})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestSuccession(t *testing.T) {
	at := func(last uint64) FenceReply { return FenceReply{Incarnation: 1, Last: last, Known: true} }
	full := func(last uint64) FenceReply {
		return FenceReply{Incarnation: 1, Last: last, Known: true, Refuses: true}
	}
	anew := FenceReply{Incarnation: 2} // answers since its second start, and knows nothing from before
	for _, test := range []struct {
		name    string
		backups []string
		restart map[string]bool // nodes that were started again: intact, or not
		answers map[string]FenceReply
		primary string // empty: the row waits
		rest    []string
	}{
		{
			name: "who has most goes on, and those behind it stay", backups: []string{"a", "b", "c"},
			answers: map[string]FenceReply{"a": at(7), "b": at(9), "c": at(8)},
			primary: "b", rest: []string{"c", "a"},
		},
		{
			name: "who does not answer leaves", backups: []string{"a", "b", "c"},
			answers: map[string]FenceReply{"a": at(7), "c": at(7)},
			primary: "a", rest: []string{"c"},
		},
		{
			name: "a backup that takes writes goes before one that refuses them", backups: []string{"a", "b"},
			answers: map[string]FenceReply{"a": full(7), "b": at(7)},
			primary: "b", rest: []string{"a"},
		},
		{
			name: "a backup that has more goes first although it refuses writes", backups: []string{"a", "b"},
			answers: map[string]FenceReply{"a": full(8), "b": at(7)},
			primary: "a", rest: []string{"b"},
		},
		{name: "nobody answers", backups: []string{"a", "b"}, answers: map[string]FenceReply{}},
		{
			name: "who was started again stays behind who was not", backups: []string{"a", "b"}, restart: map[string]bool{"a": true},
			answers: map[string]FenceReply{"a": anew, "b": at(0)},
			primary: "b",
		},
		{
			name: "an intact backup goes on if it must", backups: []string{"a", "b"}, restart: map[string]bool{"a": true, "b": true},
			answers: map[string]FenceReply{"a": anew, "b": anew},
			primary: "a",
		},
		{
			name: "a backup that has lost something has left the set", backups: []string{"a", "b"}, restart: map[string]bool{"a": false, "b": true},
			answers: map[string]FenceReply{"a": anew, "b": anew},
			primary: "b",
		},
		{
			name: "an answer from before the last start says nothing", backups: []string{"a"}, restart: map[string]bool{"a": true},
			answers: map[string]FenceReply{"a": at(5)},
		},
		{
			name: "the primary is back with everything, and nobody knows more", backups: []string{"a"}, restart: map[string]bool{"a": true, "p": true},
			answers: map[string]FenceReply{"a": anew, "p": anew},
			primary: "p",
		},
		{
			name: "the primary is back with everything, alone", backups: []string{"a"}, restart: map[string]bool{"p": true},
			answers: map[string]FenceReply{"p": anew},
			primary: "p",
		},
		{
			name: "the primary is back, but others were there all the time", backups: []string{"a"}, restart: map[string]bool{"p": true},
			answers: map[string]FenceReply{"a": at(3), "p": anew},
			primary: "a",
		},
		{
			name: "the primary is back and has lost something", backups: []string{"a", "b"}, restart: map[string]bool{"b": true, "p": false},
			answers: map[string]FenceReply{"b": anew, "p": anew},
			primary: "b",
		},
		{
			name: "the primary is back, has lost something, and nobody else is there", backups: []string{"a"}, restart: map[string]bool{"p": false},
			answers: map[string]FenceReply{"p": anew},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			st := setOf(t, test.backups...)
			for _, node := range []string{"a", "b", "c", "p"} {
				if intact, is := test.restart[node]; is {
					st = restarted(t, st, node, intact)
				}
			}
			v := NewFailover(st, NodeStart{"p", 1})
			v.Answers = test.answers
			entry := v.Command()
			if test.primary == "" {
				if entry != nil {
					t.Errorf("%+v", entry)
				}
				return
			}
			if entry == nil || len(entry.Rows) != 1 {
				t.Fatalf("%+v", entry)
			}
			got := entry.Rows[0]
			if got.Primary != test.primary || !slices.Equal(got.Backups, test.rest) {
				t.Errorf("%s before %v", got.Primary, got.Backups)
			}
			next, err := st.Apply(st.Index()+1, entry)
			if err != nil {
				t.Fatal(err)
			}
			if err := next.Check(); err != nil {
				t.Error(err)
			}
			row, _ := next.Row(0)
			if now, _ := next.Node(test.primary); row.Incarnation != now.Incarnation || row.Epoch != 2 {
				t.Errorf("%+v", row)
			}
		})
	}
}

// Rows without another member wait for their primary: there is nobody to ask.
func TestRowsOfOneCopyAreNotVacant(t *testing.T) {
	if rows := rowsOfStart(setOf(t), "p"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}
