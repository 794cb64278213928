package report

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Bounds of what is drawn of grids: more nodes than that cannot be told apart, and
// the page must stay one that a phone can load.
const (
	mostGridNodes = 64
	mostGridBytes = 3 << 20
)

// A nodeGrid is one node's buckets, as the seeds of the strategy draw them.
type nodeGrid struct {
	ID                        string
	Primaries, Backups        int
	Gained, Promoted, Demoted int // since the step before
	Dropped                   int
	cells                     map[string]bucketCell
	drawn                     string
}

// A bucketCell is what a node has of a bucket and what has become of it since the
// step before.
type bucketCell struct {
	role   byte // P, S, or 0 for none
	before byte
}

// changed describes the change of a cell; empty if there is none.
func (c bucketCell) changed() string {
	switch {
	case c.role == c.before:
		return ""
	case c.before == 0:
		return "new"
	case c.role == 0:
		return "gone"
	case c.role == 'P':
		return "up"
	default:
		return "down"
	}
}

// roles are what each node has in a grid, by node and bucket.
func roles(step *sim.Step, g *sim.Grid) map[string]map[string]byte {
	all := make(map[string]map[string]byte, len(step.Nodes))
	for b, owners := range g.Owners {
		for k, o := range owners {
			if o < 0 || o >= len(step.Nodes) || b >= len(g.Buckets) {
				continue
			}
			id := step.Nodes[o].ID
			if all[id] == nil {
				all[id] = map[string]byte{}
			}
			role := byte('S')
			if k == 0 {
				role = 'P'
			}
			all[id][g.Buckets[b]] = role
		}
	}
	return all
}

// gridOf lays the grid of a step out by node. before, if not nil, is the grid of the
// step before it.
func gridOf(step, beforeStep *sim.Step, g, before *sim.Grid) []nodeGrid {
	now := roles(step, g)
	var past map[string]map[string]byte
	var origin map[string]string
	if before != nil {
		past = roles(beforeStep, before)
		origin = origins(g.Buckets, before.Buckets)
	}
	grids := make([]nodeGrid, 0, len(step.Nodes))
	for _, n := range step.Nodes {
		ng := nodeGrid{ID: n.ID, cells: map[string]bucketCell{}}
		for _, b := range g.Buckets {
			cell := bucketCell{role: now[n.ID][b]}
			cell.before = cell.role
			if before != nil {
				cell.before = past[n.ID][origin[b]]
			}
			ng.count(cell)
			if cell != (bucketCell{}) {
				ng.cells[b] = cell
			}
		}
		ng.drawn = ng.draw(g.Buckets)
		grids = append(grids, ng)
	}
	return grids
}

func (ng *nodeGrid) count(c bucketCell) {
	switch c.role {
	case 'P':
		ng.Primaries++
	case 'S':
		ng.Backups++
	}
	switch c.changed() {
	case "new":
		ng.Gained++
	case "gone":
		ng.Dropped++
	case "up":
		ng.Promoted++
	case "down":
		ng.Demoted++
	}
}

// origins tells for each bucket which bucket of the step before held its keys: itself,
// or the one that it was split from.
func origins(buckets, before []string) map[string]string {
	known := make(map[string]string, len(before)) // id and mask → name
	key := func(id, mask uint64) string {
		return strconv.FormatUint(id&mask, 16) + "/" + strconv.FormatUint(mask, 16)
	}
	for _, name := range before {
		if id, mask, ok := parseBucket(name); ok {
			known[key(id, mask)] = name
		}
	}
	from := make(map[string]string, len(buckets))
	for _, name := range buckets {
		id, mask, ok := parseBucket(name)
		if !ok {
			continue
		}
		for m := mask; ; m >>= 1 {
			if b, ok := known[key(id, m)]; ok {
				from[name] = b
				break
			}
			if m == 0 {
				break
			}
		}
	}
	return from
}

func parseBucket(name string) (id, mask uint64, ok bool) {
	i, m, found := strings.Cut(name, "/")
	id, err := strconv.ParseUint(strings.TrimPrefix(i, "0x"), 16, 64)
	mask, err2 := strconv.ParseUint(strings.TrimPrefix(m, "0x"), 16, 64)
	return id, mask, found && err == nil && err2 == nil
}

const (
	cellSize   = 12
	gridMargin = 20 // of the rows' labels
)

// draw is the SVG of a node's buckets: sixteen to a row, row by row in the order of
// the grid. Cells of one kind are one path, and letters one text a row, since there
// may be many.
func (ng *nodeGrid) draw(buckets []string) string {
	perRow := 16
	if len(buckets) > 1024 {
		perRow = 64
	}
	perRow = max(1, min(perRow, len(buckets)))
	rows := (len(buckets) + perRow - 1) / perRow
	paths := map[string]*strings.Builder{}
	path := func(kind string, x, y, inset int) {
		b := paths[kind]
		if b == nil {
			b = &strings.Builder{}
			paths[kind] = b
		}
		side := cellSize - 2*inset
		if inset > 0 {
			side-- // frames and dots leave the line to the next cell free
		}
		fmt.Fprintf(b, "M%d %dh%dv%dh-%dz", x+inset, y+inset, side, side, side)
	}
	var letters strings.Builder
	for row := range rows {
		y := row * cellSize
		first, last := row*perRow, min((row+1)*perRow, len(buckets))
		fmt.Fprintf(&letters, `<text class="at" x="%d" y="%d">%s</text>`, gridMargin-4, y+9, html.EscapeString(rowLabel(buckets[first], len(buckets))))
		var word strings.Builder
		var places []string
		for i := first; i < last; i++ {
			x := gridMargin + (i-first)*cellSize
			cell, has := ng.cells[buckets[i]]
			if !has {
				continue
			}
			switch cell.role {
			case 'P':
				path("p", x, y, 0)
			case 'S':
				path("s", x, y, 0)
			}
			if change := cell.changed(); change != "" {
				inset := 1
				if change == "gone" {
					inset = 4
				}
				path(change, x, y, inset)
			}
			if cell.role != 0 && perRow == 16 {
				word.WriteByte(cell.role)
				places = append(places, strconv.Itoa(x+5))
			}
		}
		// The two letters have different colours, so each has a text of its own.
		for _, role := range []byte{'P', 'S'} {
			var at []string
			for k, r := range []byte(word.String()) {
				if r == role {
					at = append(at, places[k])
				}
			}
			if len(at) > 0 {
				fmt.Fprintf(&letters, `<text class="%c" x="%s" y="%d">%s</text>`, role+'a'-'A', strings.Join(at, " "), y+9, strings.Repeat(string(role), len(at)))
			}
		}
	}
	var b strings.Builder
	w, h := gridMargin+perRow*cellSize, rows*cellSize
	fmt.Fprintf(&b, `<svg class="cells" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">`, w, h, html.EscapeString(Printable(ng.about())))
	kinds := make([]string, 0, len(paths))
	for kind := range paths {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return kindOrder(a) - kindOrder(b) })
	full, rest := len(buckets)/perRow, len(buckets)%perRow
	fmt.Fprintf(&b, `<path class="none" d="M%d 0h%dv%dh-%[2]dz`, gridMargin, perRow*cellSize, full*cellSize)
	if rest > 0 {
		fmt.Fprintf(&b, "M%d %dh%dv%dh-%[3]dz", gridMargin, full*cellSize, rest*cellSize, cellSize)
	}
	b.WriteString(`"/>`)
	lines := gridLinesOf(perRow, rows)
	for _, kind := range kinds {
		if kindOrder(kind) > kindOrder("p") && lines != "" {
			b.WriteString(lines)
			lines = ""
		}
		fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, kind, paths[kind].String())
	}
	b.WriteString(lines)
	b.WriteString(letters.String())
	b.WriteString("</svg>")
	return b.String()
}

// gridLinesOf are the lines between cells.
func gridLinesOf(perRow, rows int) string {
	var b strings.Builder
	b.WriteString(`<path class="lines" d="`)
	for x := range perRow {
		fmt.Fprintf(&b, "M%d 0v%d", gridMargin+(x+1)*cellSize, rows*cellSize)
	}
	for y := range rows {
		fmt.Fprintf(&b, "M%d %dh%d", gridMargin, (y+1)*cellSize, perRow*cellSize)
	}
	b.WriteString(`"/>`)
	return b.String()
}

// kindOrder draws changes above what they change.
func kindOrder(kind string) int {
	return slices.Index([]string{"s", "p", "gone", "down", "up", "new"}, kind)
}

// rowLabel is a bucket's id without its last digit.
func rowLabel(name string, buckets int) string {
	n, mask, ok := parseBucket(name)
	if !ok {
		return Clip(name, 4)
	}
	id := fmt.Sprintf("%0*X", len(strconv.FormatUint(mask, 16)), n)
	if len(id) > 1 && buckets > 16 {
		return id[:len(id)-1] + "·"
	}
	return id
}

func (ng *nodeGrid) about() string {
	return fmt.Sprintf("%s: %d primaries, %d backups; gained %d, promoted %d, demoted %d, gave up %d",
		Clip(ng.ID, 60), ng.Primaries, ng.Backups, ng.Gained, ng.Promoted, ng.Demoted, ng.Dropped)
}
