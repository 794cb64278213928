package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// Errors of assertions.
var (
	// ErrAssert says that assertions cannot be read. The message names the column, counted
	// in bytes from 1 on.
	ErrAssert = errors.New("bad assertion")
	// ErrNotSo says that an assertion does not hold.
	ErrNotSo = errors.New("assertion does not hold")
)

// Bounds of assertions.
const (
	maxAssertLen = 16 << 10
	maxFaults    = 20
)

// An Assertion is what must hold of a report: nothing, or several claims.
type Assertion []claim

// A claim is that a figure keeps to a bound.
type claim struct {
	text       string
	contestant string // empty: all of them
	event      string // empty: of the whole run
	nth        int    // of the events of this name, from 1 on; 0: each
	figure     *figure
	holds      func(x, bound float64) bool
	bound      float64
}

// eventNames are the events that a claim can be about.
var eventNames = []string{"join", "leave", "kill", "restart", "strategy", "hotspot", "balance load"}

type operator struct {
	text  string
	holds func(x, bound float64) bool
}

// operators, the longer before what they begin with.
var operators = []operator{
	{"<=", func(x, bound float64) bool { return x <= bound }},
	{">=", func(x, bound float64) bool { return x >= bound }},
	{"!=", func(x, bound float64) bool { return x != bound }},
	{"==", func(x, bound float64) bool { return x == bound }},
	{"<", func(x, bound float64) bool { return x < bound }},
	{">", func(x, bound float64) bool { return x > bound }},
	{"=", func(x, bound float64) bool { return x == bound }},
}

// ParseAssert reads assertions with commas between them, such as
//
//	p99<5ms, errors=0, throughput>=10k, moved/least<1.2, join.pause<2s, vnode:128.p99<8ms
//
// Each is a figure, an operator (< <= > >= = !=) and a bound: a time (us, ms, s, m), a
// number (k, M and G are thousands and so on), bytes (KiB, MiB, GiB) or a share (12%), as
// the figure has it. Before the figure may stand an event, join, leave, kill, restart, strategy,
// hotspot or balance load, which means each of that name, or join#2, which means the second; and before that a
// contestant. The empty text asserts nothing. The error joins every fault and wraps
// [ErrAssert].
func ParseAssert(text string) (Assertion, error) {
	if len(text) > maxAssertLen {
		return nil, workload.Fault(ErrAssert, maxAssertLen, "it is longer than %d bytes", maxAssertLen)
	}
	var a Assertion
	var faults []error
	at := 1
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) != "" {
			c, err := parseClaim(part, at)
			if err != nil {
				if faults = append(faults, err); len(faults) > maxFaults {
					break // more faults help no reader
				}
			}
			a = append(a, c)
		}
		at += len(part) + 1
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return a, nil
}

func parseClaim(part string, at int) (claim, error) {
	c := claim{text: strings.TrimSpace(part)}
	i := strings.IndexAny(part, "<>=!")
	if i < 0 {
		return c, workload.Fault(ErrAssert, at+indent(part), "%.40q has no operator, as in p99<5ms", c.text)
	}
	k := slices.IndexFunc(operators, func(o operator) bool { return strings.HasPrefix(part[i:], o.text) })
	if k < 0 {
		return c, workload.Fault(ErrAssert, at+i, "%.1q is not an operator; use <  <= > >= = !=", part[i:])
	}
	c.holds = operators[k].holds
	if err := c.parseName(wordAt(part[:i], at)); err != nil {
		return c, err
	}
	end := i + len(operators[k].text)
	var err error
	c.bound, err = c.figure.Unit.parse(wordAt(part[end:], at+end))
	return c, err
}

// wordAt is a text without the space around it.
func wordAt(s string, column int) workload.Word {
	return workload.Word{Text: strings.TrimSpace(s), Column: column + indent(s)}
}

// indent is how many bytes of space a text begins with.
func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\r\n")) }

// parseName reads [contestant.][event.]figure from its end, since contestants may have
// points in their names, and so may figures.
func (c *claim) parseName(w workload.Word) error {
	rest, figures := w.Text, lists().Run
	key := figureKey(rest)
	if key == "" {
		return w.Fault(ErrAssert, "%.40q is not a figure; the figures are %s", w.Text, strings.Join(keys(lists().Run), " "))
	}
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, key), ".")
	event := rest[strings.LastIndexByte(rest, '.')+1:]
	name, nth, counted := strings.Cut(event, "#")
	if slices.Contains(eventNames, name) {
		figures = lists().Event
		c.event = name
		if counted {
			n, err := strconv.Atoi(nth)
			if err != nil || n < 1 {
				return w.Fault(ErrAssert, "%.40q: want the number of an event, as in %s#2", event, name)
			}
			c.nth = n
		}
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, event), ".")
	}
	c.contestant = rest
	key = cmp.Or(aliases[key], key)
	at := slices.Index(keys(figures), key)
	switch {
	case at >= 0:
		c.figure = &figures[at]
		return nil
	case c.event == "":
		return w.Fault(ErrAssert, "%s is a figure of events alone, as in join.%[1]s", key)
	}
	return w.Fault(ErrAssert, "events have no %s; they have %s", key, strings.Join(keys(lists().Event), " "))
}

// figureKey is the longest key of a figure that a name ends with; empty if there is none.
func figureKey(name string) string {
	longest := ""
	for _, key := range slices.Concat(keys(lists().Run), keys(lists().Event), slices.Collect(maps.Keys(aliases))) {
		if len(key) > len(longest) && strings.HasSuffix("."+name, "."+key) {
			longest = key
		}
	}
	return longest
}

func keys(figures []figure) []string {
	all := make([]string, len(figures))
	for i := range figures {
		all[i] = figures[i].Key
	}
	return all
}

// Check returns all claims that do not hold, with the contestant, the figure and the bound;
// each error wraps [ErrNotSo]. A figure is what the table shows, the median of the rounds;
// failed, unknown, lost, stale and corrupt must keep to the bound in each round. A claim
// about an unknown figure does not hold, and neither does a claim about a contestant with a
// failed run. A claim about nodes that names no contestant skips contestants with unknown
// nodes, if there is another contestant.
func (a Assertion) Check(r *result.Report) error {
	var faults []error
	failed := map[string]bool{}
	for _, c := range a {
		faults = append(faults, c.check(r, failed)...)
	}
	return errors.Join(faults...)
}

func (c *claim) check(r *result.Report, failed map[string]bool) (faults []error) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s: %s", ErrNotSo, c.text, fmt.Sprintf(format, args...)))
	}
	met, skipped := 0, 0
	for i := range r.Contestants {
		contestant := &r.Contestants[i]
		if c.contestant != "" && contestant.Name != c.contestant {
			continue
		}
		if c.contestant == "" && c.figure.Nodes && !contestant.Cluster {
			skipped++
			continue
		}
		met++
		if len(contestant.Runs) == 0 {
			fault("%s did not run", contestant.Name)
			continue
		}
		for j := range contestant.Runs {
			if run := &contestant.Runs[j]; run.Failure != "" && !failed[contestant.Name] {
				failed[contestant.Name] = true
				fault("%s, round %d, did not come to its end: %s", contestant.Name, run.Round, run.Failure)
			}
		}
		for _, at := range c.places(r) {
			where, v := contestant.Name, value{}
			if at == nil {
				v = c.figure.overall(contestant)
			} else {
				where += ", " + at.label()
				v = c.figure.in(contestant, *at)
			}
			switch {
			case v.rounds == 0:
				fault("%s: %s is not known", where, c.figure.Key)
			case !c.keptBy(v):
				fault("%s: %s is %s", where, c.figure.Key, c.figure.Unit.exact(v.at))
			}
		}
	}
	switch {
	case met == 0 && c.contestant != "":
		fault("no contestant has this name")
	case met == 0 && skipped > 0:
		fault("the nodes of no contestant are known")
	case met == 0:
		fault("there is no contestant")
	case c.event != "" && len(c.places(r)) == 0:
		fault("there was no such event")
	}
	return faults
}

// places are the events that the claim is about, or nil for the whole run.
func (c *claim) places(r *result.Report) []*eventKey {
	if c.event == "" {
		return []*eventKey{nil}
	}
	var all []*eventKey
	for _, e := range events(r) {
		if e.name == c.event && (c.nth == 0 || c.nth == e.nth) {
			all = append(all, &e)
		}
	}
	return all
}

func (c *claim) keptBy(v value) bool {
	if c.figure.Never {
		return c.holds(v.low, c.bound) && c.holds(v.high, c.bound)
	}
	return c.holds(v.at, c.bound)
}

// AssertHelp explains every figure that can be asserted, by its name: first those of the
// whole run, then those of events.
func AssertHelp() (runs, events [][2]string) {
	name := func(f *figure) string { return f.Key }
	return explained(lists().Run, name), explained(lists().Event, name)
}
