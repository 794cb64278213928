package report

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// nodeLoadSection has the load on nodes before each event and at the end, and on their busiest ranges.
func nodeLoadSection(r *result.Report) section {
	s := loadTestSection("load")
	all := pageEvents(r)
	for i, run := range shownRuns(r) {
		if len(run.Loads) > 0 {
			s.Parts = append(s.Parts, tablePart(shortName(&r.Contestants[i]), loadsGrid(r, run, all)))
		}
	}
	return s
}

// loadsGrid has a row for each node.
func loadsGrid(r *result.Report, run *result.Run, all []eventKey) Grid {
	names := nodeNames(r)
	g := Grid{Head: []string{"node"}}
	for _, name := range names {
		g.Rows = append(g.Rows, textRow(Clip(Printable(name), 30)))
	}
	g.Rows = append(g.Rows, textRow("busiest node, max ÷ mean"), textRow("busiest range, of all operations"))
	for k, l := range loadsAt(run, all) {
		head := "at the end"
		if k < len(all) {
			head = "before " + Clip(Printable(all[k].label()), 20)
		}
		g.Head = append(g.Head, head)
		for row, text := range loadTexts(l, names) {
			g.Rows[row] = append(g.Rows[row], Cell{Text: text})
		}
	}
	return g
}

// loadTexts are the loads of nodes, then how much the busiest node and range have.
func loadTexts(l *result.Loads, nodes []string) []string {
	texts := slices.Repeat([]string{None}, len(nodes)+2)
	if l == nil {
		return texts
	}
	for _, n := range l.Nodes {
		if k := slices.Index(nodes, n.Node); k >= 0 {
			texts[k] = perSecond.text(n.PerSecond)
		}
	}
	if x := l.MaxToMean(); x > 0 {
		texts[len(nodes)], texts[len(nodes)+1] = Ratio(x), Percent(l.HottestRange())+" %"
	}
	return texts
}

// placementGrids are the primaries and backups of each node, at the start and after each event.
func placementGrids(r *result.Report) *bucketGrids {
	g := &bucketGrids{}
	all := pageEvents(r)
	bytes := 0
	for i, run := range shownRuns(r) {
		if len(run.Layouts) == 0 {
			continue
		}
		ends := layoutsAt(run, all)
		for k, at := range ends {
			name, before := "start", (*result.Layout)(nil)
			if k > 0 {
				name, before = all[k-1].label(), &run.Layouts[ends[k-1]]
			}
			f := layoutFrame(&run.Layouts[at], before)
			f.Name = fmt.Sprintf("%s, %s", shortName(&r.Contestants[i]), Clip(Printable(name), 30))
			if bytes += len(f.Nodes) * (len(run.Layouts[at].Primary) + 100); bytes > mostGridBytes/2 {
				return g
			}
			g.Frames = append(g.Frames, f)
		}
	}
	return g
}

// layoutFrame is a layout by node; before, if not nil, is the one before the event.
func layoutFrame(l, before *result.Layout) bucketFrame {
	f, cells := bucketFrame{Row: 16}, len(l.Primary)
	switch {
	case cells > 1024:
		f.Row = 64
	case cells > 256:
		f.Row = 32
	}
	f.Row = max(1, min(f.Row, cells))
	for at := 0; at < cells; at += f.Row {
		f.Rows = append(f.Rows, fmt.Sprintf("%02X", at*256/cells))
	}
	role := func(l *result.Layout) roleOf {
		return func(node string, i int) byte {
			i = i * len(l.Primary) / cells
			has := func(k int) bool { return k >= 0 && k < len(l.Nodes) && l.Nodes[k] == node }
			switch {
			case has(l.Primary[i]):
				return 'P'
			case i < len(l.Backup) && has(l.Backup[i]):
				return 'S'
			}
			return 0
		}
	}
	var was roleOf
	if before != nil && len(before.Primary) > 0 {
		was = role(before)
	}
	for _, node := range l.Nodes[:min(len(l.Nodes), mostGridNodes)] {
		f.addNode(node, cells, role(l), was)
	}
	f.Nodes = slices.DeleteFunc(f.Nodes, func(n bucketNode) bool { return n.Count == "0+0=0" && len(n.Changes) == 0 })
	return f
}
