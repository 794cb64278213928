package sim

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/ring"
)

// ErrScenario says that a scenario cannot be read, or cannot happen to the members that
// are there. The message names the column, counted in bytes from 1 on.
var ErrScenario = errors.New("bad scenario")

// A Scenario is the events that happen to the members, in order.
type Scenario []Event

// An Event is one part of a scenario. It is one step or, without AtOnce, as many as
// there are nodes.
type Event struct {
	Kind    Kind
	Count   int     // nodes or, for Shuffle, steps; 0 if Percent says it
	Percent float64 // of the nodes that are there
	AtOnce  bool
	Node    string  // SetWeight: the node; empty: the order chooses one
	Weight  float64 // SetWeight
	Switch  string  // Switch: the strategy with its settings, as RING STRATEGY takes them
	Column  int     // where its text begins, in bytes from 1 on
}

// Kind is what an event does.
type Kind uint8

// The kinds of events.
const (
	Add       Kind = iota // nodes join
	Remove                // nodes leave and hand over what they have
	Restore               // all that left or crashed are back, with their weights
	SetWeight             // a node changes its weight
	Crash                 // nodes die, and their copies with them
	Shuffle               // nodes join or leave, one a step, as the seed will have it
	Switch                // the cluster switches to another strategy
)

var kinds = map[string]Kind{
	"add": Add, "remove": Remove, "restore": Restore,
	"weight": SetWeight, "crash": Crash, "shuffle": Shuffle, "strategy": Switch,
}

// ParseScenario reads events with semicolons between them:
//
//	add               one node joins
//	add 8             eight join, one a step
//	add 8 at once     eight join in one step
//	remove            one node leaves; also: 3 | 90% at once | 2 at once
//	restore           all that left or crashed are back, at once
//	weight 2          a node gets the weight 2
//	weight node-3 2   node-3 gets the weight 2
//	crash             one node dies; also: 2 | 10%, always at once
//	shuffle 20        twenty steps, in each of which a node joins or leaves
//	strategy ketama   all contenders but yardsticks switch; also: strategy ketama points 40
//
// A part of the nodes is rounded down, but is at least one node. Empty events are
// passed over. The error joins every fault and wraps [ErrScenario].
func ParseScenario(s string) (Scenario, error) {
	return workload.ParseSteps(ErrScenario, s, parseEvent)
}

func atColumn(at int, format string, args ...any) error {
	return workload.Fault(ErrScenario, at, format, args...)
}

func parseEvent(words []workload.Word) (Event, error) {
	kind, ok := kinds[words[0].Text]
	if !ok {
		return Event{}, words[0].Fault(ErrScenario, "%.40q: want add, remove, restore, weight, crash, shuffle or strategy", words[0].Text)
	}
	e := Event{Kind: kind, Count: 1, Column: words[0].Column}
	rest := words[1:]
	switch kind {
	case SetWeight:
		return parseWeight(e, rest)
	case Switch:
		var err error
		e.Switch, err = workload.ParseSwitch(ErrScenario, words[0], rest)
		return e, err
	}
	if n := len(rest); n >= 2 && rest[n-2].Text == "at" && rest[n-1].Text == "once" {
		if kind != Add && kind != Remove && kind != Crash {
			return Event{}, rest[n-2].Fault(ErrScenario, "only add, remove and crash can be at once")
		}
		e.AtOnce = true
		rest = rest[:n-2]
	}
	if kind == Crash || kind == Restore {
		e.AtOnce = true
	}
	if kind == Restore {
		e.Count = 0
		if len(rest) > 0 {
			return Event{}, rest[0].Fault(ErrScenario, "restore brings all back and has no number")
		}
		return e, nil
	}
	if len(rest) > 1 {
		return Event{}, rest[1].Fault(ErrScenario, "%.40q: an event ends with its number or with at once", rest[1].Text)
	}
	if len(rest) == 0 {
		return e, nil
	}
	return parseCount(e, rest[0])
}

func parseCount(e Event, w workload.Word) (Event, error) {
	if number, part := strings.CutSuffix(w.Text, "%"); part {
		percent, err := strconv.ParseFloat(number, 64)
		switch {
		case e.Kind != Remove && e.Kind != Crash:
			return Event{}, w.Fault(ErrScenario, "only remove and crash take a part of the nodes")
		case err != nil || !(percent > 0 && percent <= 100):
			return Event{}, w.Fault(ErrScenario, "%.40q is not a part of the nodes, as in 90%%", w.Text)
		}
		e.Count, e.Percent = 0, percent
		return e, nil
	}
	n, err := strconv.Atoi(w.Text)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return Event{}, w.Fault(ErrScenario, "%.40q is not a number of nodes", w.Text)
	case err != nil || n < 1 || n > MaxNodes:
		return Event{}, w.Fault(ErrScenario, "%.40s is not within 1..%d", w.Text, MaxNodes)
	}
	e.Count = n
	return e, nil
}

func parseWeight(e Event, rest []workload.Word) (Event, error) {
	if len(rest) == 0 || len(rest) > 2 {
		return Event{}, atColumn(e.Column, "a weight is set as in weight 2 or weight node-3 2")
	}
	if len(rest) == 2 {
		e.Node = rest[0].Text
	}
	last := rest[len(rest)-1]
	w, err := strconv.ParseFloat(last.Text, 64)
	if err != nil || !(w > 0 && w <= ring.MaxWeight) {
		return Event{}, last.Fault(ErrScenario, "%.40q is not a weight above 0 and up to %d", last.Text, ring.MaxWeight)
	}
	e.Weight = w
	return e, nil
}

// nodes is how many of n nodes the event is about.
func (e Event) nodes(n int) int {
	if e.Percent == 0 {
		return e.Count
	}
	// A hair more than the product, so that 10 % of 10 is one however 0.1 is rounded.
	return max(1, int(math.Floor(float64(n)*e.Percent/100+1e-9)))
}
