package report

import (
	"html/template"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/chart"
	"github.com/ringside-kv/ringside/loadtest/human"
)

// The charts of the page.

func (p *wholePage) overlays(r *Report, t clock) {
	add := func(c chart.Picture, any bool) {
		if any {
			p.Overlays = append(p.Overlays, inline(c))
		}
	}
	add(overlayChart(r, &clientMeasures[0], 0, "Throughput, operations each second", t))
	add(overlayChart(r, &clientMeasures[1], 1, "p99 of each window", t))
	add(movedChart(r))
}

func (p *wholePage) distribution(r *Report) {
	all := make([]*hdrhistogram.Histogram, len(r.Contestants))
	for i := range all {
		all[i] = r.Contestants[i].distribution()
	}
	if c, any := distributionChart(r, all); any {
		d := inline(c)
		p.Distribution, p.DistributionGrid = &d, distributionGrid(r, all)
	}
}

func (p *wholePage) overTime(r *Report, t clock) {
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
		p.NodeLegend[i] = legendEntry{block(chart.Nth(i)), human.Clip(human.Printable(name), 30)}
	}
}

// inlined are the charts of all contestants.
func inlined(r *Report, charts []*chart.Picture) []drawn {
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
func lineLegend(r *Report, m *measure) []legendEntry {
	for i := range r.Contestants {
		run := r.Contestants[i].shown()
		if run == nil {
			continue
		}
		lines := m.lines(&Report{WindowMS: r.WindowMS}, &Run{Windows: run.Windows[:min(1, len(run.Windows))], Samples: run.Samples[:min(1, len(run.Samples))]})
		if len(lines) < 2 {
			return nil
		}
		var all []legendEntry
		for _, l := range lines {
			all = append(all, legendEntry{template.HTML(chart.LineSwatch(l.look).Decorative()), l.name})
		}
		return all
	}
	return nil
}

// block is a patch of a node's colour, which stands for its lines and its pieces.
func block(l chart.Look) template.HTML { return template.HTML(chart.BlockSwatch(l).Decorative()) }

func (p *wholePage) owners(r *Report, t clock) {
	index := nodeIndex(r)
	primaries, backups := make([]*chart.Picture, len(r.Contestants)), make([]*chart.Picture, len(r.Contestants))
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
