package report

import (
	"fmt"
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
	cells                     []byte // by bucket
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

// code is the cell as the script of a page knows it.
func (c bucketCell) code() byte {
	switch c.changed() {
	case "new":
		if c.role == 'P' {
			return 'N'
		}
		return 'n'
	case "gone":
		return 'x'
	case "up":
		return 'U'
	case "down":
		return 'D'
	}
	if c.role == 0 {
		return '.'
	}
	return c.role
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
		ng := nodeGrid{ID: n.ID}
		for _, b := range g.Buckets {
			cell := bucketCell{role: now[n.ID][b]}
			cell.before = cell.role
			if before != nil {
				cell.before = past[n.ID][origin[b]]
			}
			ng.count(cell)
			ng.cells = append(ng.cells, cell.code())
		}
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

// origins maps each bucket to the bucket of the step before that held its keys: itself,
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

// bucketGrids are the grids of all steps that have one.
type bucketGrids struct {
	Frames []bucketFrame `json:"frames"`
}

// A bucketFrame is a step of a contender. Rows are sixteen buckets long, or 64 where there are many.
type bucketFrame struct {
	Name  string       `json:"name"`
	Row   int          `json:"row"`
	Rows  []string     `json:"rows"` // labels
	Nodes []bucketNode `json:"nodes"`
}

// A bucketNode has a character for each bucket: P or S, N or n if it came, U and D if it was
// promoted or demoted, x if it is gone, and a dot for none.
type bucketNode struct {
	Name    string   `json:"name"`
	Cells   string   `json:"cells"`
	Count   string   `json:"count"`
	Changes []string `json:"changes,omitempty"`
}

// bucketsSection has the grids of all steps, within bounds.
func bucketsSection(r *sim.Report) section {
	g := &bucketGrids{}
	bytes, left := 0, 0
	for j, c := range r.Contenders {
		for i := range r.Steps {
			step := &r.Steps[i]
			now := step.Outcomes[j].Grid
			if now == nil {
				continue
			}
			if len(step.Nodes) > mostGridNodes || bytes > mostGridBytes || i > mostPageSteps {
				left++
				continue
			}
			frame := bucketFrameOf(r, i, j)
			frame.Name = c.Name + ", " + stepName(r, i)
			bytes += len(step.Nodes) * (len(now.Buckets) + 100)
			g.Frames = append(g.Frames, frame)
		}
	}
	s := section{ID: "buckets", Title: "Buckets", Text: "The nodes of each bucket after each step. A node's buckets stand sixteen to a row, ordered by their ids in hexadecimal: a row's label is the id without its last digit. P is a primary, S a backup. Against the step before, a bucket that has come to the node has a thick frame, one that became its primary or its backup without moving a thin one with an arrow, and a cross is one that the node gave up."}
	if left > 0 {
		s.Text += fmt.Sprintf(" %s left out: only steps with up to %d nodes are drawn, as far as the page stays small.", pluralAre(left, "grid"), mostGridNodes)
	}
	if len(g.Frames) > 0 {
		s.Parts = []pagePart{{Grids: g}}
	}
	return s
}

func bucketFrameOf(r *sim.Report, i, j int) bucketFrame {
	step, now := &r.Steps[i], r.Steps[i].Outcomes[j].Grid
	var before *sim.Grid
	var beforeStep *sim.Step
	if i > 0 {
		beforeStep = &r.Steps[i-1]
		before = beforeStep.Outcomes[j].Grid
	}
	f := bucketFrame{Row: 16}
	if len(now.Buckets) > 1024 {
		f.Row = 64
	}
	f.Row = max(1, min(f.Row, len(now.Buckets)))
	for at := 0; at < len(now.Buckets); at += f.Row {
		f.Rows = append(f.Rows, rowLabel(now.Buckets[at], len(now.Buckets)))
	}
	for _, ng := range gridOf(step, beforeStep, now, before) {
		f.Nodes = append(f.Nodes, ng.node(before != nil))
	}
	return f
}

// node is a grid as the script of a page knows it, with its changes if there was a step before.
func (ng *nodeGrid) node(changes bool) bucketNode {
	n := bucketNode{Name: Clip(Printable(ng.ID), 30), Cells: string(ng.cells), Count: fmt.Sprintf("%d+%d=%d", ng.Primaries, ng.Backups, ng.Primaries+ng.Backups)}
	for _, change := range []struct {
		n    int
		text string
	}{{ng.Gained, "+%d come"}, {ng.Promoted, "%d to P"}, {ng.Demoted, "%d to S"}, {ng.Dropped, "−%d gone"}} {
		if change.n > 0 && changes {
			n.Changes = append(n.Changes, fmt.Sprintf(change.text, change.n))
		}
	}
	return n
}

func pluralAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return Plural(n, word) + " are"
}
