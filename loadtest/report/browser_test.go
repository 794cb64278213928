package report

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// Widths of what pages are shown on.
const (
	phoneWidth = 390
	paperWidth = 720 // with the style of what is printed
	deskWidth  = 1280
)

//go:embed testdata/drive.js
var driver string

// A seen is what the driver found in a page.
type seen struct {
	Width             int
	Wide, Out         int
	First             string // element that sticks out
	Charts, Canvas    int    // how many, and the width of the first
	Grids             int    // canvases of nodes
	Resources         int
	Hover, Read, Step string
	Toggled, Zoomed   bool
	Dragged, Restored bool
	Dials             string
}

// A tried page is shown at some widths.
type tried struct {
	name     string
	page     http.Handler
	widths   []int
	overTime bool // it has charts over time
}

// drive shows pages in frames of one real browser, one after the other, uses each as a reader does, and returns
// what was seen of each page and width. It fails if a page writes to the console or sends a request. Without a
// browser, and in short runs, the test is skipped.
func drive(t *testing.T, pages []tried) map[string][]seen {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	type frame struct {
		Src   string
		Width int
	}
	var frames []frame
	answers := make(chan []seen, 1)
	var mu sync.Mutex
	var strange []string
	mux := http.NewServeMux()
	for i, p := range pages {
		at := fmt.Sprintf("/page/%d", i)
		mux.Handle(at+"/", http.StripPrefix(at, p.page))
		for _, width := range p.widths {
			f := frame{at + "/", width}
			if width == paperWidth {
				f.Src += "?paper"
			}
			frames = append(frames, f)
		}
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		// Browsers keep their windows from being as narrow as a phone; frames can be.
		list, _ := json.Marshal(frames)
		fmt.Fprintf(w, `<!DOCTYPE html><meta charset=utf-8><link rel=icon href="data:,"><body><script>const list = %s;%s</script>`, list, driver)
	})
	mux.HandleFunc("POST /answer", func(_ http.ResponseWriter, r *http.Request) {
		var all []seen
		if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
			t.Error(err)
		}
		select {
		case answers <- all:
		default:
		}
	})
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		strange = append(strange, r.URL.Path)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
		"--enable-logging=stderr", "--user-data-dir="+t.TempDir(), server.URL+"/")
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Skipf("chromium does not run here: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	var all []seen
	select {
	case all = <-answers:
	case <-ended:
	}
	cancel()
	<-ended
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("console: %s", line)
		}
	}
	if len(all) != len(frames) {
		t.Fatalf("%d answers: %.2000s", len(all), log.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(strange) > 0 {
		t.Errorf("requests of %v", slices.Compact(strange))
	}
	of := make(map[string][]seen)
	for _, p := range pages {
		of[p.name], all = all[:len(p.widths)], all[len(p.widths):]
	}
	return of
}

// static serves a page, with the style of paper if it is asked for.
func static(page string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := page
		if r.URL.RawQuery == "paper" {
			shown = strings.ReplaceAll(page, "@media print", "@media all")
		}
		_, _ = w.Write([]byte(shown))
	})
}

// checkUsable fails if a page is wider than its window, draws nothing, or does not answer to a
// pointer, a key or a button.
func checkUsable(t *testing.T, all []seen, overTime bool) {
	t.Helper()
	for _, s := range all {
		if s.Wide != s.Width || s.Out != 0 {
			t.Errorf("at %d: %d wide, %d elements stick out, the first a %s", s.Width, s.Wide, s.Out, s.First)
		}
		if s.Charts == 0 || s.Canvas < s.Width/2 || s.Hover == "" || s.Read == "" || !s.Toggled || s.Resources != 0 {
			t.Errorf("at %d: %+v", s.Width, s)
		}
		if overTime && s.Width != paperWidth && (!s.Zoomed || !s.Dragged || !s.Restored) {
			t.Errorf("at %d, zoom: %+v", s.Width, s)
		}
		if overTime && (s.Step == "" || s.Grids == 0) {
			t.Errorf("at %d, steps: %+v", s.Width, s)
		}
	}
}

// All pages share one browser, whose start costs more than a page.
func TestPagesAreUsableOnPhonePaperAndDesk(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	reports := oddSims(t)
	live, asked := liveSimulation()
	pages := []tried{
		{"usual", static(pageOf(t, odd()["usual"])), []int{phoneWidth, paperWidth, deskWidth}, true},
		{"hostile", static(pageOf(t, odd()["hostile"])), []int{phoneWidth, deskWidth}, true},
		{"recorded simulation", static(simPageOf(t, reports["recorded"])), []int{phoneWidth, deskWidth}, false},
		{"long names", static(simPageOf(t, reports["long names"])), []int{phoneWidth, deskWidth}, false},
		{"many", static(simPageOf(t, reports["many"])), []int{phoneWidth, deskWidth}, false},
		{"live", live, []int{phoneWidth, deskWidth}, false},
	}
	of := drive(t, pages)
	for _, p := range pages[:len(pages)-1] {
		t.Run(p.name, func(t *testing.T) { checkUsable(t, of[p.name], p.overTime) })
	}
	t.Run("dials", func(t *testing.T) {
		for _, s := range of["live"] {
			const query = "?nodes=5&order=fifo&scenario=add&strategies=buckets"
			if !strings.HasPrefix(s.Dials, "Which strategy? 5 nodes through 3 steps "+query+" ") || strings.HasSuffix(s.Dials, " 0") || s.Wide != s.Width {
				t.Errorf("at %d: %+v", s.Width, s)
			}
		}
		if n := asked(); n != 2 { // once in each frame
			t.Errorf("asked %d times", n)
		}
	})
}

// liveSimulation serves a page with dials. asked returns how many fetches of data there were.
func liveSimulation() (page http.Handler, asked func() int64) {
	var n atomic.Int64
	options := PageOptions{Dials: []Dial{{Name: "nodes", Label: "Nodes", Kind: "range", Value: "10", Min: 1, Max: 60, Step: 1}, {Name: "order", Kind: "choice", Value: "fifo", Choices: []string{"fifo"}},
		{Name: "scenario", Kind: "text", Value: "add"}, {Name: "strategies", Kind: "set", Value: "buckets", Choices: []string{"buckets", "ketama"}}}}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		_ = SimulationHTML(w, simFake{nodes: 10, steps: 3, seed: 1}.report(), options)
	})
	mux.HandleFunc("/data", func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		nodes, _ := strconv.Atoi(r.URL.Query().Get("nodes"))
		_ = SimulationData(w, simFake{nodes: nodes, steps: 3, seed: 1}.report(), options)
	})
	return mux, n.Load
}
