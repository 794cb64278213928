package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/pflag"

	"github.com/ringside-kv/ringside/loadtest"
	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// Exit codes, besides 0.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	ctx, end := loadtest.StopContext(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	end()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if ok, err := act(ctx, args); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailure
	} else if ok {
		return 0
	}
	if len(args) > 0 && args[0] == diffCommand {
		if err := diffReports(stdout, args[1:]); err != nil {
			fmt.Fprintf(stderr, "versus: %v\n", err)
			return exitUsage
		}
		return 0
	}
	opt, err := parseOptions(args, stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "%v\nSee 'versus --help'.\n", err)
		return exitUsage
	}
	pairs, err := selectPairings(opt)
	if err != nil && opt.large == 0 {
		fmt.Fprintf(stderr, "%v\n", err)
		return exitUsage
	}
	if err := compare(ctx, opt, pairs, stdout, stderr); err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(stderr, "versus: %v\n", err)
		return exitFailure
	}
	return 0
}

// compare measures all pairings that are asked for. What one pairing fails at
// does not keep the others from being measured; the error tells at the end.
func compare(ctx context.Context, opt options, pairs []pairing, stdout, stderr io.Writer) (err error) {
	var jsonFile *os.File
	if opt.json != "" {
		// Opened at once: a wrong name should not cost the whole measurement.
		if jsonFile, err = os.Create(opt.json); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, jsonFile.Close()) }()
	}
	dir, err := os.MkdirTemp(opt.dir, "ringside-versus-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	progress := newProgress(stderr)
	defer progress.clear()
	binary := opt.ringside
	if binary == "" {
		progress.show("building cmd/ringside")
		if binary, err = cluster.Build(ctx, dir); err != nil {
			return err
		}
	}
	redisServer, _ := exec.LookPath("redis-server") // "" if it is not installed
	drv := chooseDriver(opt)
	rep := results{Machine: describeMachine(ctx, dir, redisServer), Load: drv.name,
		Rounds: opt.rounds, Clients: opt.clients, Keys: opt.keys, Quick: opt.quick}
	progress.clear()
	printHead(stdout, &rep)

	s := &session{opt: opt, driver: drv, dir: dir, ringside: binary, redis: redisServer, progress: progress, out: stdout}
	var failed []error
	if opt.large > 0 {
		result, err := s.runLarge(ctx)
		rep.Large, failed = &result, append(failed, err)
		pairs = nil
	}
	for _, p := range pairs {
		result, err := (&bout{s, p}).run(ctx)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.Title, err))
			fmt.Fprintf(stdout, "  failed, see the end\n")
		}
		switch {
		case opt.forward:
			rep.Forward = &result
		case opt.cores:
			rep.Cores = &result
		default:
			rep.Pairings = append(rep.Pairings, result)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(pairs) > 0 {
		tableOf(pairs[0].Mode).printFoot(stdout, opt.quick)
	}
	if jsonFile != nil {
		failed = append(failed, writeJSON(jsonFile, rep))
	}
	return errors.Join(failed...)
}
