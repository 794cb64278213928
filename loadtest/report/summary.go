package report

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// runs are all runs of a report, each with its contestant.
func runs(r *result.Report) iter.Seq2[*result.Contestant, *result.Run] {
	return func(yield func(*result.Contestant, *result.Run) bool) {
		for i := range r.Contestants {
			for j := range r.Contestants[i].Runs {
				if !yield(&r.Contestants[i], &r.Contestants[i].Runs[j]) {
					return
				}
			}
		}
	}
}

// ended reports whether any run of a contestant came to its end.
func ended(c *result.Contestant) bool {
	return slices.ContainsFunc(c.Runs, func(r result.Run) bool { return r.Failure == "" })
}

// A value is a figure of one contestant over all its rounds.
type value struct {
	// at is the median, or the worst of what must not happen.
	at, low, high float64
	rounds        int // in which it is known; 0: nothing is
	// whole reports whether it can be compared: all its runs came to their end.
	whole  bool
	before *value // what it was before the event
}

// overall is a figure of the whole run.
func (f *figure) overall(c *result.Contestant) value {
	return f.over(c, f.run, func(r *result.Run) bool {
		_, ok := computedOfRun["balanced"](r)
		return ok
	})
}

// in is a figure of an event.
func (f *figure) in(c *result.Contestant, e eventKey) value {
	settled := func(r *result.Run) bool {
		event := e.of(r)
		return event == nil || event.BalancedMS != nil
	}
	v := f.over(c, e.figure(f.event), settled)
	if f.before != nil {
		b := f.over(c, e.figure(f.before), settled)
		v.before = &b
	}
	return v
}

// over sums rounds up. Runs that did not come to their end count only if none did; what
// must not happen counts in any case.
func (f *figure) over(c *result.Contestant, of func(*result.Run) (float64, bool), settled func(*result.Run) bool) value {
	if f.Nodes && !c.Cluster {
		return value{}
	}
	var all []float64
	whole := ended(c)
	comparable := whole
	for i := range c.Runs {
		r := &c.Runs[i]
		if whole && r.Failure != "" && !f.Never {
			continue
		}
		if x, ok := of(r); ok && !isNone(x) {
			all = append(all, x)
			comparable = comparable && (!f.Settled || settled(r))
		}
	}
	if len(all) == 0 {
		return value{}
	}
	slices.Sort(all)
	v := value{at: median(all), low: all[0], high: all[len(all)-1], rounds: len(all), whole: comparable}
	if f.Never {
		v.at = v.high
	}
	return v
}

// median is that of sorted numbers, of which there is at least one.
func median(sorted []float64) float64 {
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// An eventKey names the same event in all runs: the script is the same.
type eventKey struct {
	index int
	name  string
	nth   int // of those of this name, from 1 on
	only  bool
}

// events are all events of a report, in their order.
func events(r *result.Report) []eventKey {
	var longest []result.Event
	for _, run := range runs(r) {
		if len(run.Events) > len(longest) {
			longest = run.Events
		}
	}
	nth := map[string]int{}
	keys := make([]eventKey, len(longest))
	for i := range longest {
		name := longest[i].Name
		nth[name]++
		keys[i] = eventKey{index: i, name: name, nth: nth[name]}
	}
	for i := range keys {
		keys[i].only = nth[keys[i].name] == 1
	}
	return keys
}

// of is the event in a run; nil if the run did not come to it.
func (k eventKey) of(r *result.Run) *result.Event {
	if k.index >= len(r.Events) || r.Events[k.index].Name != k.name {
		return nil
	}
	return &r.Events[k.index]
}

func (k eventKey) figure(of func(*result.Event) (float64, bool)) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		e := k.of(r)
		if e == nil {
			return 0, false
		}
		return of(e)
	}
}

// label is the event's name, with its number if there are several.
func (k eventKey) label() string {
	if k.only {
		return k.name
	}
	return k.name + "#" + strconv.Itoa(k.nth)
}

// title is the event in words: which, to whom and when.
func (k eventKey) title(r *result.Report) string {
	title := k.label()
	var at []float64
	nodes, differ := "", false
	for _, run := range runs(r) {
		if e := k.of(run); e != nil {
			at = append(at, e.AtMS)
			differ = differ || nodes != "" && e.Node != nodes
			nodes = e.Node
		}
	}
	if nodes != "" && !differ {
		title += " of " + Clip(Printable(nodes), 30)
	}
	if len(at) > 0 {
		slices.Sort(at)
		title += ", after " + seconds(median(at)/1000)
	}
	return title
}

// A row is a figure of all contestants.
type row struct {
	figure *figure
	name   string // of the figure, in full where the row above does not begin it
	values []value
	best   []bool
}

// rows are those of a table: with an event those of the event, else those of the runs.
// Rows without any value are left out.
func rows(r *result.Report, event *eventKey) []row {
	figures := lists().Run
	if event != nil {
		figures = lists().Event
	}
	var all []row
	for i := range figures {
		f := &figures[i]
		line := newRow(r, f, event)
		known := slices.ContainsFunc(line.values, func(v value) bool { return v.rounds > 0 })
		any := slices.ContainsFunc(line.values, func(v value) bool { return v.high > 0 })
		if f.Hidden || !known || f.Rare && !any {
			continue
		}
		if n := len(all); n > 0 && all[n-1].figure.group() == f.group() {
			line.name = f.Name
		}
		all = append(all, line)
	}
	return all
}

// newRow is a figure of the runs, or of an event, of all contestants.
func newRow(r *result.Report, f *figure, event *eventKey) row {
	values := make([]value, len(r.Contestants))
	for j := range values {
		if event != nil {
			values[j] = f.in(&r.Contestants[j], *event)
		} else {
			values[j] = f.overall(&r.Contestants[j])
		}
	}
	return row{figure: f, name: f.fullName(), values: values, best: best(f, values)}
}

// best reports which values of a figure are the best. Those that read alike share it, and those
// whose spread over rounds touches that of the best, for a difference within the spread may
// be chance. Nothing is marked where a value is of a single round, whose spread is unknown.
func best(f *figure, values []value) []bool {
	compared := func(i int) bool { return f.Goal != none && values[i].rounds > 0 && values[i].whole }
	for i := range values {
		if compared(i) && values[i].rounds < 2 {
			return make([]bool, len(values))
		}
	}
	return bestOf(len(values), compared,
		func(i int) float64 { return f.Goal.off(values[i].at) },
		func(i, k int) bool {
			return f.Unit.text(values[i].at) == f.Unit.text(values[k].at) || values[i].touches(values[k])
		})
}

// bestOf reports which of n figures are the best: that which is nearest to its goal, the first of several,
// and all that are alike to it. Nothing is marked where all that are compared are alike.
func bestOf(n int, compared func(i int) bool, off func(i int) float64, alike func(i, k int) bool) []bool {
	first, differ := -1, false
	for i := range n {
		if compared(i) && (first < 0 || off(i) < off(first)) {
			first = i
		}
	}
	marks := make([]bool, n)
	for i := range n {
		if compared(i) {
			marks[i] = alike(i, first)
			differ = differ || !marks[i]
		}
	}
	if !differ {
		clear(marks)
	}
	return marks
}

func (v value) touches(w value) bool {
	return v.low <= w.high && w.low <= v.high
}

// text is the value for people, without its spread.
func (v value) text(u unit) string {
	if v.rounds == 0 {
		return None
	}
	return u.text(v.at)
}

// spread is from the lowest to the highest round, or what the value was before; empty where
// all rounds are alike.
func (v value) spread(u unit) string {
	switch {
	case v.before != nil && v.before.rounds > 0:
		return "was " + v.before.text(u)
	case v.rounds < 2 || u.text(v.low) == u.text(v.high):
		return ""
	}
	return u.spread(v.at, v.low, v.high)
}

// shown is the run that charts show of a contestant: that with the median throughput of
// those that came to their end; nil if there is none at all.
func shown(c *result.Contestant) *result.Run {
	var all []*result.Run
	for i := range c.Runs {
		if c.Runs[i].Failure == "" || !ended(c) {
			all = append(all, &c.Runs[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *result.Run) int {
		x, _ := throughput(&a.All)
		y, _ := throughput(&b.All)
		return cmp.Compare(x, y)
	})
	return all[(len(all)-1)/2]
}

// shownRuns are the runs that charts show, each with the number of its contestant.
func shownRuns(r *result.Report) iter.Seq2[int, *result.Run] {
	return func(yield func(int, *result.Run) bool) {
		for i := range r.Contestants {
			if run := shown(&r.Contestants[i]); run != nil && !yield(i, run) {
				return
			}
		}
	}
}

func seconds(s float64) string {
	switch {
	case s >= 3600*10:
		return Significant(s/3600) + " h"
	case s >= 600:
		return Significant(s/60) + " min"
	}
	return Significant(s) + " s"
}
