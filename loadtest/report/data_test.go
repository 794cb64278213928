package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/ringside-kv/ringside/loadtest/result"
)

func jsonText(t *testing.T, r *result.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONIsReadBack(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		text := jsonText(t, r)
		again, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "no numbers" && name != "hostile" && !reflect.DeepEqual(again, r) {
			t.Errorf("%s: read back, it differs", name)
		}
		if jsonText(t, again) != text {
			t.Errorf("%s: written again, it differs", name)
		}
	}
}

func TestJSONKeepsTextsAsTheyAre(t *testing.T) {
	r := &result.Report{Version: result.Version, Script: `a "b" {c, d: [e]} \`, Notes: []string{`\\"{,:}[`, `"`, ``, `\"{`}}
	again, err := Read(strings.NewReader(jsonText(t, r)))
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%q became %q (%v)", r.Notes, again.Notes, err)
	}
}

func TestNumbersThatAreNoneStayOutOfJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	r := odd()["no numbers"]
	again, err := Read(strings.NewReader(jsonText(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	run := again.Contestants[0].Runs[0]
	if run.Events[0].Factor != nil || run.Samples[1].Nodes[0].Cores != nil || run.All.Latency.P99 != 0 || run.Windows[3].P99 != 0 {
		t.Errorf("%+v", run.Events[0])
	}
	if run.Windows[4] != r.Contestants[0].Runs[0].Windows[4] || run.All.Operations == 0 {
		t.Error("others are gone as well")
	}
	if f := r.Contestants[0].Runs[0].Events[0].Factor; f == nil || *f == *f {
		t.Error("the report itself was changed")
	}
}

func TestOtherVersionsAreRefused(t *testing.T) {
	for text, version := range map[string]bool{
		`{"version": 2, "contestants": "of another type"}`: true,
		`{}`:                    true,
		`{"version": "1"}`:      false,
		`{"version": 1`:         false,
		``:                      false,
		`{"version":1} trailer`: false,
	} {
		r, err := Read(strings.NewReader(text))
		if err == nil || errors.Is(err, ErrVersion) != version {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	if _, err := Read(strings.NewReader(`{"version": 1, "news": [1]}`)); err != nil {
		t.Errorf("a new field: %v", err)
	}
}

func TestJSONHasALineForEachWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	r := usual()
	text := jsonText(t, r)
	if !json.Valid([]byte(text)) {
		t.Fatal("it is no JSON")
	}
	windows, inLine := 0, 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, `"max_us"`) && strings.Contains(line, `"at_ms"`) {
			windows++
		}
		inLine = max(inLine, strings.Count(line, `"at_ms"`))
	}
	if want := len(r.Contestants) * r.Rounds * len(r.Contestants[0].Runs[0].Windows); windows != want || inLine > 1 {
		t.Errorf("%d windows in lines of their own, want %d; a line has %d", windows, want, inLine)
	}
	if !strings.HasPrefix(text, "{\n \"version\": 1,\n \"ringside\": \"v0.6.0\",\n") || !strings.HasSuffix(text, "\n}\n") {
		t.Errorf("it begins with %.60q", text)
	}
}

// table reads a CSV.
func csvTable(t *testing.T, write func(*bytes.Buffer) error) (head map[string]int, lines [][]string) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head = map[string]int{}
	for i, name := range all[0] {
		head[name] = i
	}
	return head, all[1:]
}

func TestCSVHasALineForEachWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		head, lines := csvTable(t, func(b *bytes.Buffer) error { return CSV(b, r) })
		k := 0
		for _, c := range r.Contestants {
			for _, run := range c.Runs {
				for i, w := range run.Windows {
					line := lines[k]
					k++
					for column, want := range map[string]string{"contestant": c.Name, "round": strconv.Itoa(run.Round), "at_ms": floatText(w.AtMS),
						"operations": strconv.FormatInt(w.Operations, 10), "failed": strconv.FormatInt(w.Failed, 10), "p99_us": floatText(w.P99)} {
						if line[head[column]] != want {
							t.Fatalf("%s: %s is %q, want %q", name, column, line[head[column]], want)
						}
					}
					want := ""
					if i < len(run.Samples) {
						want = strconv.FormatInt(run.Samples[i].MovedKeys, 10)
					}
					if got := line[head["moved_keys"]]; got != want {
						t.Fatalf("%s, window %d: moved_keys is %q, want %q", name, i, got, want)
					}
				}
			}
		}
		if k != len(lines) {
			t.Errorf("%s: %d lines, want %d", name, len(lines), k)
		}
	}
	var b bytes.Buffer
	if err := errors.Join(CSV(&b, odd()["no numbers"]), EventsCSV(&b, odd()["no numbers"])); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("numbers that are none are there (%v)", err)
	}
	head, lines := csvTable(t, func(b *bytes.Buffer) error { return CSV(b, usual()) })
	phases := map[string]int{}
	for _, line := range lines {
		if line[head["contestant"]] == "buckets" && line[head["round"]] == "1" {
			phases[line[head["phase"]]]++
		}
		if cores := line[head["cores"]]; cores < "0.3" || line[head["memory_bytes"]] == "" {
			t.Fatalf("cores are %q, memory is %q", cores, line[head["memory_bytes"]])
		}
	}
	if want := map[string]int{"run 8": 240, "join": 2, "leave": 2, "kill": 2, "run 12": 120}; !reflect.DeepEqual(phases, want) {
		t.Errorf("windows by phase: %v, want %v", phases, want)
	}
}

func TestCSVHasALineForEachEvent(t *testing.T) {
	for name, r := range odd() {
		head, lines := csvTable(t, func(b *bytes.Buffer) error { return EventsCSV(b, r) })
		k := 0
		for _, c := range r.Contestants {
			for _, run := range c.Runs {
				for _, e := range run.Events {
					factor, keys := "", ""
					if e.Factor != nil {
						factor = floatText(*e.Factor)
					}
					if e.BalanceAfter != nil {
						keys = floatText(e.BalanceAfter.Keys)
					}
					for column, want := range map[string]string{"contestant": c.Name, "name": e.Name, "factor": factor, "during.p99_us": floatText(e.During.P99), "balance_after.keys": keys} {
						if got := lines[k][head[column]]; got != want {
							t.Fatalf("%s: %s is %q, want %q", name, column, got, want)
						}
					}
					k++
				}
			}
		}
		if k != len(lines) {
			t.Errorf("%s: %d lines, want %d", name, len(lines), k)
		}
	}
}

func TestHistogramsAreReadBackFromTheirLog(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range odd() {
		var b bytes.Buffer
		if err := HDR(&b, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b.Bytes()))
		for _, c := range r.Contestants {
			for _, run := range c.Runs {
				for _, phase := range run.Phases {
					h, err := log.NextIntervalHistogram()
					if err != nil || h == nil {
						t.Fatalf("%s, %s: %v", name, phase.Name, err)
					}
					if got := float64(h.ValueAtPercentile(99)); got != phase.Latency.P99 {
						t.Errorf("%s, %s: p99 is %v, want %v", name, phase.Name, got, phase.Latency.P99)
					}
				}
			}
		}
		if h, err := log.NextIntervalHistogram(); err != nil || h != nil {
			t.Errorf("%s: one more: %v, %v", name, h, err)
		}
	}
	var b bytes.Buffer
	if err := HDR(&b, usual()); err != nil {
		t.Fatal(err)
	}
	if want := "\nTag=vnode:128/2/run_12,124.600000,12.000000,"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left")

func TestWriteErrorsAreReported(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for i, write := range []func() error{
		func() error { return Table(fullDisk{}, usual(), TableOptions{}) },
		func() error { return JSON(fullDisk{}, usual()) },
		func() error { return CSV(fullDisk{}, usual()) },
		func() error { return EventsCSV(fullDisk{}, usual()) },
		func() error { return HDR(fullDisk{}, usual()) },
		func() error { return HTML(fullDisk{}, usual(), PageOptions{}) },
		func() error { return Markdown(fullDisk{}, usual()) },
		func() error { return Picture(fullDisk{}, usual()) },
	} {
		if err := write(); !errors.Is(err, errFull) {
			t.Error(fmt.Errorf("%d: %w", i, err))
		}
	}
}
