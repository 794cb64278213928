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
	if code, ok := actMain(); ok {
		os.Exit(code)
	}
	ctx, end := loadtest.StopContext(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	end()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
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
	var pairs []pairing
	switch {
	case opt.large > 0:
	case opt.forward:
		if len(forwardWorkloads(opt)) == 0 {
			err = errors.New("--only: no workload of --forward matches; there are SET and GET 64B P1 and P16")
		}
	default:
		pairs, err = selectPairings(opt)
	}
	if err != nil {
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
	redisServer, lookErr := exec.LookPath("redis-server")
	if lookErr != nil {
		redisServer = ""
	}
	drv := chooseDriver(opt)
	rep := report{Machine: describeMachine(ctx, dir, redisServer), Load: drv.name(),
		Rounds: opt.rounds, Clients: opt.clients, Keys: opt.keys, Quick: opt.quick}
	progress.clear()
	printHead(stdout, rep)

	var failed []error
	switch {
	case opt.large > 0:
		g := giant{opt: opt, dir: dir, ringside: binary, progress: progress, rows: stdout}
		result, err := g.run(ctx)
		rep.Large = &result
		failed = append(failed, err)
	case opt.forward:
		c := contest{opt: opt, driver: drv, dir: dir, ringside: binary, progress: progress, rows: stdout}
		result, err := c.run(ctx)
		rep.Forward = &result
		failed = append(failed, err)
	}
	for _, p := range pairs {
		d := duel{pairing: p, opt: opt, driver: drv, dir: dir, ringside: binary, redis: redisServer,
			progress: progress, rows: stdout}
		printPairingHead(stdout, p)
		result, err := d.run(ctx)
		progress.clear()
		rep.Pairings = append(rep.Pairings, result)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.title, err))
			fmt.Fprintf(stdout, "  failed, see the end\n")
		}
		printMemory(stdout, result.Memory)
		if ctx.Err() != nil {
			break
		}
	}
	if len(pairs) > 0 {
		printFoot(stdout, rep)
	}
	if jsonFile != nil {
		failed = append(failed, writeJSON(jsonFile, rep))
	}
	return errors.Join(failed...)
}
