package report

import (
	"bytes"
	"html"
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func pageOf(t *testing.T, r *result.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, PageOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageIsSelfContained(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, r)
			checkAlone(t, page)
			if strings.Contains(page, "<i>") {
				t.Error("a name is not escaped")
			}
			if len(page) > 3<<20 {
				t.Errorf("%d bytes", len(page))
			}
		})
	}
}

func TestPageHasEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	r := usual()
	r.Interrupted = true
	r.Contestants[1].Runs[0].Checked.Lost = 7
	r.Contestants[1].Runs[0].Checked.Examples = []string{"key 17 was not there"}
	page := pageOf(t, r)
	for _, want := range []string{
		"Load test: buckets, ketama and vnode:128", "Interrupted", "ketama, round 1: of ", "7 were lost", "ketama, round 1: key 17 was not there",
		"--rereplicate-after", r.Script, "Some Processor, 2 cores", "v0.6.0", "go1.26", "2026-03-04 05:06:07 UTC", "ringside loadtest --strategies buckets,ketama,vnode:128 --seed 1",
		"Join of node-4, after 8.00 s", "Leave of node-3, after 16.2 s", "Kill of node-2, after 24.4 s", "First backups", `<th scope="row">SET</th>`, `<th scope="row">--mix</th><td>80 get; 20 set</td><td>default</td>`,
		"99.999", "node-4", `<td class="best">18.0k <small>(17.9..18.2)</small></td>`, ">vnode:128, round ",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	// A chart for each contestant and measure, three of all, and three of distributions and owners.
	if n, want := strings.Count(page, `role="img"`), 3*len(allMeasures())+3+1+2*3; n != want {
		t.Errorf("%d charts, want %d", n, want)
	}
	for _, figures := range [][]figure{runFigures, eventFigures} {
		for i := range figures {
			if f := &figures[i]; !f.hidden && !strings.Contains(page, "<dt>"+html.EscapeString(f.fullName())+" ["+f.key+"]</dt><dd>") {
				t.Errorf("%s is not explained", f.key)
			}
		}
	}
	var title bytes.Buffer
	if err := HTML(&title, r, PageOptions{Title: "A < B"}); err != nil || !strings.Contains(title.String(), "<h1>A &lt; B</h1>") {
		t.Errorf("no title of its own: %v", err)
	}
}

func TestPageNamesUnknownFigures(t *testing.T) {
	page := pageOf(t, odd()["mixed"])
	// The server has no nodes: six charts of nodes and what moves, and two of owners.
	if n, want := strings.Count(page, `class="nothing"`), len(clusterMeasures)+len(nodeMeasures)+2; n != want {
		t.Errorf("%d are not known, want %d", n, want)
	}
	page = pageOf(t, odd()["servers"])
	for _, absent := range []string{`class="nothing"`, "Owners", "Handoffs</h3>", `id="events"`} {
		if strings.Contains(page, absent) {
			t.Errorf("there is %s", absent)
		}
	}
}

// A day of windows makes a page that a phone can load.
func TestPageOfADayStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("a day is long")
	}
	const windows, every = 86_400, 1000
	r := usual()
	r.Contestants = r.Contestants[:2]
	for i := range r.Contestants {
		c := &r.Contestants[i]
		c.Runs = c.Runs[:1]
		run := &c.Runs[0]
		sample := run.Samples[0]
		run.All.UntilMS = windows * every
		run.Windows, run.Samples = make([]result.Window, windows), make([]result.Sample, windows)
		for k := range run.Windows {
			at := float64(k) * every
			run.Windows[k] = result.Window{AtMS: at, Operations: int64(1000 + k%97), P50: 200, P99: 900 + float64(k%389), P999: 2000}
			run.Samples[k] = sample
			run.Samples[k].AtMS = at
		}
		run.Windows[windows/3].P99 = 1e7
	}
	page := pageOf(t, r)
	if len(page) > 3<<20 || !strings.Contains(page, ">hours<") || !strings.Contains(page, ">10 s<") {
		t.Errorf("%d bytes; hours: %v; the peak is on the scale: %v", len(page), strings.Contains(page, ">hours<"), strings.Contains(page, ">10 s<"))
	}
	var b bytes.Buffer
	if err := Picture(&b, r); err != nil || b.Len() > 1<<20 {
		t.Errorf("a picture of %d bytes, %v", b.Len(), err)
	}
}

func TestAxesAreTheSameForAll(t *testing.T) {
	r := usual()
	r.Contestants[0].Runs[0].Windows = r.Contestants[0].Runs[0].Windows[:50]
	r.Contestants[0].Runs = r.Contestants[0].Runs[:1]
	labels := regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)
	for i := range clientMeasures {
		m := &clientMeasures[i]
		var axes []string
		for _, c := range sideCharts(r, m, clockOf(r), 100) {
			var texts []string
			for _, match := range labels.FindAllStringSubmatch(c.Inline(), -1) {
				texts = append(texts, match[1])
			}
			axes = append(axes, strings.Join(texts, " "))
		}
		if len(axes) != 3 || axes[0] != axes[1] || axes[1] != axes[2] {
			t.Errorf("%s: %q", m.title, axes)
		}
	}
}

func TestClocksHaveAUnitThatSuitsThem(t *testing.T) {
	for until, want := range map[float64]string{0: "seconds", 44_000: "seconds", 599_000: "seconds", 601_000: "minutes", 24 * 3600e3: "hours"} {
		r := &result.Report{Contestants: []result.Contestant{{Runs: []result.Run{{All: result.Phase{UntilMS: until}}}}}}
		if got := clockOf(r); got.unit != want || !(got.until > 0) {
			t.Errorf("%v ms: %+v, want %s", until, got, want)
		}
	}
}

func TestClocksRunUntilTheLastContestantEnds(t *testing.T) {
	at := func(until float64) result.Contestant {
		return result.Contestant{Runs: []result.Run{{All: result.Phase{UntilMS: until}}}}
	}
	if got := clockOf(&result.Report{Contestants: []result.Contestant{at(5000), at(9000), at(7000)}}); got.until != 9000 {
		t.Errorf("%+v", got)
	}
	r := &result.Report{WindowMS: 100, Contestants: []result.Contestant{at(5000)}}
	r.Contestants[0].Runs[0].Windows = []result.Window{{AtMS: 5000}}
	if got := clockOf(r); got.until != 5100 {
		t.Errorf("with a window after the end: %+v", got)
	}
}

func TestThroughputCountsSuccessesOnly(t *testing.T) {
	if got := perSecondIn(&result.Window{Operations: 120, Failed: 20}, 100); got != 1000 {
		t.Error(got)
	}
}

func TestDistributionsHaveEachOperationOnce(t *testing.T) {
	r := usual()
	c := &r.Contestants[0]
	count := func() (n int64) {
		return distribution(c).TotalCount()
	}
	all := count()
	for i := range c.Runs {
		c.Runs[i].All.Latency.Histogram = ""
	}
	if got := count(); got != all {
		t.Errorf("%d operations in the phases, %d in all of it", got, all)
	}
	for i := range c.Runs {
		c.Runs[i].Phases = nil
	}
	if distribution(c) != nil {
		t.Error("there is a distribution of nothing")
	}
}

func TestFewOperationsHaveFewPercentiles(t *testing.T) {
	h := histogram()
	for range 200 {
		_ = h.RecordValue(1000)
	}
	var known []string
	for _, row := range distributionGrid(&result.Report{Contestants: make([]result.Contestant, 1)}, []*hdrhistogram.Histogram{h}).Rows {
		if row[1].Text != "–" {
			known = append(known, row[0].Text)
		}
	}
	if got := strings.Join(known, " "); got != "50 75 90 95 99" {
		t.Errorf("of 200 operations the percentiles %s are known", got)
	}
}

func TestOwnersHaveTheirColours(t *testing.T) {
	o := owners{clock: clock{until: 1000}, index: map[string]int{"a": 0, "b": 1}, layouts: []result.Layout{
		{AtMS: 100, Nodes: []string{"b", "a"}, Primary: []int{0, 1, -1, 7}, Backup: []int{1, 0, 0, 0}},
		{AtMS: 500, Nodes: []string{"a"}, Primary: []int{0, 0}, Backup: []int{-1, -1}},
		{AtMS: 900, Nodes: nil, Primary: nil},
	}}
	none, a, b := color.NRGBA{}, Nth(0).Color, Nth(1).Color
	img := o.image(10, 4)
	for _, tt := range []struct {
		x, y int
		want color.NRGBA
	}{{0, 0, none}, {1, 0, b}, {1, 1, a}, {1, 2, none}, {1, 3, none}, {4, 0, b}, {5, 0, a}, {5, 3, a}, {8, 2, a}, {9, 0, none}} {
		if got := img.At(tt.x, tt.y); got != tt.want {
			t.Errorf("at %d, %d: %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
	o.backups = true
	if got := o.image(10, 4).At(1, 0); got != a {
		t.Errorf("the first backup is %v, want %v", got, a)
	}
}

func TestPercentilesLieByTheirNines(t *testing.T) {
	for p, want := range map[float64]float64{0: 0, 90: 1, 99: 2, 99.9: 3, 99.99: 4} {
		if got := nines(p); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v lies at %v, want %v", p, got, want)
		}
	}
}

func TestWindowsWithoutOperationsAreGapsOfLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	m := &clientMeasures[1]
	points := plotter.XYs{{X: 0, Y: 5}, {X: 100, Y: 0}, {X: 200, Y: 7}}
	s, any := scaleOf(m, [][]line{{{points: points}}})
	if !any || s.low != 5 || s.high != 7 {
		t.Errorf("the scale goes from %v to %v", s.low, s.high)
	}
	r := usual()
	for i := range r.Contestants {
		for j := range r.Contestants[i].Runs {
			windows := r.Contestants[i].Runs[j].Windows
			windows[30], windows[31] = result.Window{AtMS: 3000}, result.Window{AtMS: 3100}
		}
	}
	checkAlone(t, pageOf(t, r))
	chart := sideCharts(r, m, clockOf(r), 1000)[0].Inline()
	// Three lines, each in two pieces.
	if n := strings.Count(chart, "stroke-width:1.25"); n != 6 {
		t.Errorf("%d pieces of lines", n)
	}
}

func TestPictureIsOneSVG(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		var b, again bytes.Buffer
		if err := Picture(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := Picture(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn again, it differs (%v)", name, err)
		}
		text := strings.Replace(b.String(), "http://www.w3.org/2000/svg", "", 1)
		if !strings.HasPrefix(text, `<svg xmlns=""`) || strings.Contains(text, "http") || strings.Contains(text, "NaN") || strings.Contains(text, "<script") {
			t.Errorf("%s: %.300s", name, text)
		}
		eachElement(t, b.String(), func(string, map[string]string) {})
	}
	var b bytes.Buffer
	if err := Picture(&b, usual()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">Throughput, operations each second<", ">p99 of each window<", ">" + movedTitle + "<", ">join<", ">leave<", ">kill<", ">vnode:128<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestMarkdownLooksAsItDid(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, usual()); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/usual.md", b.String())
}

func TestMarkdownTablesAreComplete(t *testing.T) {
	for name, r := range odd() {
		var b bytes.Buffer
		if err := Markdown(&b, r); err != nil {
			t.Fatal(err)
		}
		columns := 0
		for line := range strings.Lines(b.String()) {
			bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			switch {
			case !strings.HasPrefix(line, "|"):
				columns = 0
			case columns == 0:
				columns = bars
			case bars != columns:
				t.Errorf("%s: %d bars, want %d: %s", name, bars, columns, line)
			}
			if strings.Contains(line, "<script") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
