package show

import (
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/chart"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// names are those of the contenders.
func names(contenders []sim.Contender) []string {
	all := make([]string, len(contenders))
	for i, c := range contenders {
		all[i] = c.Name
	}
	return all
}

// legend has the contenders, and the least possible.
func legend(contenders []sim.Contender) []chart.Entry {
	var all []chart.Entry
	for j, l := range chart.Looks(names(contenders)) {
		name := shortName(contenders[j])
		if contenders[j].Yardstick {
			name += " (yardstick)"
		}
		all = append(all, chart.Entry{Name: name, Paint: func(c draw.Canvas) { chart.DrawSwatch(c, l) }})
	}
	return append(all, chart.Entry{Name: "least possible", Paint: chart.DrawLevelSwatch})
}
