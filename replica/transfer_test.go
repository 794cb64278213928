package replica

import (
	"testing"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A portion closes all of its ranges to clients at its cutover, and its copies cost time in
// proportion to their number.
func TestPortionHasABoundedNumberOfRanges(t *testing.T) {
	const ranges, width = 3*portionRanges + 7, 1000
	h := new(table.Handoff)
	tr := &transfer{loads: make(map[ring.Range]ring.Load)}
	var rows []*table.Row
	for i := range ranges {
		r := ring.Range{Start: ring.Token(i * width), End: ring.Token((i + 1) * width)}
		h.Pieces = append(h.Pieces, ring.Piece{Range: r, Primary: i%2 == 0 || i < 2*portionRanges})
		rows = append(rows, &table.Row{Row: ring.Row{Range: r}})
		tr.loads[r] = ring.Load{Keys: 1, Bytes: 1}
	}
	var sizes []int
	for len(rows) > 0 {
		p := tr.portion(h, rows)
		for i, r := range p.ranges {
			if piece, _ := h.Carries(r); r != rows[i].Range || piece.Primary != p.primary {
				t.Fatalf("range %d of a portion is %v, primary %v", i, r, piece.Primary)
			}
		}
		sizes = append(sizes, len(p.ranges))
		rows = rows[len(p.ranges):]
	}
	if len(sizes) < 3 || sizes[0] != portionRanges || sizes[1] != portionRanges {
		t.Errorf("portions of %v ranges", sizes)
	}
	for _, n := range sizes {
		if n < 1 || n > portionRanges {
			t.Errorf("a portion of %d ranges", n)
		}
	}
}
