package table

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func TestOwnerIsTheNameWithTheData(t *testing.T) {
	row := func(start, end ring.Token, primary string, backups ...string) Row {
		r := Row{Lineage: 1}
		r.Range, r.Primary, r.Backups = ring.Range{Start: start, End: end}, primary, backups
		return r
	}
	for _, test := range []struct {
		name string
		rows []Row
		want string
	}{
		{"ranges that nobody else has", []Row{row(0, 1<<30, "old"), row(1<<30, 1<<31, "new", "other"), row(1<<31, 0, "new", "other")}, "old"},
		{"most ranges", []Row{row(0, 1<<30, "old", "other"), row(1<<30, 1<<31, "other", "new"), row(1<<31, 0, "new", "other")}, "new"},
		{"the last start", []Row{row(0, 0, "other")}, "new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &State{nodes: []Node{
				{ID: "new", Server: "s", Incarnation: 2}, {ID: "old", Server: "s", Incarnation: 1}, {ID: "other", Server: "t", Incarnation: 3},
			}}
			s.rows = chunked(test.rows, new(mark))
			r := &Remains{Server: "s", State: s}
			if got := r.Owner(nil); got != test.want {
				t.Errorf("%q, not %q", got, test.want)
			}
		})
	}
	s := &State{nodes: []Node{{ID: "host-x", Server: "before", Incarnation: 1}}}
	r := &Remains{Server: "s", State: s}
	if got := r.Owner(func(name string) bool { return name == "host-x" }); got != "host-x" {
		t.Errorf("by its name: %q", got)
	}
	if got := r.Owner(nil); got != "" {
		t.Errorf("none: %q", got)
	}
}
