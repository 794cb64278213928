package show

import (
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/report"
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
func legend(contenders []sim.Contender) []report.Entry {
	var all []report.Entry
	for j, l := range report.Looks(names(contenders)) {
		name := shortName(contenders[j])
		if contenders[j].Yardstick {
			name += " (yardstick)"
		}
		all = append(all, report.Entry{Name: name, Paint: func(c draw.Canvas) { report.DrawSwatch(c, l) }})
	}
	return append(all, report.Entry{Name: "least possible", Paint: report.DrawLevelSwatch})
}
