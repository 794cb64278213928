package report

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// throughputs are rounds of a contestant in which so many operations a second were done;
// those below 0 failed after so many.
func throughputs(name string, all ...int64) result.Contestant {
	c := result.Contestant{Name: name, Cluster: true}
	for i, n := range all {
		run := result.Run{Round: i + 1, All: result.Phase{UntilMS: 1000, Clients: result.Clients{Operations: n}}}
		if n < 0 {
			run.All.Operations, run.Failure = -n, "it broke"
		}
		c.Runs = append(c.Runs, run)
	}
	return c
}

func TestRoundsAreSummedUpByTheirMedian(t *testing.T) {
	throughput := figureNamed(lists().Run, "throughput")
	for _, tt := range []struct {
		rounds []int64
		want   value
	}{
		{nil, value{}},
		{[]int64{5}, value{5, 5, 5, 1, true, nil}},
		{[]int64{9, 1, 5}, value{5, 1, 9, 3, true, nil}},
		{[]int64{8, 1, 5, 6}, value{5.5, 1, 8, 4, true, nil}},
		{[]int64{9, -100, 7}, value{8, 7, 9, 2, true, nil}}, // what failed does not count
		{[]int64{-100, -50}, value{75, 50, 100, 2, false, nil}},
	} {
		c := throughputs("x", tt.rounds...)
		if got := throughput.overall(&c); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.rounds, got, tt.want)
		}
	}
}

func TestSummaryKeepsWorstErrorCount(t *testing.T) {
	c := throughputs("x", 10, 10, -10, 10)
	for i := range c.Runs {
		c.Runs[i].Checked = &result.Checked{}
	}
	c.Runs[2].Checked.Lost = 3
	if got := figureNamed(lists().Run, "lost").overall(&c); got.at != 3 || got.low != 0 || got.rounds != 4 {
		t.Errorf("%+v", got)
	}
	c.Runs[2].Checked = nil
	c.Runs[0].Checked.Stale = 1
	if got := figureNamed(lists().Run, "stale").overall(&c); got.at != 1 || got.rounds != 3 {
		t.Errorf("%+v", got)
	}
}

func TestUnknownFiguresAreMissing(t *testing.T) {
	c := throughputs("x", 10)
	c.Runs[0].Events = []result.Event{{Name: "join", MovedKeys: 5, LeastKeys: 0}}
	nan := math.NaN()
	c.Runs[0].Events[0].Factor = &nan
	c.Runs[0].All.Latency.P99 = math.Inf(1)
	e := events(&result.Report{Contestants: []result.Contestant{c}})[0]
	for _, key := range []string{"lost", "moved/least", "balanced", "forwarded", "p99", "load", "generator"} {
		if got := figureNamed(lists().Run, key).overall(&c); got != (value{}) {
			t.Errorf("%s: %+v", key, got)
		}
	}
	for _, key := range []string{"moved/least", "balanced", "throughput", "p99-after"} {
		if got := figureNamed(lists().Event, key).in(&c, e); got != (value{}) {
			t.Errorf("%s of the event: %+v", key, got)
		}
	}
	if got := figureNamed(lists().Run, "moved").overall(&c); got.at != 5 {
		t.Errorf("%+v", got)
	}
	c.Cluster = false
	if got := figureNamed(lists().Run, "moved").overall(&c); got != (value{}) {
		t.Errorf("of a contestant whose nodes are not known: %+v", got)
	}
}

func TestBestFigureIsMarked(t *testing.T) {
	high, low, one, no := figure{Goal: high}, figure{Goal: low}, figure{Goal: one, Unit: factor}, figure{}
	v := func(all ...float64) value {
		return value{at: all[0], low: all[1], high: all[2], rounds: 3, whole: true}
	}
	failed := v(100, 100, 100)
	failed.whole = false
	for name, tt := range map[string]struct {
		f      figure
		values []value
		want   []bool
	}{
		"the highest":                  {high, []value{v(5, 5, 5), v(7, 7, 7), v(6, 6, 6)}, []bool{false, true, false}},
		"the lowest":                   {low, []value{v(5, 5, 5), v(7, 7, 7), v(6, 6, 6)}, []bool{true, false, false}},
		"nearest to one":               {one, []value{v(0.5, 0.5, 0.5), v(1.2, 1.2, 1.2), v(2, 2, 2), v(0, 0, 0)}, []bool{false, true, false, false}},
		"without a goal":               {no, []value{v(5, 5, 5), v(7, 7, 7)}, []bool{false, false}},
		"ties":                         {high, []value{v(7, 7, 7), v(5, 5, 5), v(7.0001, 7.0001, 7.0001)}, []bool{true, false, true}},
		"all alike":                    {high, []value{v(7, 7, 7), v(7, 7, 7)}, []bool{false, false}},
		"within the spread":            {low, []value{v(5, 4, 7), v(6, 5, 8), v(9, 8.5, 10)}, []bool{true, true, false}},
		"all within the spread":        {low, []value{v(5, 4, 7), v(6, 5, 8), v(9, 7, 10)}, []bool{false, false, false}},
		"spreads apart":                {low, []value{v(5, 4, 7), v(8, 7.5, 9)}, []bool{true, false}},
		"who failed is not compared":   {high, []value{v(5, 5, 5), failed, v(4, 4, 4)}, []bool{true, false, false}},
		"what is unknown neither":      {low, []value{v(5, 5, 5), {}, v(4, 4, 4)}, []bool{false, false, true}},
		"nobody to be compared with":   {high, []value{v(5, 5, 5), {}}, []bool{false, false}},
		"nobody at all":                {high, nil, []bool{}},
		"one value within the spread":  {high, []value{v(5, 4, 7), v(6, 6, 6), v(1, 1, 1)}, []bool{true, true, false}},
		"one value beyond the spread":  {high, []value{v(5, 4, 7), v(8, 8, 8), v(1, 1, 1)}, []bool{false, true, false}},
		"only those who failed remain": {high, []value{failed, {}}, []bool{false, false}},
	} {
		if got := best(&tt.f, tt.values); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestOnlyBalancedContestantsHaveMovedAll(t *testing.T) {
	moved, failed := figureNamed(lists().Event, "moved"), figureNamed(lists().Event, "failed")
	done := 5000.0
	r := &result.Report{Contestants: []result.Contestant{throughputs("a", 1, 1), throughputs("b", 1, 1)}}
	for i := range r.Contestants {
		for j := range r.Contestants[i].Runs {
			r.Contestants[i].Runs[j].Events = []result.Event{{Name: "join", MovedKeys: int64(100 * i), BalancedMS: &done}}
		}
	}
	r.Contestants[0].Runs[1].Events[0].BalancedMS = nil
	e := events(r)[0]
	for f, want := range map[*figure]bool{moved: false, failed: true, figureNamed(lists().Run, "moved"): false} {
		v := value{}
		if f.event != nil {
			v = f.in(&r.Contestants[0], e)
		} else {
			v = f.overall(&r.Contestants[0])
		}
		if v.rounds != 2 || v.whole != want {
			t.Errorf("%s: %+v, to be compared: %v", f.Key, v, want)
		}
	}
	if v := moved.in(&r.Contestants[1], e); !v.whole {
		t.Errorf("of what is balanced: %+v", v)
	}
}

func TestRowsNameTheirContinuation(t *testing.T) {
	r := &result.Report{Contestants: []result.Contestant{throughputs("a", 1)}}
	e := result.Event{Name: "kill", During: result.Span{Milliseconds: 100, PerSecond: 5, P99: 7}, After: result.Span{Milliseconds: 100, PerSecond: 5, P99: 7}}
	r.Contestants[0].Runs[0].Events = []result.Event{e}
	names := func() string {
		var all []string
		for _, line := range rows(r, &events(r)[0]) {
			if strings.HasPrefix(line.figure.Key, "throughput") || strings.HasPrefix(line.figure.Key, "p99") {
				all = append(all, line.name)
			}
		}
		return strings.Join(all, ", ")
	}
	if got := names(); got != "throughput during, … after, p99 during, … after" {
		t.Error(got)
	}
	r.Contestants[0].Runs[0].Events[0].Before = e.During
	if got := names(); got != "throughput before, … during, … after, p99 before, … during, … after" {
		t.Error(got)
	}
}

func TestChartsShowTheMedianRound(t *testing.T) {
	for _, tt := range []struct {
		rounds []int64
		want   int
	}{{nil, 0}, {[]int64{5}, 1}, {[]int64{9, 1, 5}, 3}, {[]int64{9, 5}, 2}, {[]int64{9, 3, -5}, 2}, {[]int64{-9, -3, -5}, 3}} {
		c := throughputs("x", tt.rounds...)
		run := shown(&c)
		if run == nil && tt.want != 0 || run != nil && run.Round != tt.want {
			t.Errorf("of %v round %+v is shown, want %d", tt.rounds, run, tt.want)
		}
	}
}

func TestEventsAreTheSameInAllRuns(t *testing.T) {
	a, b := throughputs("a", 1, 1), throughputs("b", 1)
	a.Runs[0].Events = []result.Event{{Name: "join", MovedKeys: 1}}
	a.Runs[1].Events = []result.Event{{Name: "join", MovedKeys: 3, Node: "n4", AtMS: 8000}, {Name: "kill", MovedKeys: 9}, {Name: "join", MovedKeys: 7}}
	b.Runs[0].Events = []result.Event{{Name: "join", MovedKeys: 4, Node: "n4", AtMS: 8200}, {Name: "leave", MovedKeys: 5}}
	r := &result.Report{Contestants: []result.Contestant{a, b}}
	keys := events(r)
	moved := figureNamed(lists().Event, "moved")
	for i, tt := range []struct {
		label string
		a, b  float64
	}{{"join#1", 2, 4}, {"kill", 9, 0}, {"join#2", 7, 0}} {
		if got := keys[i].label(); got != tt.label {
			t.Errorf("%s, want %s", got, tt.label)
		}
		if got := moved.in(&r.Contestants[0], keys[i]).at; got != tt.a {
			t.Errorf("%s moved %v at a, want %v", tt.label, got, tt.a)
		}
		if got := moved.in(&r.Contestants[1], keys[i]).at; got != tt.b {
			t.Errorf("%s moved %v at b, want %v", tt.label, got, tt.b)
		}
	}
	// In the run without it, the node is not known.
	if got := keys[0].title(r); got != "join#1 of n4, after 8.00 s" {
		t.Error(got)
	}
}

func TestFiguresAreWrittenWithTheirUnit(t *testing.T) {
	for _, tt := range []struct {
		unit unit
		x    float64
		want string
	}{
		{count, 0, "0"}, {count, 1234, "1,234"}, {count, 123456, "123k"}, {count, 1.5, "1.50"}, {perSecond, 1234.5, "1,235"}, {perSecond, 99999, "100k"},
		{micros, 0, "0 µs"}, {micros, 999.4, "999 µs"}, {micros, 1500, "1.50 ms"}, {micros, 2.5e6, "2.50 s"}, {sized, 0, "0 B"}, {sized, 1536, "1.50 KiB"}, {sized, 5 << 30, "5 GiB"},
		{factor, 1.234, "1.23"}, {share, 0.125, "12.5 %"}, {plain, 0.5, "0.50"}, {plain, math.NaN(), "–"}, {micros, math.Inf(1), "–"},
	} {
		if got := tt.unit.text(tt.x); got != tt.want {
			t.Errorf("%v of unit %s: %q, want %q", tt.x, tt.unit, got, tt.want)
		}
	}
	if got := micros.spread(2000, 900, 12_000); got != "0.90..12.0" {
		t.Error(got)
	}
}
