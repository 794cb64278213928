package report

import (
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// contenderNames are those of the contenders.
func contenderNames(contenders []sim.Contender) []string {
	all := make([]string, len(contenders))
	for i, c := range contenders {
		all[i] = c.Name
	}
	return all
}

// simLegend has the contenders, and the least possible.
func simLegend(contenders []sim.Contender) []Entry {
	var all []Entry
	for j, l := range Looks(contenderNames(contenders)) {
		name := contenderName(contenders[j])
		if contenders[j].Yardstick {
			name += " (yardstick)"
		}
		all = append(all, Entry{Name: name, Paint: func(c draw.Canvas) { DrawSwatch(c, l) }})
	}
	return append(all, Entry{Name: "least possible", Paint: DrawLevelSwatch})
}
