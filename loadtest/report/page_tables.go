package report

import (
	"slices"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// figuresGrid has a row for each figure and a column for each contestant.
func figuresGrid(r *result.Report, first string, rows []row) Grid {
	t := Grid{Head: heads(r, first)}
	for _, line := range rows {
		t.Rows = append(t.Rows, append(textRow(line.name), valueCells(line)...))
	}
	return t
}

func valueCells(line row) []Cell {
	cells := make([]Cell, len(line.values))
	for j, v := range line.values {
		cells[j] = valueCell(line.figure, v, line.best[j])
	}
	return cells
}

func valueCell(f *figure, v value, best bool) Cell {
	cell := Cell{Text: v.text(f.Unit), Best: best}
	if spread := v.spread(f.Unit); spread != "" {
		cell.Soft = "(" + spread + ")"
	}
	return cell
}

func heads(r *result.Report, first string) []string {
	all := []string{first}
	for i := range r.Contestants {
		all = append(all, Clip(Printable(heading(&r.Contestants[i])), 40))
	}
	return all
}

// phasesGrid has the phases of the run that is shown of a contestant.
func phasesGrid(run *result.Run) Grid {
	t := Grid{Head: []string{"step", "from", "operations/s", "p50", "p99", "p99.9", "slowest", "longest pause", "failed", "unknown"}}
	phases := append(slices.Clone(run.Phases[:min(len(run.Phases), mostPageEvents)]), run.All)
	for i := range phases {
		ph := &phases[i]
		name := ph.Name
		if i == len(phases)-1 {
			name = "all of it"
		}
		throughput := None
		if x, ok := rate(ph.Operations-ph.Failed, ph.UntilMS-ph.FromMS); ok {
			throughput = perSecond.text(x)
		}
		t.Rows = append(t.Rows, textRow(Clip(Printable(name), 40), seconds(ph.FromMS/1000), throughput,
			timeText(ph.Operations, ph.Latency.P50), timeText(ph.Operations, ph.Latency.P99), timeText(ph.Operations, ph.Latency.P999), timeText(ph.Operations, ph.Latency.Max),
			micros.text(ph.LongestPauseMS*1000), Count(ph.Failed), Count(ph.Unknown)))
	}
	return t
}

// commandsGrid has the commands of the whole run.
func commandsGrid(run *result.Run) Grid {
	t := Grid{Head: []string{"command", "operations", "failed", "mean", "p50", "p99", "p99.9", "slowest"}}
	for i := range run.All.Commands {
		c := &run.All.Commands[i]
		l := &c.Latency
		t.Rows = append(t.Rows, textRow(Clip(Printable(c.Command), 40), Count(c.Operations), Count(c.Failed),
			timeText(c.Operations, l.Mean), timeText(c.Operations, l.P50), timeText(c.Operations, l.P99), timeText(c.Operations, l.P999), timeText(c.Operations, l.Max)))
	}
	return t
}

// distributionGrid has the figures of the chart of distributions.
func distributionGrid(r *result.Report, all []*hdrhistogram.Histogram) Grid {
	t := Grid{Head: heads(r, "percent")}
	for _, p := range percentiles {
		cells := []string{strconv.FormatFloat(p, 'f', -1, 64)}
		for _, h := range all {
			text := None
			// Of fewer operations the figure would be that of the slowest.
			if h != nil && float64(h.TotalCount())*(1-p/100) >= 1 {
				text = micros.text(float64(h.ValueAtPercentile(p)))
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, textRow(cells...))
	}
	return t
}

func settingsGrid(r *result.Report) Grid {
	t := Grid{Head: []string{"setting", "value", ""}}
	for _, s := range r.Settings {
		chosen := "chosen"
		if s.Default {
			chosen = "default"
		}
		t.Rows = append(t.Rows, textRow(Printable("--"+s.Name), Printable(s.Value), chosen))
	}
	return t
}

// facts are what else is known of the test.
func facts(r *result.Report) [][2]string {
	all := [][2]string{
		{"Script", r.Script}, {"Machine", machine(r.Machine)}, {"Kernel", r.Machine.Kernel}, {"Ringside", r.Ringside}, {"Go", r.Machine.Go},
		{"Rounds", Count(r.Rounds)}, {"Windows", seconds(r.WindowMS/1000) + " long"}, {"Took", seconds(r.TookSeconds)},
	}
	if !r.Began.IsZero() {
		all = append(all, [2]string{"Began", r.Began.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	return knownFacts(all)
}

// knownFacts are those with a text.
func knownFacts(all [][2]string) [][2]string {
	for i := range all {
		all[i][1] = Printable(all[i][1])
	}
	return slices.DeleteFunc(all, func(f [2]string) bool { return f[1] == "" })
}

func textRow(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

// timeText is a latency, if there was any operation.
func timeText(operations int64, us float64) string {
	if operations == 0 {
		return None
	}
	return micros.text(us)
}
