package status

import (
	"fmt"
	"strings"
)

// shares draws what part of the circle each node serves, as bars, and how that
// compares with the part that its weight asks for.
func (d *drawing) shares() {
	weights, most := 0.0, 0.0
	var rows []*Node
	for i := range d.r.Nodes {
		n := &d.r.Nodes[i]
		counts := n.Role == "store" && (n.State == Joining || n.State == Member)
		if counts {
			weights += n.Weight
		}
		if counts || n.Primaries > 0 {
			rows = append(rows, n)
			most = max(most, n.Share)
		}
	}
	if len(rows) == 0 {
		return
	}
	label := labels(d.ids, 18)
	cells := 0
	for _, n := range rows {
		cells = max(cells, width(label[n.ID]))
	}
	d.out.WriteString("\nshare of the ring, and that by its part of the weights\n")
	for _, n := range rows[:min(len(rows), mostGridNodes)] {
		text := fmt.Sprintf(" %5s %%", percent(n.Share))
		if fair := n.Share / (n.Weight / weights); fair < 1000 && n.State != Leaving {
			text += fmt.Sprintf("  %.2f ×", fair)
		}
		room := d.cells - cells - 1 - len(" 100.0 %  0000.00 ×")
		line := pad(label[n.ID], cells) + " " + pad(bar(n.Share, most, room), room) + text
		d.out.WriteString(line + "\n")
	}
	if more := len(rows) - mostGridNodes; more > 0 {
		d.line("and %s more", plural(more, "node"))
	}
}

// eighths are the blocks that a cell is filled with from the left.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws a part of the longest bar.
func bar(part, most float64, cells int) string {
	if !(part > 0) || !(most > 0) {
		return ""
	}
	n := max(int(part/most*float64(cells*8)+0.5), 1)
	return strings.Repeat("█", n/8) + eighths[n%8]
}
