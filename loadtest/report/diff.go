package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// ErrNotComparable says that two reports have no contestant in common.
var ErrNotComparable = errors.New("no contestant is in both reports")

// A Comparison is what became of the figures of a load test from one report to another.
type Comparison struct {
	// Notes are what makes the two hard to compare: other settings, another machine.
	Notes []string
	rows  []difference
}

// A difference is a figure of one contestant in both reports.
type difference struct {
	contestant    string
	figure        *figure
	before, after value
	verdict       change
	why           string
}

// A change is the verdict on a figure.
type change string

const (
	same      change = "same"
	better    change = "better"
	worse     change = "worse"
	undecided change = "undecided"
)

// mustBeZero are the figures of which any increase is worse, whatever the spread.
var mustBeZero = []string{"lost", "stale", "corrupt", "unread"}

// Compare compares the figures of all contestants that are in both reports. A figure is better or
// worse if the spreads of its rounds do not touch and the medians differ by more than the tolerance,
// a part of 1. Nothing can be said of a figure with a single round, but that a lost, stale, corrupt
// or unread value is worse than none. The error wraps [ErrNotComparable].
func Compare(before, after *result.Report, tolerance float64) (*Comparison, error) {
	c := &Comparison{Notes: apart(before, after)}
	found := false
	for i := range after.Contestants {
		now := &after.Contestants[i]
		was := contestantNamed(before, now.Name)
		if was == nil {
			c.Notes = append(c.Notes, now.Name+" is in the second report only.")
			continue
		}
		found = true
		for j := range now.Runs {
			if failure := now.Runs[j].Failure; failure != "" {
				c.rows = append(c.rows, difference{contestant: now.Name, verdict: worse, why: fmt.Sprintf("round %d did not come to its end: %s", now.Runs[j].Round, oneLine(failure))})
			}
		}
		for k := range lists().Run {
			f := &lists().Run[k]
			d := difference{contestant: now.Name, figure: f, before: f.overall(was), after: f.overall(now)}
			if f.Goal == none || f.Hidden || d.before.rounds == 0 || d.after.rounds == 0 {
				continue
			}
			d.verdict, d.why = f.change(d.before, d.after, tolerance)
			c.rows = append(c.rows, d)
		}
	}
	for _, name := range names(before) {
		if contestantNamed(after, name) == nil {
			c.Notes = append(c.Notes, name+" is in the first report only.")
		}
	}
	if !found {
		return nil, ErrNotComparable
	}
	return c, nil
}

// change says whether a figure is better or worse, and why that is not known.
func (f *figure) change(before, after value, tolerance float64) (change, string) {
	if slices.Contains(mustBeZero, f.Key) {
		switch cmp.Compare(after.high, before.high) {
		case 1:
			return worse, "must be 0"
		case -1:
			return better, ""
		}
		return same, ""
	}
	switch {
	case f.Unit.text(before.at) == f.Unit.text(after.at):
		return same, ""
	case !before.whole || !after.whole:
		return undecided, "a run was not whole"
	case before.rounds < 2 || after.rounds < 2:
		return undecided, "one round"
	case before.touches(after):
		return same, "within the spread"
	case before.at > 0 && after.at > 0 && math.Abs(math.Log(after.at/before.at)) <= math.Log1p(tolerance):
		return same, "within the tolerance"
	case f.Goal.off(after.at) < f.Goal.off(before.at):
		return better, ""
	}
	return worse, ""
}

func contestantNamed(r *result.Report, name string) *result.Contestant {
	if i := slices.Index(names(r), name); i >= 0 {
		return &r.Contestants[i]
	}
	return nil
}

// apart are the settings in which two tests differ, and their machines.
func apart(before, after *result.Report) []string {
	var notes []string
	if a, b := machine(before.Machine), machine(after.Machine); a != b {
		notes = append(notes, fmt.Sprintf("The machines differ: %s, then %s.", a, b))
	}
	if before.Script != after.Script {
		notes = append(notes, fmt.Sprintf("The scripts differ: %s, then %s.", before.Script, after.Script))
	}
	was := map[string]string{}
	for _, s := range before.Settings {
		was[s.Name] = s.Value
	}
	for _, s := range after.Settings {
		old, ok := was[s.Name]
		if ok && old != s.Value && s.Name != "seed" && s.Name != "script" && s.Name != "strategies" && s.Name != "rounds" {
			notes = append(notes, fmt.Sprintf("--%s differs: %s, then %s.", s.Name, old, s.Value))
		}
	}
	return printable(notes)
}

// Worse reports whether any figure is worse.
func (c *Comparison) Worse() bool {
	return slices.ContainsFunc(c.rows, func(d difference) bool { return d.verdict == worse })
}

// Verdict is the comparison in one sentence.
func (c *Comparison) Verdict() string {
	var bad, good []string
	open := 0
	for _, d := range c.rows {
		switch d.verdict {
		case worse:
			bad = append(bad, d.name())
		case better:
			good = append(good, d.name())
		case undecided:
			open++
		}
	}
	text := "Nothing is worse"
	if len(bad) > 0 {
		text = "Worse: " + strings.Join(bad, ", ")
	}
	if len(good) > 0 {
		text += "; better: " + strings.Join(good, ", ")
	}
	if open > 0 {
		text += "; undecided: " + Plural(open, "figure")
	}
	return Printable(text) + "."
}

func (d *difference) name() string {
	if d.figure == nil {
		return d.contestant + " " + d.why
	}
	return d.contestant + " " + d.figure.Name
}

func (c *Comparison) grid() Grid {
	g := Grid{Head: []string{"contestant", "figure", "before", "after", "change", "verdict"}}
	for _, d := range c.rows {
		if d.figure == nil {
			g.Rows = append(g.Rows, textRow(Clip(Printable(d.contestant), 24), "run", None, None, None, string(d.verdict)+": "+Clip(d.why, 60)))
			continue
		}
		verdict := string(d.verdict)
		if d.why != "" {
			verdict += " (" + d.why + ")"
		}
		by := None
		if d.before.at > 0 {
			by = fmt.Sprintf("%+.1f %%", 100*(d.after.at/d.before.at-1))
		}
		row := append(textRow(Clip(Printable(d.contestant), 24), d.figure.Name), valueCell(d.figure, d.before, false), valueCell(d.figure, d.after, false))
		row = append(row, Cell{Text: by}, Cell{Text: verdict, Best: d.verdict == worse || d.verdict == better})
		g.Rows = append(g.Rows, row)
	}
	return g
}

// Table writes the comparison for a terminal.
func (c *Comparison) Table(w io.Writer) error {
	_, err := io.WriteString(w, lay(c.grid().columns(Cell.both))+"\n"+strings.Join(append(c.Notes, c.Verdict()), "\n")+"\n")
	return err
}

// Markdown writes the comparison as GitHub reads it, the verdict first.
func (c *Comparison) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString(Escaped(c.Verdict()) + "\n\n")
	for _, note := range c.Notes {
		b.WriteString("> " + Escaped(note) + "\n\n")
	}
	c.grid().Markdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// JUnit writes the comparison as test results: a figure that is worse is a failure, one that is
// undecided is skipped.
func (c *Comparison) JUnit(w io.Writer) error {
	suite := junitSuite{Name: "ringside loadtest diff"}
	for i, row := range c.grid().Rows {
		one := junitCase{Class: row[0].Text, Name: row[1].Text}
		text := fmt.Sprintf("%s, then %s: %s", row[2].both(), row[3].both(), row[5].Text)
		switch c.rows[i].verdict {
		case worse:
			one.Failure = &junitMessage{Message: text}
		case undecided:
			one.Skipped = &junitMessage{Message: text}
		}
		suite.add(one)
	}
	return writeJUnit(w, suite)
}
