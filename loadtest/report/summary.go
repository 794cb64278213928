package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/result"
)

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
		_, ok := longestUnbalanced(r)
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
	if f.nodes && !c.Cluster {
		return value{}
	}
	whole := slices.ContainsFunc(c.Runs, func(r result.Run) bool { return r.Failure == "" })
	var all []float64
	comparable := whole
	for i := range c.Runs {
		r := &c.Runs[i]
		if whole && r.Failure != "" && !f.never {
			continue
		}
		if x, ok := of(r); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
			all = append(all, x)
			comparable = comparable && (!f.settled || settled(r))
		}
	}
	if len(all) == 0 {
		return value{}
	}
	slices.Sort(all)
	v := value{at: median(all), low: all[0], high: all[len(all)-1], rounds: len(all), whole: comparable}
	if f.never {
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
	for i := range r.Contestants {
		for j := range r.Contestants[i].Runs {
			if e := r.Contestants[i].Runs[j].Events; len(e) > len(longest) {
				longest = e
			}
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
	for i := range r.Contestants {
		for j := range r.Contestants[i].Runs {
			e := k.of(&r.Contestants[i].Runs[j])
			if e == nil {
				continue
			}
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
	figures := runFigures
	if event != nil {
		figures = eventFigures
	}
	var all []row
	for i := range figures {
		f := &figures[i]
		if f.hidden {
			continue
		}
		line := row{figure: f, values: make([]value, len(r.Contestants))}
		known, any := false, false
		for j := range r.Contestants {
			if event != nil {
				line.values[j] = f.in(&r.Contestants[j], *event)
			} else {
				line.values[j] = f.overall(&r.Contestants[j])
			}
			known = known || line.values[j].rounds > 0
			any = any || line.values[j].high > 0
		}
		if known && (any || !f.rare) {
			line.name, line.best = f.fullName(), best(f, line.values)
			if n := len(all); n > 0 && all[n-1].figure.group() == f.group() {
				line.name = f.name
			}
			all = append(all, line)
		}
	}
	return all
}

// best reports which values of a figure are the best. Those that read alike share it, and those
// whose spread over rounds touches that of the best, for a difference within the spread may
// be chance. Nothing is marked where all share it, nor where a value is of a single round, whose
// spread is unknown.
func best(f *figure, values []value) []bool {
	marks := make([]bool, len(values))
	first := -1
	for i, v := range values {
		if f.goal != none && v.rounds > 0 && v.whole && (first < 0 || f.goal.off(v.at) < f.goal.off(values[first].at)) {
			first = i
		}
	}
	if first < 0 {
		return marks
	}
	shared, compared := 0, 0
	for i, v := range values {
		if v.rounds == 0 || !v.whole {
			continue
		}
		compared++
		if v.rounds < 2 {
			return make([]bool, len(values))
		}
		if f.unit.text(v.at) == f.unit.text(values[first].at) || v.touches(values[first]) {
			marks[i] = true
			shared++
		}
	}
	if shared == compared {
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
	var runs []*result.Run
	whole := slices.ContainsFunc(c.Runs, func(r result.Run) bool { return r.Failure == "" })
	for i := range c.Runs {
		if r := &c.Runs[i]; !whole || r.Failure == "" {
			runs = append(runs, r)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	throughput := func(r *result.Run) float64 {
		x, _ := runFigures[0].run(r)
		return x
	}
	slices.SortStableFunc(runs, func(a, b *result.Run) int {
		switch x, y := throughput(a), throughput(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return runs[(len(runs)-1)/2]
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
