package report

import (
	_ "embed"
	"encoding/json"
	"math"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A figure is one thing that is said of a run of a load test, of an event of it, of a step of a
// simulation or of all its steps. Tables, pages, assertions and their help all go by the lists of
// figures.json.
type figure struct {
	Key  string // as assertions and this package name it
	Name string // as tables name it: in at most 17 cells, or of a step in two lines
	Help string
	Unit unit
	Goal goal

	From  string  // the path of its field in the JSON form; empty: it is computed
	Times float64 // what the field is multiplied by; 0: nothing
	If    string  // the path of a number that is above 0 where the figure is known
	// Before is the path of the figure before the event, for those that are shown with it. It is known
	// above 0.
	Before string

	// Never is for what must not happen: over rounds, the worst counts.
	Never bool
	// Settled figures can be compared only where everything got balanced: a run that is not balanced yet
	// has not moved less.
	Settled bool
	Told    bool // figures of events that also stand in short tables
	Hidden  bool // without a row: for assertions
	Rare    bool // has a row only if one of them is not 0
	Nodes   bool // known only of contestants with known nodes

	Wide   bool   // a column of a step that is shown only on wish
	Yields int    // above 0 for columns that go where they do not fit, the highest first
	Start  bool   // also of step 0, in which nothing moves
	Change bool   // shown with what it was before the step
	Over   string // how steps are summed up: sum, max or median
	Timed  bool   // differs from run to run
	Zoned  bool   // only for nodes that have zones

	// How the figure is found out, by what it is a figure of.
	run     func(*result.Run) (float64, bool)
	event   func(*result.Event) (float64, bool)
	before  func(*result.Event) (float64, bool)
	phase   func(*result.Phase) (float64, bool)
	command func(*result.CommandFigures) (float64, bool)
	outcome func(*sim.Outcome) (float64, bool)
}

//go:embed figures.json
var figuresText []byte

// figureLists are the figures of each kind in the order of tables, and the charts over time.
type figureLists struct {
	Run, Event, Phase, Command []figure  // of load tests; those of a phase and of a command are columns
	Step, Balance, Scenario    []figure  // of simulations
	ClientCharts               []measure `json:"client_charts"`
	ClusterCharts              []measure `json:"cluster_charts"`
	NodeCharts                 []measure `json:"node_charts"`
}

// lists reads figures.json when the first report is written: nodes have no use for it.
var lists = sync.OnceValue(readFigures)

func readFigures() (all figureLists) {
	if err := json.Unmarshal(figuresText, &all); err != nil {
		panic("report: figures.json: " + err.Error())
	}
	for i := range all.Run {
		f := &all.Run[i]
		f.run = reader(f, computedOfRun[f.Key])
	}
	for i := range all.Event {
		f := &all.Event[i]
		f.event = reader(f, untilBalanced)
		if f.Before != "" {
			f.before = reader[result.Event](&figure{From: f.Before, If: f.Before}, nil)
		}
	}
	for i := range all.Phase {
		all.Phase[i].phase = reader(&all.Phase[i], throughput)
	}
	for i := range all.Command {
		all.Command[i].command = reader[result.CommandFigures](&all.Command[i], nil)
	}
	for _, list := range [][]figure{all.Step, all.Balance, all.Scenario} {
		for i := range list {
			list[i].outcome = reader[sim.Outcome](&list[i], nil)
		}
	}
	return all
}

// reader reads the field of a figure, or computes what no field has. A number that is not known is there, too,
// if the field is.
func reader[T any](f *figure, computed func(*T) (float64, bool)) func(*T) (float64, bool) {
	if f.From == "" {
		return computed
	}
	number, times := numberAt[T](f.From), max(f.Times, 1)
	condition := number
	if f.If != "" {
		condition = numberAt[T](f.If)
	}
	return func(v *T) (float64, bool) {
		x, known := number(v)
		y, _ := condition(v)
		return x * times, known && (f.If == "" || y > 0)
	}
}

// A goal says which of several is the best: the lowest, the highest or that nearest to 1.
type goal string

const (
	none goal = "" // no value is better
	low  goal = "low"
	high goal = "high"
	one  goal = "one"
)

// off is how far a value is from the goal; the least is the best.
func (g goal) off(x float64) float64 {
	switch {
	case g == high:
		return -x
	case g == one && x > 0:
		return math.Abs(math.Log(x))
	case g == one:
		return math.Inf(1)
	}
	return x
}

// aliases are other words for figures in assertions.
var aliases = map[string]string{"errors": "failed", "p999": "p99.9"}

// computedOfRun are the figures of a run that no field has.
var computedOfRun = map[string]func(*result.Run) (float64, bool){
	"throughput":  func(r *result.Run) (float64, bool) { return throughput(&r.All) },
	"moved":       func(r *result.Run) (float64, bool) { return float64(sumEvents(r).MovedKeys), len(r.Events) > 0 },
	"moved-bytes": func(r *result.Run) (float64, bool) { return float64(sumEvents(r).MovedBytes), len(r.Events) > 0 },
	"moved/least": func(r *result.Run) (float64, bool) {
		all := sumEvents(r)
		return float64(all.MovedKeys) / float64(all.LeastKeys), all.LeastKeys > 0
	},
	"balanced": func(r *result.Run) (longest float64, known bool) {
		for i := range r.Events {
			t, ok := untilBalanced(&r.Events[i])
			if !ok {
				return 0, false
			}
			longest, known = max(longest, t), true
		}
		return longest, known
	},
	"forwarded": func(r *result.Run) (float64, bool) {
		total := 0.0
		for i := range r.Samples {
			total += r.Samples[i].Forwarded
		}
		return total / float64(len(r.Samples)), len(r.Samples) > 0
	},
	"load": func(r *result.Run) (float64, bool) { return rate(r.LoadKeys, r.LoadSeconds*1000) },
}

func throughput(p *result.Phase) (float64, bool) {
	return rate(p.Operations-p.Failed, p.UntilMS-p.FromMS)
}

func rate(n int64, milliseconds float64) (float64, bool) {
	return float64(n) / milliseconds * 1000, milliseconds > 0
}

// sumEvents sums up what the events of a run moved.
func sumEvents(r *result.Run) (all result.Event) {
	for i := range r.Events {
		all.MovedKeys += r.Events[i].MovedKeys
		all.MovedBytes += r.Events[i].MovedBytes
		all.LeastKeys += r.Events[i].LeastKeys
	}
	return all
}

// untilBalanced is in microseconds.
func untilBalanced(e *result.Event) (float64, bool) {
	if e.BalancedMS == nil {
		return 0, false
	}
	return (*e.BalancedMS - e.AtMS) * 1000, true
}

// group is what figures have in common that stand below each other.
func (f *figure) group() string {
	of, _, _ := strings.Cut(f.Key, "-")
	return of
}

// fullName is the figure's name where the row above does not begin it.
func (f *figure) fullName() string {
	if !strings.HasPrefix(f.Name, "…") {
		return f.Name
	}
	return f.group() + strings.TrimPrefix(f.Name, "…")
}

func figureNamed(figures []figure, key string) *figure {
	for i := range figures {
		if figures[i].Key == key {
			return &figures[i]
		}
	}
	panic("report: no figure " + key)
}

// explained are figures by name, with their help.
func explained(figures []figure, name func(*figure) string) [][2]string {
	all := make([][2]string, len(figures))
	for i := range figures {
		all[i] = [2]string{name(&figures[i]), figures[i].Help}
	}
	return all
}
