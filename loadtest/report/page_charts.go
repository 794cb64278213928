package report

import (
	"html/template"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// The charts of the page.

func (p *wholePage) overlays(r *result.Report, t clock) {
	add := func(c Drawing, any bool) {
		if any {
			p.Overlays = append(p.Overlays, inline(c))
		}
	}
	add(overlayChart(r, &clientMeasures[0], 0, "Throughput, operations each second", t))
	add(overlayChart(r, &clientMeasures[1], 1, "p99 of each window", t))
	add(movedChart(r))
}

func (p *wholePage) distribution(r *result.Report) {
	all := make([]*hdrhistogram.Histogram, len(r.Contestants))
	for i := range all {
		all[i] = distribution(&r.Contestants[i])
	}
	if c, any := distributionChart(r, all); any {
		d := inline(c)
		p.Distribution, p.DistributionGrid = &d, distributionGrid(r, all)
	}
}

func (p *wholePage) overTime(r *result.Report, t clock) {
	index := nodeIndex(r)
	// All lines share the room of the page.
	lines := 0
	for _, m := range allMeasures() {
		if m.nodes {
			lines += len(index)
		} else {
			lines += 2
		}
	}
	most := max(20, min(mostSidePoints, mostPoints/max(1, lines*len(r.Contestants))))
	side := func(list []measure) (all []sides) {
		for i := range list {
			m := &list[i]
			charts := sideCharts(r, m, t, most)
			if charts == nil {
				continue
			}
			s := sides{Title: m.title, Help: m.help, Charts: inlined(r, charts)}
			if !m.nodes {
				s.Legend = lineLegend(r, m)
			}
			all = append(all, s)
		}
		return all
	}
	p.Clients, p.Cluster, p.Nodes = side(clientMeasures), side(clusterMeasures), side(nodeMeasures)
	p.NodeLegend = make([]legendEntry, len(index))
	for name, i := range index {
		p.NodeLegend[i] = legendEntry{Swatch: block(Nth(i)), Name: Clip(Printable(name), 30)}
	}
}

// inlined are the charts of all contestants.
func inlined(r *result.Report, charts []*Drawing) []drawn {
	all := make([]drawn, len(charts))
	for i, c := range charts {
		all[i].Title = shortName(&r.Contestants[i])
		if c != nil {
			all[i] = inline(*c)
		}
	}
	return all
}

// lineLegend names the lines of a chart, if there are several.
func lineLegend(r *result.Report, m *measure) []legendEntry {
	for i := range r.Contestants {
		run := shown(&r.Contestants[i])
		if run == nil {
			continue
		}
		lines := m.lines(&result.Report{WindowMS: r.WindowMS}, &result.Run{Windows: run.Windows[:min(1, len(run.Windows))], Samples: run.Samples[:min(1, len(run.Samples))]})
		if len(lines) < 2 {
			return nil
		}
		var all []legendEntry
		for _, l := range lines {
			all = append(all, legendEntry{Swatch: template.HTML(LineSwatch(l.look).Decorative()), Name: l.name})
		}
		return all
	}
	return nil
}

// block is a patch of a node's colour, which stands for its lines and its pieces.
func block(l Look) template.HTML { return template.HTML(BlockSwatch(l).Decorative()) }

func (p *wholePage) owners(r *result.Report, t clock) {
	index := nodeIndex(r)
	primaries, backups := make([]*Drawing, len(r.Contestants)), make([]*Drawing, len(r.Contestants))
	any := false
	for i := range r.Contestants {
		primaries[i] = ownersChart(r, &r.Contestants[i], t, index, false)
		backups[i] = ownersChart(r, &r.Contestants[i], t, index, true)
		any = any || primaries[i] != nil
	}
	if any {
		p.Owners, p.Backups = inlined(r, primaries), inlined(r, backups)
	}
}
