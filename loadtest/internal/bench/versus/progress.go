package main

import (
	"fmt"
	"io"
	"os"
)

// progress is a line on a terminal that says what is being done, and nothing
// anywhere else. It is for one goroutine.
type progress struct {
	w     io.Writer // nil: not a terminal
	shown bool
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{w: w}
		}
	}
	return &progress{}
}

func (p *progress) show(format string, args ...any) {
	if p.w != nil {
		p.clear()
		fmt.Fprintf(p.w, "%.79s", fmt.Sprintf(format, args...)+" …")
		p.shown = true
	}
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
