package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

func main() {
	var o cluster.ProcessOptions
	o.Flags(flag.CommandLine)
	only := flag.String("only", "", "names of the acts to run, separated by commas; all when empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, &o, *only)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "acts:", err)
		os.Exit(1)
	}
}

// run runs the acts and prints a line for each.
func run(ctx context.Context, o *cluster.ProcessOptions, only string) (err error) {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	tidy, err := o.Prepare(ctx, "acts")
	if err != nil {
		return err
	}
	var failed []string
	skipped := 0
	for _, a := range chosen {
		began := time.Now()
		reason, err := perform(ctx, o, a)
		took := time.Since(began).Round(100 * time.Millisecond)
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), tidy())
		case err != nil:
			failed = append(failed, a.name)
			fmt.Printf("FAILED   %-10s %6v  %s\n         %v\n", a.name, took, a.what, err)
		case reason != "":
			skipped++
			fmt.Printf("skipped  %-10s %6v  %s: %s\n", a.name, took, a.what, reason)
		default:
			fmt.Printf("ok       %-10s %6v  %s\n", a.name, took, a.what)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", len(chosen)-len(failed)-skipped, len(failed), skipped)
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s; data and logs are kept in %s", strings.Join(failed, ", "), o.Dir)
	}
	return tidy()
}

// choose returns the acts of the names, in the order of the list.
func choose(only string) ([]act, error) {
	if only == "" {
		return acts, nil
	}
	names := strings.Split(only, ",")
	var chosen []act
	for _, a := range acts {
		if i := slices.Index(names, a.name); i >= 0 {
			chosen, names = append(chosen, a), slices.Delete(names, i, i+1)
		}
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("no act is called %s", strings.Join(names, ", "))
	}
	return chosen, nil
}

// perform runs one act. A reason says why the machine does not allow it.
func perform(ctx context.Context, o *cluster.ProcessOptions, a act) (reason string, err error) {
	s := &stage{options: o, dir: filepath.Join(o.Dir, a.name), acknowledged: map[string]string{}}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return "", err
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		return "", err
	}
	err = errors.Join(a.run(ctx, s), s.end())
	if errors.As(err, new(unable)) {
		return err.Error(), nil
	}
	if err == nil {
		err = os.RemoveAll(s.dir)
	}
	return "", err
}
