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
	whole := 0
	for i := range o.runs {
		runAll(ctx, o, binaries, i+1, dir, &found)
		if ctx.Err() != nil {
			break
		}
		whole++
		fmt.Fprintf(out, "run %d of %d: %s\n", i+1, o.runs, found.summary())
	}
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
		args := []string{"test", "-c", "-vet=off", "-o", b.path}
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
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), nil
}

// runAll runs each binary once, several at a time.
func runAll(ctx context.Context, o *options, binaries []binary, number int, dir string, found *findings) {
	var running sync.WaitGroup
	places := make(chan struct{}, o.atOnce)
	for _, b := range binaries {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			if ctx.Err() == nil {
				runOne(ctx, o, b, number, dir, found)
			}
		})
	}
	running.Wait()
}

// killAfter is how long a test binary has after its own timeout to say what hangs.
const killAfter = time.Minute

func runOne(ctx context.Context, o *options, b binary, number int, dir string, found *findings) {
	limited, cancel := context.WithTimeout(ctx, o.timeout+killAfter)
	defer cancel()
	args := []string{"-test.v", "-test.timeout=" + o.timeout.String()}
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
