package status

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
)

// Bounds of a grid.
const (
	// mostCells keeps a grid readable: beyond it a cell stands for several buckets.
	mostCells = 256
	// fewBuckets are drawn with room between them, and sums, as by hand.
	fewBuckets = 16
)

// A grid shows which node has which part of the hashes: cell i is that of all hashes that end
// in the bits of i.
type grid struct {
	cells int
	rows  []gridRow
	// orphans are the parts of the cells that no node serves.
	orphans []float64
}

// gridRow is one node's; values are parts of a cell, from 0 to 1.
type gridRow struct {
	node                         string
	primaries, backups, learners []float64
	p, s                         int // buckets
}

// newGrid lays the buckets out. It returns nil if they are none.
func newGrid(r *Report) *grid {
	var masks []buckets.Hashmask
	widest := uint32(0)
	for _, b := range r.Buckets {
		h, err := buckets.ParseHashmask(b.Hashmask)
		if err != nil {
			return nil
		}
		masks = append(masks, h)
		widest = max(widest, h.Mask)
	}
	g := &grid{cells: min(int(widest)+1, mostCells)}
	g.orphans = make([]float64, g.cells)
	places := make(map[string]int, len(r.Nodes))
	row := func(node string) *gridRow {
		at, ok := places[node]
		if !ok {
			at = len(g.rows)
			places[node] = at
			g.rows = append(g.rows, gridRow{
				node:      node,
				primaries: make([]float64, g.cells), backups: make([]float64, g.cells), learners: make([]float64, g.cells),
			})
		}
		return &g.rows[at]
	}
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Primaries+n.Backups+n.Learners > 0 {
			row(n.ID)
		}
	}
	for i, b := range r.Buckets {
		if b.Primary == "" {
			g.fill(g.orphans, masks[i])
		} else {
			n := row(b.Primary)
			g.fill(n.primaries, masks[i])
			n.p++
		}
		for _, node := range b.Backups {
			n := row(node)
			g.fill(n.backups, masks[i])
			n.s++
		}
		for _, node := range b.Learners {
			g.fill(row(node).learners, masks[i])
		}
	}
	return g
}

// fill adds a bucket to the cells that its hashes lie in.
func (g *grid) fill(cells []float64, h buckets.Hashmask) {
	if int(h.Mask) >= g.cells {
		cells[int(h.ID)&(g.cells-1)] += float64(g.cells) / float64(h.Mask+1)
		return
	}
	for at := int(h.ID); at < g.cells; at += int(h.Mask) + 1 {
		cells[at] = 1
	}
}

// mark is what is drawn of a node's part of a cell.
func (r *gridRow) mark(cell int) byte {
	const whole = 1 - 1e-9
	switch p, s := r.primaries[cell], r.backups[cell]; {
	case p >= whole:
		return 'P'
	case p > 0:
		return '0' + byte(min(max(math.Ceil(10*p-1e-9), 1), 9))
	case s >= whole:
		return 'S'
	case s > 0:
		return 's'
	case r.learners[cell] > 0:
		return '+'
	}
	return '.'
}

func (d *drawing) grid() {
	g := newGrid(d.r)
	if g == nil {
		return
	}
	words := []string{"P serves it"}
	marks := make([]string, len(g.rows))
	for i := range g.rows {
		b := make([]byte, g.cells)
		for at := range b {
			b[at] = g.rows[i].mark(at)
		}
		marks[i] = string(b)
	}
	all := strings.Join(marks, "")
	if strings.Contains(all, "S") {
		words = append(words, "S has a copy")
	}
	if strings.Contains(all, "s") {
		words = append(words, "s copies of a part")
	}
	if strings.Contains(all, "+") {
		words = append(words, "+ receives one")
	}
	if strings.ContainsAny(all, "123456789") {
		words = append(words, "1 to 9 serves so many tenths")
	}
	d.out.WriteString("\n")
	title := plural(len(d.r.Buckets), "bucket")
	if g.cells < len(d.r.Buckets) {
		title = fmt.Sprintf("%s, by the last %d bits of their ids", title, len(strconv.FormatInt(int64(g.cells)-1, 2)))
	}
	d.line("%s: %s", title, strings.Join(words, ", "))
	rows := g.rows
	if len(rows) > mostGridNodes {
		rows = rows[:mostGridNodes]
	}
	label := labels(d.ids, gridLabel)
	if g.cells <= fewBuckets {
		d.smallGrid(g, rows, marks, label)
	} else {
		d.bands(g, rows, marks, label)
	}
	if more := len(g.rows) - len(rows); more > 0 {
		d.line("and %s more", plural(more, "node"))
	}
}

// gridLabel is how many cells the name of a node takes before a band of 64 buckets, on
// the narrowest terminal.
const gridLabel = 12

// smallGrid draws a column for each bucket, and the sums at the right.
func (d *drawing) smallGrid(g *grid, rows []gridRow, marks []string, label map[string]string) {
	cells := g.labelCells(rows, label)
	head := pad("", cells)
	for at := range g.cells {
		head += fmt.Sprintf("%3X", at)
	}
	d.out.WriteString(head + "\n")
	for i, row := range rows {
		line := pad(label[row.node], cells)
		for at := range g.cells {
			line += "  " + marks[i][at:at+1]
		}
		fmt.Fprintf(&d.out, "%s   %d+%d=%d\n", line, row.p, row.s, row.p+row.s)
	}
	d.orphaned(g.orphans, 0, cells, 3)
}

func (g *grid) labelCells(rows []gridRow, label map[string]string) int {
	cells := 0
	if anything(g.orphans) {
		cells = len(nobody)
	}
	for _, row := range rows {
		cells = max(cells, width(label[row.node]))
	}
	return cells
}

// nobody is the name of the row of what no node serves.
const nobody = "nobody"

// orphaned draws the row of what no node serves, if there is anything.
func (d *drawing) orphaned(parts []float64, first, label, room int) {
	if !anything(parts) {
		return
	}
	line := pad(nobody, label)
	for at, x := range parts {
		switch {
		case room > 1:
			line += strings.Repeat(" ", room-1)
		case (first+at)%16 == 0:
			line += " "
		}
		if x > 0 {
			line += "!"
		} else {
			line += "."
		}
	}
	d.out.WriteString(line + "\n")
}

func anything(parts []float64) bool {
	return slices.ContainsFunc(parts, func(x float64) bool { return x > 0 })
}

// bands draws a character for each cell, in groups of 16 and as many groups side by
// side as fit.
func (d *drawing) bands(g *grid, rows []gridRow, marks []string, label map[string]string) {
	cells := g.labelCells(rows, label)
	across := 16
	for 2*across <= g.cells && cells+2*across/16*17 <= d.cells {
		across *= 2
	}
	digits := len(strconv.FormatInt(int64(g.cells)-1, 16))
	for first := 0; first < g.cells; first += across {
		head := pad("", cells)
		for at := first; at < first+across; at += 16 {
			head += " " + pad(fmt.Sprintf("%0*X", digits, at), 16)
		}
		d.out.WriteString(strings.TrimRight(head, " ") + "\n")
		for i, row := range rows {
			line := pad(label[row.node], cells)
			for at := first; at < first+across; at += 16 {
				line += " " + marks[i][at:at+16]
			}
			d.out.WriteString(line + "\n")
		}
		d.orphaned(g.orphans[first:first+across], first, cells, 1)
	}
}
