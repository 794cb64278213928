package report

import (
	"fmt"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// nodeLoadSection has the load on nodes before each event and at the end, and on their busiest ranges.
func nodeLoadSection(r *result.Report) section {
	s := section{ID: "load", Title: "Load", Text: "Operations a second on the ranges that each node serves, as the nodes measure them: rates that decay to a third in 10 seconds. The circles below show where on the circle they are."}
	all := events(r)
	all = all[:min(len(all), mostPageEvents)]
	for i := range r.Contestants {
		run := shown(&r.Contestants[i])
		if run == nil || len(run.Loads) == 0 {
			continue
		}
		s.Parts = append(s.Parts, tablePart(shortName(&r.Contestants[i]), loadsGrid(r, run, all)))
	}
	return s
}

// loadsGrid has a row for each node.
func loadsGrid(r *result.Report, run *result.Run, all []eventKey) Grid {
	names := make([]string, len(nodeIndex(r)))
	for name, i := range nodeIndex(r) {
		names[i] = name
	}
	g := Grid{Head: []string{"node"}}
	row := map[string][]Cell{}
	even, hottest := []Cell{{Text: "busiest node, max ÷ mean"}}, []Cell{{Text: "busiest range, of all operations"}}
	for k, l := range loadsAt(run, all) {
		switch {
		case k < len(all):
			g.Head = append(g.Head, "before "+Clip(Printable(all[k].label()), 20))
		default:
			g.Head = append(g.Head, "at the end")
		}
		of := map[string]Cell{}
		e, h := Cell{Text: None}, Cell{Text: None}
		if l != nil {
			for i := range l.Nodes {
				of[l.Nodes[i].Node] = Cell{Text: perSecond.text(l.Nodes[i].PerSecond)}
			}
			if x := l.MaxToMean(); x > 0 {
				e.Text, h.Text = Ratio(x), Percent(l.HottestRange())+" %"
			}
		}
		even, hottest = append(even, e), append(hottest, h)
		for _, name := range names {
			cell, ok := of[name]
			if !ok {
				cell.Text = None
			}
			row[name] = append(row[name], cell)
		}
	}
	for _, name := range names {
		g.Rows = append(g.Rows, append([]Cell{{Text: Clip(Printable(name), 30)}}, row[name]...))
	}
	g.Rows = append(g.Rows, even, hottest)
	return g
}

// placementGrids are the primaries and backups of each node, at the start and after each event.
func placementGrids(r *result.Report) *bucketGrids {
	g := &bucketGrids{}
	all := events(r)
	all = all[:min(len(all), mostPageEvents)]
	bytes := 0
	for i := range r.Contestants {
		run := shown(&r.Contestants[i])
		if run == nil || len(run.Layouts) == 0 {
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
	f := bucketFrame{Row: 16}
	switch {
	case len(l.Primary) > 1024:
		f.Row = 64
	case len(l.Primary) > 256:
		f.Row = 32
	}
	f.Row = max(1, min(f.Row, len(l.Primary)))
	for at := 0; at < len(l.Primary); at += f.Row {
		f.Rows = append(f.Rows, fmt.Sprintf("%02X", at*256/len(l.Primary)))
	}
	role := func(l *result.Layout, i, cells int, node string) byte {
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
	for _, node := range l.Nodes[:min(len(l.Nodes), mostGridNodes)] {
		ng := nodeGrid{ID: node}
		for i := range l.Primary {
			c := bucketCell{role: role(l, i, len(l.Primary), node)}
			c.before = c.role
			if before != nil && len(before.Primary) > 0 {
				c.before = role(before, i, len(l.Primary), node)
			}
			ng.count(c)
			ng.cells = append(ng.cells, c.code())
		}
		if n := ng.node(before != nil); ng.Primaries+ng.Backups > 0 || len(n.Changes) > 0 {
			f.Nodes = append(f.Nodes, n)
		}
	}
	return f
}
