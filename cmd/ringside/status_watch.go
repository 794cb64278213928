package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ringside-kv/ringside/resp/status"
)

// watcher shows reports until its context ends: over and over in one place on a
// terminal, one after the other elsewhere.
type watcher struct {
	fetch             func(context.Context) (*status.Report, error)
	timeout, interval time.Duration
	json              bool
	out, errors       io.Writer

	last  *status.Report
	since time.Time // when it began not to answer
	drawn bool
}

// What steers a terminal (ECMA-48).
const (
	termHideCursor = "\x1b[?25l"
	termShowCursor = "\x1b[?25h"
	termHome       = "\x1b[H"
	termClear      = "\x1b[2J"
	termClearLine  = "\x1b[K"
	termClearBelow = "\x1b[J"
)

// run returns nil once the context ends, since that is on purpose, and an
// error if what it shows cannot be written.
func (w *watcher) run(ctx context.Context) error {
	height := 0
	if f, ok := w.out.(*os.File); ok && !w.json {
		if _, rows, err := term.GetSize(int(f.Fd())); err == nil {
			height = rows
		}
	}
	if height > 0 {
		fmt.Fprint(w.out, termHideCursor+termClear)
		defer fmt.Fprint(w.out, termShowCursor)
	}
	tick := time.NewTicker(w.interval)
	defer tick.Stop()
	for {
		if err := w.frame(ctx, height > 0); err != nil {
			return errFailed
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// frame fetches and shows a report.
func (w *watcher) frame(ctx context.Context, onTerminal bool) error {
	fetching, cancel := context.WithTimeout(ctx, w.timeout)
	report, err := w.fetch(fetching)
	cancel()
	if ctx.Err() != nil {
		return nil
	}
	if err != nil && w.since.IsZero() {
		w.since = time.Now()
	} else if err == nil {
		w.last, w.since = report, time.Time{}
	}
	switch {
	case onTerminal:
		return w.redraw(err)
	case err != nil:
		_, err = fmt.Fprintf(w.errors, "ringside: %v; trying again\n", err)
		return err
	case w.json:
		encoder := json.NewEncoder(w.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(report)
	}
	var text bytes.Buffer
	if w.drawn {
		text.WriteByte('\n')
	}
	w.drawn = true
	if err := status.Draw(&text, report, columns(w.out)); err != nil {
		return err
	}
	_, err = w.out.Write(text.Bytes())
	return err
}

// redraw writes over what is there, in one go and line by line, so that nothing
// flickers.
func (w *watcher) redraw(fault error) error {
	f := w.out.(*os.File)
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if fault != nil {
		fmt.Fprintf(&text, "! %v; trying again since %s\n", fault, w.since.Format(time.TimeOnly))
	}
	if w.last != nil {
		fmt.Fprintf(&text, "%s, every %v; Ctrl-C ends it\n", w.last.At.Local().Format(time.TimeOnly), w.interval)
		if err := status.Draw(&text, w.last, width); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w.out, screen(text.String(), width, height))
	return err
}

// screen is what puts a text in the place of what a terminal shows, as much of it as
// there is room for.
func screen(text string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if height > 1 && len(lines) > height-1 {
		more := len(lines) - (height - 2)
		lines = append(lines[:height-2], fmt.Sprintf("… %d more lines: make the window higher, or leave --watch out", more))
	}
	var b strings.Builder
	b.WriteString(termHome)
	for _, line := range lines {
		if r := []rune(line); len(r) > width {
			line = string(r[:width])
		}
		b.WriteString(line + termClearLine + "\r\n")
	}
	b.WriteString(termClearBelow)
	return b.String()
}
