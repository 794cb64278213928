package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A simCell is a figure as text. Of those that rank, the least is the best.
type simCell struct {
	text  string
	rank  float64
	ranks bool
}

func ranked(text string, rank float64) simCell { return simCell{text, rank, true} }

// cell is a number of a simulation.
func (f *figure) cell(text string, x float64) simCell {
	return simCell{text, f.Goal.off(x), f.Goal != none}
}

// inStep is a figure of a contender in a step.
func (f *figure) inStep(r *sim.Report, i, j int) simCell {
	step := &r.Steps[i]
	x, known := f.outcome(&step.Outcomes[j])
	if !known || f.Key == "moved/least" && step.LeastOf(j).Keys == 0 {
		return simCell{text: None}
	}
	text := f.Unit.text(x)
	switch {
	case f.Unit == copies:
		text = f.Unit.text(Share(int64(x), copiesAfter(r, step)))
	case f.Change && i > 0:
		before, _ := f.outcome(&r.Steps[i-1].Outcomes[j])
		text = f.Unit.text(before) + " → " + text
	}
	return f.cell(text, x)
}

// ofStep are the cells of all contenders in a step.
func (f *figure) ofStep(r *sim.Report, i int) []Cell {
	return cellsOfAll(r, func(j int) simCell { return f.inStep(r, i, j) })
}

// ofScenario are the cells of all contenders for all steps together.
func (f *figure) ofScenario(r *sim.Report) []Cell {
	return cellsOfAll(r, func(j int) simCell {
		x := f.total(r, j)
		switch {
		case f.Key == "moved/least":
			return ratioOfAll(r, j, x)
		case f.If != "" && x == 0:
			return simCell{text: None}
		}
		return f.cell(f.Unit.text(x), x)
	})
}

// cellsOfAll are the cells of all contenders, the best marked.
func cellsOfAll(r *sim.Report, of func(j int) simCell) []Cell {
	found := make([]simCell, len(r.Contenders))
	for j := range found {
		found[j] = of(j)
	}
	cells := make([]Cell, len(found))
	for j, isBest := range bestCells(r.Contenders, found) {
		cells[j] = Cell{Text: found[j].text, Best: isBest, Yardstick: r.Contenders[j].Yardstick}
	}
	return cells
}

// total sums up the steps of a contender. Of times it is the median, so that a moment in which the
// machine was busy does not count.
func (f *figure) total(r *sim.Report, j int) float64 {
	sum, most := 0.0, 0.0
	all := make([]float64, len(r.Steps))
	for i := range r.Steps {
		all[i], _ = f.outcome(&r.Steps[i].Outcomes[j])
		sum, most = sum+all[i], max(most, all[i])
	}
	switch {
	case f.Over == "sum":
		return sum
	case f.Over == "max":
		return most
	case len(all) == 0:
		return 0
	}
	slices.Sort(all)
	return median(all)
}

// ratioOfAll is what moved ÷ the least of all steps. It ranks by how far the steps are from their least on
// average: a step that moves too much does not make up for one that moves too little.
func ratioOfAll(r *sim.Report, j int, moved float64) simCell {
	least, off, moves := 0.0, 0.0, 0.0
	for i := range r.Steps {
		if keys := r.Steps[i].LeastOf(j).Keys; keys > 0 {
			least, moves = least+float64(keys), moves+1
			off += one.off(r.Steps[i].Outcomes[j].Ratio)
		}
	}
	if least == 0 {
		return simCell{text: None}
	}
	return ranked(Ratio(moved/least), off/moves)
}

// scenarioFigures are the lines of the summary of a report.
func scenarioFigures(r *sim.Report) []figure {
	if r.Settings.Zones > 0 {
		return lists().Scenario
	}
	return slices.DeleteFunc(slices.Clone(lists().Scenario), func(f figure) bool { return f.Zoned })
}

// copiesAfter is how many copies of keys there are after a step if none was lost:
// what percentages of keys are of.
func copiesAfter(r *sim.Report, step *sim.Step) int64 {
	return int64(r.Settings.Keys) * int64(max(1, min(r.Settings.Backups+1, len(step.Nodes))))
}

// bestCells tells for each contender's cell whether it is the best of those that are no
// yardsticks. Cells that read alike are alike.
func bestCells(contenders []sim.Contender, cells []simCell) []bool {
	return bestOf(len(cells),
		func(i int) bool { return cells[i].ranks && !contenders[i].Yardstick },
		func(i int) float64 { return cells[i].rank },
		func(i, k int) bool { return afterOf(cells[i].text) == afterOf(cells[k].text) })
}

// afterOf is what a text says of the time after the step.
func afterOf(text string) string {
	if _, after, ok := strings.Cut(text, " → "); ok {
		return after
	}
	return text
}

// SimulationGlossary explains every column, one name and text each: first those of the steps,
// then the lines of the summary.
func SimulationGlossary() (steps, summary [][2]string) {
	name := func(f *figure) string { return oneLine(f.Name) }
	return explained(lists().Step, name), explained(lists().Scenario, name)
}

// WriteSimulationGlossary writes the glossary for a terminal of so many cells.
func WriteSimulationGlossary(w io.Writer, cells int) error {
	const indent, nameCells = 2, 19
	var b strings.Builder
	write := func(entries [][2]string) {
		for _, e := range entries {
			name := e[0]
			for _, line := range Wrap(e[1], max(20, cells-indent-nameCells), 100) {
				fmt.Fprintf(&b, "%*s%s%*s%s\n", indent, "", name, max(1, nameCells-Width(name)), "", line)
				name = ""
			}
		}
	}
	steps, summary := SimulationGlossary()
	write(steps)
	b.WriteString("\nThe summary has a line for each of:\n")
	write(summary)
	_, err := io.WriteString(w, b.String())
	return err
}
