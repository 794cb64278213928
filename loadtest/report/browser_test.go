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
	"testing"
	"time"
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
	Resources         int
	Hover, Read, Step string
	Toggled, Zoomed   bool
	Dragged, Restored bool
	Dials             string
}

// drive shows a page in frames in a real browser, uses it as a reader does, and returns what was
// seen in each frame. It fails if the page writes to the console or sends a request. Without a
// browser, and in short runs, the test is skipped.
func drive(t *testing.T, page http.Handler, widths ...int) []seen {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	answers := make(chan []seen, 1)
	var mu sync.Mutex
	var strange []string
	mux := http.NewServeMux()
	mux.Handle("/page/", http.StripPrefix("/page", page))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		// Browsers keep their windows from being as narrow as a phone; frames can be.
		fmt.Fprint(w, `<!DOCTYPE html><meta charset=utf-8><link rel=icon href="data:,"><body>`)
		for _, width := range widths {
			paper := ""
			if width == paperWidth {
				paper = "?paper"
			}
			fmt.Fprintf(w, `<iframe width="%d" height="900" style="border:0" src="/page/%s"></iframe>`, width, paper)
		}
		fmt.Fprintf(w, `<script>%s</script>`, driver)
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

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
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
	if len(all) != len(widths) {
		t.Fatalf("%d answers: %.2000s", len(all), log.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if len(strange) > 0 {
		t.Errorf("requests of %v", slices.Compact(strange))
	}
	return all
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
func checkUsable(t *testing.T, page string, overTime bool, widths ...int) {
	t.Helper()
	for _, s := range drive(t, static(page), widths...) {
		if s.Wide != s.Width || s.Out != 0 {
			t.Errorf("at %d: %d wide, %d elements stick out, the first a %s", s.Width, s.Wide, s.Out, s.First)
		}
		if s.Charts == 0 || s.Canvas < s.Width/2 || s.Hover == "" || s.Read == "" || !s.Toggled || s.Resources != 0 {
			t.Errorf("at %d: %+v", s.Width, s)
		}
		if overTime && s.Width != paperWidth && (!s.Zoomed || !s.Dragged || !s.Restored) {
			t.Errorf("at %d, zoom: %+v", s.Width, s)
		}
	}
}

func TestPageIsUsableOnPhonePaperAndDesk(t *testing.T) {
	t.Run("usual", func(t *testing.T) {
		checkUsable(t, pageOf(t, odd()["usual"]), true, phoneWidth, paperWidth, deskWidth)
	})
	t.Run("hostile", func(t *testing.T) { checkUsable(t, pageOf(t, odd()["hostile"]), true, phoneWidth, deskWidth) })
}

func TestDialsShowAnotherSimulation(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	options := PageOptions{Dials: []Dial{{Name: "nodes", Label: "Nodes", Kind: "range", Value: "10", Min: 1, Max: 60, Step: 1}, {Name: "order", Kind: "choice", Value: "fifo", Choices: []string{"fifo"}},
		{Name: "scenario", Kind: "text", Value: "add"}, {Name: "strategies", Kind: "set", Value: "buckets", Choices: []string{"buckets", "ketama"}}}}
	page := http.NewServeMux()
	page.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		_ = SimulationHTML(w, simFake{nodes: 10, steps: 3, seed: 1}.report(), options)
	})
	page.HandleFunc("/data", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.RawQuery)
		mu.Unlock()
		nodes, _ := strconv.Atoi(r.URL.Query().Get("nodes"))
		_ = SimulationData(w, simFake{nodes: nodes, steps: 3, seed: 1}.report(), options)
	})
	for _, s := range drive(t, page, phoneWidth, deskWidth) {
		const query = "?nodes=5&order=fifo&scenario=add&strategies=buckets"
		if !strings.HasPrefix(s.Dials, "Which strategy? 5 nodes through 3 steps "+query+" ") || strings.HasSuffix(s.Dials, " 0") || s.Wide != s.Width {
			t.Errorf("at %d: %+v", s.Width, s)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 2 { // once in each frame
		t.Errorf("asked for %v", asked)
	}
}

func TestSimulationPageIsUsableOnPhoneAndDesk(t *testing.T) {
	reports := oddSims(t)
	for _, name := range []string{"recorded", "long names", "many"} {
		t.Run(name, func(t *testing.T) { checkUsable(t, simPageOf(t, reports[name]), false, phoneWidth, deskWidth) })
	}
}
