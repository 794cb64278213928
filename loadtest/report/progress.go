package report

import (
	"io"
	"time"
)

// A State is what one contestant does right now.
type State struct {
	Contestant string
	Round      int    // from 1 on
	Phase      string // the step of the script; empty: its turn has not come
	Done       bool   // its run is over
	Failure    string // why it ended before its end

	PerSecond float64       // operations, lately
	P99       float64       // of them, in microseconds; 0: unknown
	Failed    int64         // operations, in this run
	Handoffs  int64         // that run now
	Left      time.Duration // until the run's end, about; 0: unknown
}

// ProgressConfig says where progress is shown.
type ProgressConfig struct {
	// Terminal tells that lines can be drawn anew. Otherwise each is written once, and
	// only from time to time.
	Terminal bool
	// Width is that of the terminal in cells; 0 counts as 80.
	Width int
	// Every is how often lines are written where there is no terminal; 0 is 5 seconds.
	Every time.Duration
	// Rounds is how many there are.
	Rounds int
}

// Progress shows what a load test does while it runs. It is for one goroutine at a time.
type Progress struct{}

// NewProgress shows on w.
func NewProgress(w io.Writer, config ProgressConfig) *Progress { return &Progress{} }

// Show shows the contestants' states, in the order given.
func (p *Progress) Show(now time.Time, states []State) {}

// Say writes a line that stays, such as an event.
func (p *Progress) Say(format string, args ...any) {}

// Close leaves the terminal at the beginning of an empty line. The last states are erased.
func (p *Progress) Close() {}
