package main

import (
	"fmt"
	"io"
	"os"
)

// progress is a line on a terminal that says what is being done, and nothing anywhere else. It is for
// one goroutine.
type progress struct{ w io.Writer }

func newProgress(w io.Writer) progress {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return progress{w}
		}
	}
	return progress{io.Discard}
}

const clearLine = "\r\x1b[K"

func (p progress) show(format string, args ...any) {
	fmt.Fprintf(p.w, clearLine+"%.79s", fmt.Sprintf(format, args...)+" …")
}

func (p progress) clear() { fmt.Fprint(p.w, clearLine) }
