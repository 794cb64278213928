package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

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

func TestThroughputCountsSuccessesOnly(t *testing.T) {
	r, run := &result.Report{WindowMS: 100}, &result.Run{Windows: []result.Window{{Operations: 120, Failed: 20}}}
	if got := lists().ClientCharts[0].lines(r, run)[0].points[0].Y; got != 1000 {
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

func TestPageIsSelfContained(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		t.Run(name, func(t *testing.T) {
			text := pageOf(t, r)
			p := checkAlone(t, text)
			if len(text) > 3<<20 {
				t.Errorf("%d bytes", len(text))
			}
			if len(p.Cards) != 3 && len(r.Contestants) > 0 || !strings.HasSuffix(p.Verdict, ".") {
				t.Errorf("%d cards; %s", len(p.Cards), p.Verdict)
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
	p := checkAlone(t, pageOf(t, r))
	notes := strings.Join(p.Notes, " ")
	for text, wants := range map[string][]string{
		p.Title:                {"Load test: buckets, ketama and vnode:128"},
		p.Verdict:              {"Answers were wrong: ketama 7; closest to the least possible movement: "},
		notes:                  {"Interrupted", "ketama, round 1: of ", "7 were lost", "ketama, round 1: key 17 was not there", "--rereplicate-after"},
		texts(p, "summary"):    {"18.0k (17.9..18.2)|"},
		texts(p, "events"):     {"Join of node-4, after 8.00 s", "Leave of node-3, after 16.2 s", "Kill of node-2, after 24.4 s"},
		texts(p, "latency"):    {"99.999"},
		texts(p, "load"):       {"before leave", "at the end", "node-4 |500 |667 |1,000 |1,000 |", "busiest node, max ÷ mean |1.92 |", "busiest range, of all operations |4.80 % |"},
		texts(p, "details"):    {"vnode:128, round ", "SET |"},
		texts(p, "settings"):   {"--mix |80 get; 20 set |default", r.Script, "Some Processor, 2 cores", "v0.6.0", "go1.26", "2026-03-04 05:06:07 UTC"},
		fmt.Sprint(p.Sections): {"ringside loadtest --strategies buckets,ketama,vnode:128 --seed 1"},
		fmt.Sprint(p.Nodes):    {"node-4"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %.200s", want, text)
			}
		}
	}
	charts, panels, frames := 0, 0, 0
	for _, s := range p.Sections {
		for _, part := range s.Parts {
			if part.Chart != nil {
				charts++
				panels += len(part.Chart.Panels)
			}
			if part.Circles != nil {
				frames = len(part.Circles.Frames)
				for _, c := range part.Circles.Each {
					if len(c.States) != frames || len(c.Loads) != 4 || c.States[framesPerEvent-1].Load != 1 || c.States[framesPerEvent].Load != 2 {
						t.Errorf("%s has %d states of %d, %d loads", c.Name, len(c.States), frames, len(c.Loads))
					}
				}
			}
		}
	}
	// Two charts of all, distributions, and a panel for each contestant and measure.
	measures := len(lists().ClientCharts) + len(lists().ClusterCharts) + len(lists().NodeCharts)
	if charts != 3+measures || panels != 3+3*measures || frames != 1+3*framesPerEvent {
		t.Errorf("%d charts, %d panels, %d frames", charts, panels, frames)
	}
	for _, figures := range [][]figure{lists().Run, lists().Event} {
		for i := range figures {
			if f := &figures[i]; !f.Hidden && !strings.Contains(texts(p, "glossary"), f.fullName()+" ["+f.Key+"]") {
				t.Errorf("%s is not explained", f.Key)
			}
		}
	}
	var own bytes.Buffer
	if err := HTML(&own, r, PageOptions{Title: "A < B"}); err != nil || !strings.Contains(own.String(), "<h1>A &lt; B</h1>") {
		t.Errorf("no title of its own: %v", err)
	}
}

func TestPageNamesUnknownFigures(t *testing.T) {
	unknown := 0
	for _, s := range newPage(odd()["mixed"], PageOptions{}).Sections {
		for _, part := range s.Parts {
			if part.Chart == nil {
				continue
			}
			for _, p := range part.Chart.Panels {
				if len(p.Lines) == 0 {
					unknown++
				}
			}
		}
	}
	if want := len(lists().ClusterCharts) + len(lists().NodeCharts); unknown != want { // the server has no nodes
		t.Errorf("%d are not known, want %d", unknown, want)
	}
	for _, s := range newPage(odd()["servers"], PageOptions{}).Sections {
		if s.ID == "owners" || s.ID == "events" || s.ID == "nodes" {
			t.Errorf("there is a section %s", s.ID)
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
	text := pageOf(t, r)
	high := 0.0
	for _, y := range checkAlone(t, text).Sections[0].Parts[2].Chart.Panels[0].Lines[0].Y {
		high = max(high, y)
	}
	if len(text) > 3<<20 || high != 1e7 {
		t.Errorf("%d bytes; the peak is %v", len(text), high)
	}
}

func TestTimeChartsEndWithTheLastContestant(t *testing.T) {
	at := func(until float64) result.Contestant {
		return result.Contestant{Runs: []result.Run{{All: result.Phase{UntilMS: until}}}}
	}
	r := &result.Report{WindowMS: 100, Contestants: []result.Contestant{at(5000), at(9000), at(7000)}}
	if got := newTimeCharts(r).until; got != 9000 {
		t.Error(got)
	}
	r.Contestants[1].Runs[0].Windows = []result.Window{{AtMS: 9000}}
	if got := newTimeCharts(r).until; got != 9100 {
		t.Errorf("with a window after the end: %v", got)
	}
}

// An operation that took 350 ms and ended in the sixth window was the oldest one at the end of each
// window before.
func TestStallIsTheWaitOfTheOldestOperation(t *testing.T) {
	run := &result.Run{Windows: []result.Window{
		{AtMS: 0, Operations: 9, P50: 10, P99: 20, P999: 30, Max: 40}, {AtMS: 100, Operations: 9, P50: 10, P99: 20, P999: 30, Max: 40},
		{AtMS: 200}, {AtMS: 300}, {AtMS: 400}, {AtMS: 500, Operations: 9, P50: 10, P99: 20, P999: 30, Max: 350_000}, {AtMS: 600},
	}}
	nan := math.NaN()
	lines := lists().ClientCharts[1].lines(&result.Report{WindowMS: 100}, run)
	for k, want := range [][]float64{
		{10, 10, 50_000, 150_000, 250_000, 10, nan}, {20, 20, 50_000, 150_000, 250_000, 20, nan}, nil,
		{nan, nan, 50_000, 150_000, 250_000, nan, nan},
	} {
		for i := range want {
			if got := lines[k].points[i].Y; got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
				t.Errorf("%s of window %d is %v, want %v", lines[k].name, i, got, want[i])
			}
		}
	}
}

func TestSingleRoundHasNoBest(t *testing.T) {
	r := usual()
	for i := range r.Contestants {
		r.Contestants[i].Runs = r.Contestants[i].Runs[:1]
	}
	r.Rounds = 1
	for _, line := range rows(r, nil) {
		for i, best := range line.best {
			if best {
				t.Errorf("%s: %s is the best", line.figure.Key, r.Contestants[i].Name)
			}
		}
	}
	if got := verdict(r); !strings.Contains(got, "with one round, differences may be chance") {
		t.Error(got)
	}
}

// A contestant that moves less than the least has not balanced the load.
func TestLeastMovedIsNotTheBest(t *testing.T) {
	for _, figures := range [][]figure{lists().Run, lists().Event} {
		for i := range figures {
			if f := &figures[i]; strings.HasPrefix(f.Key, "moved") && f.Key != "moved/least" && f.Goal != none {
				t.Errorf("%s has a goal", f.Key)
			}
		}
	}
}

func TestOwnersAreCells(t *testing.T) {
	r := &result.Report{Contestants: []result.Contestant{{Name: "x", Runs: []result.Run{{
		Events: []result.Event{{Name: "join", AtMS: 200}},
		Layouts: []result.Layout{
			{AtMS: 100, Nodes: []string{"b", "a"}, Primary: []int{0, 1, -1, 7}, Backup: []int{1, 0, 0, 0}},
			{AtMS: 500, Nodes: []string{"a"}, Primary: []int{0, 0}, Backup: []int{-1, -1}},
		},
	}}}}}
	c := ownersSection(r).Parts[0].Circles
	if len(c.Frames) != 1+framesPerEvent || c.Frames[1].Before != 0 {
		t.Fatalf("%+v", c.Frames)
	}
	first, last := c.Each[0].States[0], c.Each[0].States[framesPerEvent]
	if first.Primary != "\u0100\u0101.." || first.Backup != "\u0101\u0100\u0100\u0100" || last.Primary != "\u0101\u0101" || last.Backup != ".." || last.Note != "at 0.50 s" {
		t.Errorf("%q %q %q %q %s", first.Primary, first.Backup, last.Primary, last.Backup, last.Note)
	}
}

func TestPictureIsOneSVG(t *testing.T) {
	for name, r := range odd() {
		var b, again bytes.Buffer
		if err := Picture(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := Picture(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn again, it differs (%v)", name, err)
		}
		checkPicture(t, name, b.String())
	}
	var b bytes.Buffer
	if err := Picture(&b, usual()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">Keys moved ÷ the least possible<", ">join<", ">leave<", ">kill<", ">vnode:128<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

func checkPicture(t *testing.T, name, picture string) {
	t.Helper()
	text := strings.Replace(picture, "http://www.w3.org/2000/svg", "", 1)
	if !strings.HasPrefix(text, `<svg xmlns=""`) || strings.Contains(text, "http") || number.MatchString(text) || strings.Contains(text, "<script") || len(text) > 1<<20 {
		t.Errorf("%s: %.300s", name, text)
	}
	eachElement(t, picture, func(string, map[string]string) {})
}
