package report

import (
	"encoding/xml"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// changed is the usual report with another figure in each round.
func changed(change func(run *result.Run)) *result.Report {
	r := usual()
	for i := range r.Contestants {
		for j := range r.Contestants[i].Runs {
			change(&r.Contestants[i].Runs[j])
		}
	}
	return r
}

func verdictOf(t *testing.T, c *Comparison, contestant, key string) change {
	t.Helper()
	for _, d := range c.rows {
		if d.contestant == contestant && d.figure != nil && d.figure.Key == key {
			return d.verdict
		}
	}
	t.Fatalf("nothing is said of %s of %s", key, contestant)
	return ""
}

func TestComparisonWithItselfIsTheSame(t *testing.T) {
	c, err := Compare(usual(), usual(), 0)
	if err != nil || c.Worse() || c.Verdict() != "Nothing is worse." || len(c.Notes) > 0 {
		t.Errorf("%v: %s %v", err, c.Verdict(), c.Notes)
	}
}

func TestComparisonNeedsSpreadsThatDoNotTouch(t *testing.T) {
	slower := changed(func(run *result.Run) { run.All.Latency.P99 *= 3 })
	for _, tt := range []struct {
		name          string
		before, after *result.Report
		tolerance     float64
		want          change
	}{
		{"three times as slow", usual(), slower, 0.1, worse},
		{"three times as fast", slower, usual(), 0.1, better},
		{"within the tolerance", usual(), slower, 2.5, same},
		{"one round slower", usual(), changed(func(run *result.Run) {
			if run.Round == 1 {
				run.All.Latency.P99 *= 3
			}
		}), 0, same},
	} {
		c, err := Compare(tt.before, tt.after, tt.tolerance)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictOf(t, c, "buckets", "p99"); got != tt.want || c.Worse() != (tt.want == worse) {
			t.Errorf("%s: %s, want %s; %s", tt.name, got, tt.want, c.Verdict())
		}
	}
}

func TestComparisonOfOneRoundIsUndecidedButForLostValues(t *testing.T) {
	one := func(lost int64) *result.Report {
		r := changed(func(run *result.Run) {
			run.Checked.Lost, run.All.Latency.P99 = lost, run.All.Latency.P99*float64(1+2*lost)
		})
		for i := range r.Contestants {
			r.Contestants[i].Runs = r.Contestants[i].Runs[:1]
		}
		return r
	}
	c, err := Compare(one(0), one(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p99, lost := verdictOf(t, c, "ketama", "p99"), verdictOf(t, c, "ketama", "lost"); p99 != undecided || lost != worse || !c.Worse() {
		t.Errorf("p99 %s, lost %s", p99, lost)
	}
}

func TestComparisonReportsFailedRunsAndOtherSettings(t *testing.T) {
	after := changed(func(*result.Run) {})
	after.Contestants[0].Runs[1].Failure = "no space left"
	after.Settings[3].Value, after.Script = "1 get", "run 1s"
	after.Contestants[2].Name = "other"
	c, err := Compare(usual(), after, 0)
	if err != nil || !c.Worse() {
		t.Fatalf("%v", err)
	}
	text := c.Verdict() + strings.Join(c.Notes, " ")
	for _, want := range []string{"buckets round 2 did not come to its end: no space left", "--mix differs: 80 get; 20 set, then 1 get.", "The scripts differ", "other is in the second report only.", "vnode:128 is in the first report only."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if _, err := Compare(usual(), odd()["servers"], 0); !errors.Is(err, ErrNotComparable) {
		t.Error(err)
	}
}

func TestComparisonsTakeEveryForm(t *testing.T) {
	for name, r := range odd() {
		c, err := Compare(r, r, 0)
		if name == "nobody" {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var table, markdown, junit strings.Builder
		if err := errors.Join(c.Table(&table), c.Markdown(&markdown), c.JUnit(&junit)); err != nil {
			t.Fatal(err)
		}
		var suite junitSuite
		if err := xml.Unmarshal([]byte(junit.String()), &suite); err != nil || suite.Tests != len(suite.Cases) || suite.Tests != len(c.rows) {
			t.Errorf("%s: %v, %d tests", name, err, suite.Tests)
		}
		if text := table.String() + markdown.String(); strings.Contains(text, "NaN") || strings.ContainsRune(text, '\x1b') {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestJUnitHasRoundsAndAssertions(t *testing.T) {
	r := usual()
	r.Contestants[1].Runs[0].Failure = "it fell"
	r.Contestants[2].Runs[1].Checked.Stale = 3
	assertion, err := ParseAssert("p99<1us, errors<1g")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := JUnit(&b, r, assertion); err != nil {
		t.Fatal(err)
	}
	var suite junitSuite
	if err := xml.Unmarshal([]byte(b.String()), &suite); err != nil {
		t.Fatal(err)
	}
	failed := map[string]string{}
	for _, c := range suite.Cases {
		if c.Failure != nil {
			failed[c.Class+" "+c.Name] = c.Failure.Message
		}
	}
	if suite.Tests != 8 || !strings.Contains(failed["ketama round 1"], "it fell") || !strings.Contains(failed["vnode:128 round 2"], "3 stale") || failed["assertions p99<1us"] == "" || math.Abs(suite.Seconds-321.5) > 0.1 {
		t.Errorf("%d tests, failed: %v", suite.Tests, failed)
	}
}
