package table

import (
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// The stores p, b and c hold a range, p as its primary.
func TestRecoveredRangeContinuesAtCompleteCopy(t *testing.T) {
	lossy := func(p *Node) { p.Incarnation, p.Intact = 2, false }
	for _, test := range []struct {
		name    string
		primary func(p *Node) // what became of p after the row's epoch began
		left    string        // ids; capitals may have lost something by their directories
		heir    string        // empty: the range is lost
		doubt   bool
	}{
		{"all are complete", func(*Node) {}, "bcp", "p", false},
		{"the primary restarted and lost nothing", func(p *Node) { p.Incarnation = 2 }, "pb", "p", false},
		{"the primary restarted and may have lost writes", lossy, "pbc", "b", false},
		{"likewise, and the first backup is away", lossy, "pc", "c", false},
		{"likewise, and no backup is left", lossy, "p", "p", true},
		{"likewise, and the backup may have lost writes", lossy, "pB", "p", true},
		{"the primary has a new directory", func(p *Node) { p.Incarnation, p.Anew, p.Intact = 2, 2, false }, "pb", "b", false},
		{"likewise, and no backup is left", func(p *Node) { p.Incarnation, p.Anew, p.Intact = 2, 2, false }, "p", "", false},
		{"the primary's directory may have lost writes", func(*Node) {}, "Pb", "b", false},
		{"those of the primary and a backup may", func(*Node) {}, "PBc", "c", false},
		{"all directories may have lost writes", func(*Node) {}, "BCP", "p", true},
		{"the primary is away, and the first backup may have lost writes", func(*Node) {}, "Bc", "c", false},
		{"the primary is away, and the only backup may have lost writes", func(*Node) {}, "B", "b", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := stateOf("b c p")
			s.cluster, s.lastLineage = found("p", 1).Cluster, 1
			for i := range s.nodes {
				s.nodes[i].Weight, s.nodes[i].Intact = 1, true
			}
			at, _ := place(s.nodes, "p")
			test.primary(&s.nodes[at])
			whole := Row{Row: ring.Row{Epoch: 1, Primary: "p", Backups: []string{"b", "c"}}, Lineage: 1, Version: 1, Incarnation: 1}
			s.rows = chunked([]Row{whole}, new(mark))
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			var left []Survivor
			for _, id := range test.left {
				left = append(left, Survivor{ID: string(id | 0x20), Incomplete: id < 'a'})
			}
			r := s.Recover(s.Index()+1, 9, left)
			if err := r.State.Check(); err != nil {
				t.Fatal(err)
			}
			row, _ := r.State.Row(0)
			switch {
			case test.heir == "":
				if r.Lost != 1 || r.Doubtful != 0 {
					t.Errorf("%+v", r)
				}
			case row.Primary != test.heir || len(row.Backups) > 0 || r.Lost > 0:
				t.Errorf("the range continues at %s with %v, want %s", row.Primary, row.Backups, test.heir)
			case r.Doubtful != 0 != test.doubt || slices.Contains(r.Incomplete, test.heir) != test.doubt:
				t.Errorf("%d ranges at %v may lack writes, want %v", r.Doubtful, r.Incomplete, test.doubt)
			case r.Ranges+r.Promoted != 1 || (r.Ranges == 1) != (test.heir == "p"):
				t.Errorf("%d ranges stayed, %d moved", r.Ranges, r.Promoted)
			}
		})
	}
}
