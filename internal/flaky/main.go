package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

type options struct {
	runs     int
	packages string        // patterns as go list takes them, separated by commas
	pattern  string        // names of tests, as go test -run takes them
	load     int           // busy loops
	atOnce   int           // test binaries
	timeout  time.Duration // of one test binary
	race     bool
	short    bool
}

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 30, "how often each test runs")
	flag.StringVar(&o.packages, "packages", "./...", "packages, separated by commas")
	flag.StringVar(&o.pattern, "run", "", "only tests whose names match, as with go test")
	flag.IntVar(&o.load, "load", runtime.NumCPU(), "busy loops beside the tests; 0 is none")
	flag.IntVar(&o.atOnce, "p", runtime.NumCPU()+1, "test binaries that run at a time")
	flag.DurationVar(&o.timeout, "timeout", 20*time.Minute, "the longest that a test binary may run")
	flag.BoolVar(&o.race, "race", false, "build with the race detector")
	flag.BoolVar(&o.short, "short", false, "run the tests with -short")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	failed, err := run(ctx, &o, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "flaky:", err)
		os.Exit(1)
	case failed:
		os.Exit(1)
	}
}

// stopSignals are those that end the search and can be caught, so that its directory is removed. SIGHUP is among them
// unless the process was started with it ignored, as by nohup.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

func (o *options) validate() error {
	if o.runs < 1 || o.load < 0 || o.atOnce < 1 || o.timeout <= 0 || strings.Trim(o.packages, ", ") == "" {
		return errors.New("it takes a package, a run, a test binary at a time and a timeout; the load is not negative")
	}
	return nil
}
