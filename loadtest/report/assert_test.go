package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func TestAssertionsThatMakeNoSenseAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"p99":                        "column 1: \"p99\" has no operator",
		"p99<5ms, lost":              "column 10: \"lost\" has no operator",
		"p99!5ms":                    "column 4: \"!\" is not an operator",
		"<5ms":                       "column 1: \"\" is not a figure",
		"errors=0,  latency<5ms":     "column 12: \"latency\" is not a figure",
		"p99<5":                      "column 5: \"5\" has no unit",
		"p99<":                       "column 5: the bound is missing",
		"p99<fast":                   "column 5: \"fast\" is not a time",
		"p99<-1ms":                   "column 5: ",
		"p99<infs":                   "column 5: ",
		"lost= nan":                  "column 7: ",
		"lost=0x10":                  "column 6: ",
		"throughput>10ms":            "column 12: ",
		"moved/least<1.2k":           "column 13: ",
		"p99=<5ms":                   "column 5: ",
		"handoffs<5":                 "column 1: handoffs is a figure of events alone",
		"join.corrupt=0":             "column 1: events have no corrupt",
		"join#0.p99<5ms":             "column 1: \"join#0\": want the number of an event",
		"vnode.join#x.p99<5ms":       "want the number of an event",
		strings.Repeat(" ", 17<<10):  "longer than",
		strings.Repeat("x=1,", 5000): "longer than",
	} {
		a, err := ParseAssert(text)
		if err == nil || !errors.Is(err, ErrAssert) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want %q", text, a, err, want)
		}
	}
	_, err := ParseAssert("nope<1, p99<5, lost=0, again")
	if n := strings.Count(err.Error(), "column "); n != 3 {
		t.Errorf("%d faults in %v", n, err)
	}
}

// asserted is a report with one figure after the other that claims can be made of.
func asserted() *result.Report {
	half, factor := 9000.0, 1.25
	run := func(p99, operations float64, failed int64) result.Run {
		return result.Run{Round: 1, All: result.Phase{UntilMS: 10_000, Clients: result.Clients{Operations: int64(operations), Failed: failed, LongestPauseMS: 1500, Latency: result.Latency{P50: 200, P99: p99, P999: 9000}}},
			Events: []result.Event{
				{Name: "join", AtMS: 2000, BalancedMS: &half, MovedKeys: 125, LeastKeys: 100, MovedBytes: 1 << 20, Factor: &factor, During: result.Span{Milliseconds: 100, PerSecond: 5000, P99: 3000}, LongestPauseMS: 100},
				{Name: "join", AtMS: 5000, BalancedMS: &half, MovedKeys: 125, LeastKeys: 100, Factor: &factor, During: result.Span{Milliseconds: 100, PerSecond: 4000, P99: 8000}},
			},
			Checked: &result.Checked{Reads: 10}, GeneratorSaturated: 0.05}
	}
	return &result.Report{Version: result.Version, Rounds: 3, Contestants: []result.Contestant{
		{Name: "buckets", Cluster: true, Runs: []result.Run{run(4000, 100_010, 10), run(5000, 120_000, 0), run(9000, 110_000, 0)}},
		{Name: "10.0.0.1:6379", Runs: []result.Run{{Round: 1, All: result.Phase{UntilMS: 10_000, Clients: result.Clients{Operations: 50_000, Latency: result.Latency{P99: 6000}}}}}},
	}}
}

func TestAssertionsHoldOrNot(t *testing.T) {
	for text, want := range map[string]string{ // parts of the faults with | between them; empty: it holds
		"":                       "",
		" , ":                    "",
		"p99<=6ms":               "",
		"p99 < 6ms":              "10.0.0.1:6379: p99 is 6 ms",
		"p99<5500us":             "10.0.0.1:6379: p99 is 6 ms",
		"p99<4.9ms":              "buckets: p99 is 5 ms|10.0.0.1:6379: p99 is 6 ms",
		"buckets.p99<=5ms":       "",
		"buckets.p99=5ms":        "",
		"buckets.p99==0.005s":    "",
		"buckets.p99!=5ms":       "buckets.p99!=5ms: buckets: p99 is 5 ms",
		"10.0.0.1:6379.p99>=6ms": "",
		"buckets.p99.9<10ms":     "",
		"buckets.p999>10ms":      "buckets: p99.9 is 9 ms",
		"throughput>=11k":        "10.0.0.1:6379: throughput is 5000",
		"throughput>4.9k":        "",
		"buckets.throughput=11k": "",
		// What must not happen counts in each round, not as the median.
		"errors=0":                   "buckets: failed is 10",
		"failed<10":                  "buckets: failed is 10",
		"failed<=10":                 "",
		"failed>0":                   "buckets: failed is 10|10.0.0.1:6379: failed is 0",
		"buckets.lost=0":             "",
		"lost=0":                     "10.0.0.1:6379: lost is not known",
		"moved/least<1.3":            "",
		"moved/least<1.2":            "buckets: moved/least is 1.25",
		"10.0.0.1:6379.moved=0":      "10.0.0.1:6379: moved is not known",
		"buckets.balanced<=7s":       "",
		"buckets.balanced<=6999ms":   "buckets: balanced is 7 s",
		"buckets.pause<2s":           "",
		"buckets.pause<0.025m":       "buckets: pause is 1.5 s",
		"saturated<5%":               "buckets: saturated is 5 %",
		"buckets.saturated<6%":       "",
		"buckets.saturated<0.06":     "",
		"buckets.join.p99<=3ms":      "buckets, join#2: p99 is 8 ms",
		"buckets.join#1.p99<=3ms":    "",
		"buckets.join#2.p99<=3ms":    "buckets, join#2: p99 is 8 ms",
		"buckets.join#3.p99<=3ms":    "there was no such event",
		"kill.moved=0":               "there was no such event",
		"join.moved-bytes<=1MiB":     "",
		"join#1.moved-bytes<1024KiB": "buckets, join#1: moved-bytes is 1 MiB",
		"buckets.join#1.moved<0.2k":  "",
		"ketama.p99<1s":              "no contestant has this name",
		"p99<1us,errors=0":           "p99<1us: buckets|p99<1us: 10.|errors=0: buckets",
	} {
		a, err := ParseAssert(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		err = a.Check(asserted())
		if (err == nil) != (want == "") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err == nil {
			continue
		}
		parts := strings.Split(want, "|")
		if n := strings.Count(err.Error(), "\n") + 1; n != len(parts) || !errors.Is(err, ErrNotSo) {
			t.Errorf("%q: %d faults in %v", text, n, err)
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, want %q", text, err, part)
			}
		}
	}
}

func TestFailedRoundsAreNotAsserted(t *testing.T) {
	a, err := ParseAssert("p99<1s, errors<100, moved/least<9")
	if err != nil {
		t.Fatal(err)
	}
	r := asserted()
	r.Contestants[0].Runs[1].Failure = "it broke"
	err = a.Check(r)
	if err == nil || strings.Count(err.Error(), "buckets, round 1, did not come to its end: it broke") != 1 || strings.Count(err.Error(), "\n") != 0 {
		t.Error(err)
	}
	r.Contestants[0].Runs = nil
	if err := a.Check(r); err == nil || !strings.Contains(err.Error(), "buckets did not run") {
		t.Error(err)
	}
	if err := a.Check(&result.Report{}); err == nil || strings.Count(err.Error(), "there is no contestant") != 3 {
		t.Error(err)
	}
	r.Contestants = r.Contestants[1:]
	if err := a.Check(r); err == nil || !strings.Contains(err.Error(), "the nodes of no contestant are known") {
		t.Error(err)
	}
}

// Each figure can be asserted by its name, has words for tables and help, and none is
// another's.
func TestFiguresHaveNamesAndHelp(t *testing.T) {
	for _, figures := range [][]figure{lists().Run, lists().Event} {
		seen := map[string]bool{}
		for i := range figures {
			f := &figures[i]
			if seen[f.Key] || f.Help == "" || f.Name == "" || len([]rune(f.Name)) > nameWidth {
				t.Errorf("%s (%s): twice, or without a name of at most %d cells, or without help", f.Key, f.Name, nameWidth)
			}
			seen[f.Key] = true
			prefix := ""
			if f.event != nil {
				prefix = "kill."
			}
			a, err := ParseAssert(prefix + f.Key + ">=0")
			if err != nil || a[0].figure != f {
				t.Errorf("%s: %v", f.Key, err)
			}
		}
	}
}

func FuzzParseAssert(f *testing.F) {
	f.Add("p99<5ms,errors=0, lost=0, throughput>10k, vnode:128.join#2.moved/least<1.2")
	f.Add("127.0.0.1:6379.p99.9!=1%,,=")
	r := asserted()
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAssert(text)
		if (err != nil) != errors.Is(err, ErrAssert) {
			t.Errorf("%q: %v", text, err)
		}
		if err := a.Check(r); (err != nil) != errors.Is(err, ErrNotSo) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
