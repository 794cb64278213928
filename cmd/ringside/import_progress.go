package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ringside-kv/ringside/resp/importer"
)

// How often a line of progress is shown: on a terminal in the same place, elsewhere one below the other.
const (
	progressOnTerminal = 250 * time.Millisecond
	progressInLog      = 10 * time.Second
)

// showProgress shows what an import does until stop is called, which waits for it.
func showProgress(w io.Writer, counts func() importer.Counts) (stop func()) {
	var last importer.Counts
	return showLines(w, func(since time.Duration) string {
		c := counts()
		defer func() { last = c }()
		return progressLine(last, c, since)
	})
}

// showLines shows what line returns, which is told the time since the last one, until stop is called.
func showLines(w io.Writer, line func(since time.Duration) string) (stop func()) {
	interval, format, end := progressInLog, "%s\n", ""
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		interval, format, end = progressOnTerminal, "\r%s"+termClearLine, "\r"+termClearLine
	}
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		then := time.Now()
		for {
			select {
			case <-ticker.C:
			case <-over:
				return
			}
			now := time.Now()
			fmt.Fprintf(w, format, line(now.Sub(then)))
			then = now
		}
	})
	return func() {
		close(over)
		running.Wait()
		fmt.Fprint(w, end)
	}
}

// progressLine tells what has changed since the last one.
func progressLine(last, c importer.Counts, d time.Duration) string {
	line := fmt.Sprintf("%s: %d keys, %s, %.0f keys/s", c.Phase, c.Keys, bytesText(c.Bytes), float64(c.Keys-last.Keys)/d.Seconds())
	if c.Total > 0 {
		line += fmt.Sprintf(", %.0f %% of %s", 100*float64(c.Read)/float64(c.Total), bytesText(c.Total))
	}
	if c.Received > 0 {
		line += fmt.Sprintf(", behind by %s in %d keys and %v", bytesText(c.Received-c.Applied), c.Waiting, c.Behind.Round(100*time.Millisecond))
	}
	if c.Lost > 0 {
		line += fmt.Sprintf(", not taken: %d", c.Lost)
	}
	return line
}
