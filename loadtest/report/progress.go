package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A State is what one contestant does right now.
type State struct {
	Contestant string
	Round      int    // from 1 on
	Phase      string // the step of the script; empty: its turn has not come
	Done       bool   // its run of this round is over
	Failure    string // why that ended before its end

	PerSecond float64       // operations, lately
	P99       float64       // of them, in microseconds; 0: unknown
	Failed    int64         // operations, in this run
	Handoffs  int64         // that run now
	Left      time.Duration // until the run's end, about; 0: unknown
}

// ProgressConfig says where progress is shown.
type ProgressConfig struct {
	// Terminal reports whether lines can be drawn anew. Otherwise each is written once, and
	// only from time to time.
	Terminal bool
	// Width is that of the terminal in cells; 0 counts as 80.
	Width int
	// Every is how often lines are written where there is no terminal; 0 is 5 seconds.
	Every time.Duration
	// Rounds is how many there are.
	Rounds int
}

// Progress shows what a load test does while it runs: on a terminal a line for each
// contestant, drawn anew in its place; elsewhere a line for each that runs, now and then and
// whenever its phase changes. It is for one goroutine at a time. Errors of writing are
// ignored: progress is no result.
type Progress struct {
	w      io.Writer
	config ProgressConfig
	drawn  int // lines above the cursor that are drawn anew
	wrote  time.Time
	last   map[string]State
}

// NewProgress shows on w.
func NewProgress(w io.Writer, config ProgressConfig) *Progress {
	if config.Width <= 0 {
		config.Width = leastWidth
	}
	if config.Every <= 0 {
		config.Every = 5 * time.Second
	}
	return &Progress{w: w, config: config, last: map[string]State{}}
}

// Show shows the contestants' states, in the order given. It can be called often.
func (p *Progress) Show(now time.Time, states []State) {
	if p.config.Terminal {
		p.draw(states)
		return
	}
	due := now.Sub(p.wrote) >= p.config.Every
	for _, s := range states {
		before := p.last[s.Contestant]
		changed := s.Phase != before.Phase || s.Round != before.Round || s.Done != before.Done || s.Failure != before.Failure
		p.last[s.Contestant] = s
		if changed && s.Phase != "" || due && s.runs() {
			_, _ = io.WriteString(p.w, strings.TrimRight(p.line(s, 0), " ")+"\n")
			p.wrote = now
		}
	}
}

// Close erases the states that were drawn, so that results take their place.
func (p *Progress) Close() {
	if p.drawn > 0 {
		_, _ = fmt.Fprintf(p.w, "\x1b[%dA\r\x1b[J", p.drawn)
		p.drawn = 0
	}
}

// draw writes all lines in one go, over those from before, so that nothing flickers.
func (p *Progress) draw(states []State) {
	names := 0
	for _, s := range states {
		names = max(names, Width(clippedName(s.Contestant)))
	}
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\r", p.drawn)
	}
	for _, s := range states {
		// A line that fills the terminal would begin another.
		b.WriteString(Clip(p.line(s, names), p.config.Width-1) + "\x1b[K\n")
	}
	if p.drawn > len(states) {
		b.WriteString("\x1b[J")
	}
	p.drawn = len(states)
	_, _ = io.WriteString(p.w, b.String())
}

func (s *State) runs() bool { return s.Phase != "" && !s.Done && s.Failure == "" }

// line is a state in words, with the name in so many cells at least.
func (p *Progress) line(s State, names int) string {
	name := clippedName(s.Contestant)
	text := name + strings.Repeat(" ", max(0, names-Width(name)))
	if p.config.Rounds > 1 && s.Round > 0 {
		text += fmt.Sprintf("  %d/%d", s.Round, p.config.Rounds)
	}
	switch {
	case s.Failure != "":
		return text + "  ended early: " + Printable(oneLine(s.Failure))
	case s.Done:
		return text + "  done" + failedText(s.Failed)
	case s.Phase == "":
		return text + "  waits"
	}
	text += fmt.Sprintf("  %-10s", Clip(Printable(s.Phase), 16))
	if s.PerSecond > 0 {
		text += fmt.Sprintf("  %7s ops/s", perSecond.text(s.PerSecond))
	}
	if s.P99 > 0 {
		text += fmt.Sprintf("  p99 %8s", micros.text(s.P99))
	}
	if s.Handoffs > 0 {
		text += "  " + Plural(int(s.Handoffs), "handoff")
	}
	text += failedText(s.Failed)
	if s.Left > 0 {
		text += "  " + s.Left.Round(time.Second).String() + " left"
	}
	return text
}

func failedText(n int64) string {
	if n == 0 {
		return ""
	}
	return "  " + Count(n) + " failed"
}

func clippedName(name string) string { return Clip(Printable(name), headWidth) }
