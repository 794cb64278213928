package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A binary holds the tests of one package.
type binary struct {
	pkg  string // import path
	dir  string // the package's, in which its tests run
	path string
}

// run reports whether a test failed. The output of each test binary that failed is kept in
// a directory that the report names.
func run(ctx context.Context, o *options, out io.Writer) (failed bool, err error) {
	if err := o.validate(); err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "ringside-flaky-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(dir, "bin"))) }()
	binaries, err := build(ctx, o, dir, out)
	if err != nil {
		return false, errors.Join(err, os.RemoveAll(dir))
	}
	var found findings
	began := time.Now()
	relax := busy(o.load)
	whole := runAll(ctx, o, binaries, dir, &found, out)
	relax()
	fmt.Fprintf(out, "\n%d runs of %d packages in %v beside %d busy loops\n",
		whole, len(binaries), time.Since(began).Round(time.Second), o.load)
	found.table(out)
	if !found.any() {
		return false, errors.Join(ctx.Err(), os.RemoveAll(dir))
	}
	fmt.Fprintln(out, "what they said is in", dir)
	return true, nil
}

// busy keeps so many processors busy until relax is called, which waits for its goroutines.
func busy(loops int) (relax func()) {
	var done atomic.Bool
	var running sync.WaitGroup
	for range loops {
		running.Go(func() {
			for !done.Load() {
			}
		})
	}
	return func() {
		done.Store(true)
		running.Wait()
	}
}

func build(ctx context.Context, o *options, dir string, out io.Writer) ([]binary, error) {
	list := []string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}"}
	for pattern := range strings.SplitSeq(o.packages, ",") {
		if pattern = strings.TrimSpace(pattern); pattern != "" {
			list = append(list, pattern)
		}
	}
	listed, err := goTool(ctx, list...)
	if err != nil {
		return nil, err
	}
	var binaries []binary
	for line := range strings.Lines(listed) {
		if pkg, at, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			// Numbers keep apart packages whose last elements are the same.
			path := filepath.Join(dir, "bin", fmt.Sprintf("%d.test", len(binaries)))
			binaries = append(binaries, binary{pkg, at, path})
		}
	}
	if len(binaries) == 0 {
		return nil, fmt.Errorf("no package of %s has tests", o.packages)
	}
	for i, b := range binaries {
		fmt.Fprintf(out, "building %d of %d: %s\n", i+1, len(binaries), b.pkg)
		args := []string{"test", "-c", "-trimpath", "-vet=off", "-o", b.path}
		if o.race {
			args = append(args, "-race")
		}
		if _, err := goTool(ctx, append(args, b.pkg)...); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

func goTool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes its own files then
	cmd.WaitDelay = time.Minute
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), nil
}

// runAll runs each binary o.runs times, several at a time, and reports how many runs are whole. A run
// begins while the last binaries of the one before still run, so that the processors are never idle.
func runAll(ctx context.Context, o *options, binaries []binary, dir string, found *findings, out io.Writer) (whole int) {
	var reports sync.WaitGroup
	var mu sync.Mutex // guards whole and out
	places := make(chan struct{}, o.atOnce)
	for i := range o.runs {
		var running sync.WaitGroup
		for _, b := range binaries {
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				if ctx.Err() == nil {
					runOne(ctx, o, b, i+1, dir, found)
				}
			})
		}
		reports.Go(func() {
			running.Wait()
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() == nil {
				whole++
				fmt.Fprintf(out, "%s: run %d of %d: %s\n", time.Now().Format(time.TimeOnly), i+1, o.runs, found.summary())
			}
		})
	}
	reports.Wait()
	return whole
}

// killAfter is how long a test binary has after its own timeout to say what hangs.
const killAfter = time.Minute

func runOne(ctx context.Context, o *options, b binary, number int, dir string, found *findings) {
	limited, cancel := context.WithTimeout(ctx, o.timeout+killAfter)
	defer cancel()
	args := []string{"-test.v", "-test.timeout=" + o.timeout.String()}
	if number%2 == 1 {
		// As go tool task test runs it. The other runs have all processors.
		args = append(args, fmt.Sprint("-test.cpu=", max(1, runtime.NumCPU()/2)))
	}
	if o.pattern != "" {
		args = append(args, "-test.run="+o.pattern)
	}
	if o.short {
		args = append(args, "-test.short")
	}
	cmd := exec.CommandContext(limited, b.path, args...)
	cmd.Dir = b.dir
	cmd.WaitDelay = 10 * time.Second // a process that a test left behind may hold the output
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err == nil || ctx.Err() != nil {
		return
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.txt", strings.ReplaceAll(b.pkg, "/", "_"), number))
	if err := os.WriteFile(path, said.Bytes(), 0o600); err != nil {
		path = err.Error()
	}
	found.add(b.pkg, number, path, readOutput(&said, err))
}
