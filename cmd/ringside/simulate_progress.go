package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// patience is how long a run must take to get a bar.
const patience = 500 * time.Millisecond

// bar is a progress bar on a terminal, and nothing anywhere else. It appears once a
// run turns out to be long. show is called by one goroutine at a time, and not
// together with clear.
type bar struct {
	w     io.Writer // nil: no terminal
	began time.Time
	bar   *progressbar.ProgressBar
}

func newBar(w io.Writer) *bar {
	b := &bar{began: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b.w = w
	}
	return b
}

// show is a sim.Config.Progress.
func (b *bar) show(done, total int, what string) {
	if b.w == nil || time.Since(b.began) < patience {
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetWidth(24),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish())
	}
	// What cannot be shown is no reason to stop.
	if len(what) > 24 {
		what = what[:24]
	}
	b.bar.Describe(what)
	_ = b.bar.Set(done)
}

func (b *bar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
