package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// redisBenchmark drives with Redis' own tool.
type redisBenchmark struct{ path string }

func (redisBenchmark) name() string { return loadRedisBenchmark }

// drive needs a context with a deadline: redis-benchmark retries forever when
// nothing listens.
func (r redisBenchmark) drive(ctx context.Context, l load) (figures, error) {
	host, port, err := net.SplitHostPort(l.addr)
	if err != nil {
		return figures{}, err
	}
	args := []string{"-h", host, "-p", port,
		"-c", strconv.Itoa(l.clients),
		"-n", strconv.Itoa(l.requests),
		"-P", strconv.Itoa(l.pipeline),
		"-r", strconv.Itoa(l.keys),
		"-d", strconv.Itoa(l.valueSize),
		"--csv", "--precision", "3"}
	if recipe := recipeFor(l.command); recipe != nil {
		args = append(args, recipe.with(string(valuePool[:l.valueSize]))...)
	} else {
		args = append(args, "-t", strings.ToLower(l.command))
	}
	cmd := exec.CommandContext(ctx, r.path, args...)
	var stdout strings.Builder
	output := &tail{}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, output), output
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return figures{}, fmt.Errorf("%s: %w\n%s", loadRedisBenchmark, err, strings.TrimSpace(output.String()))
	}
	f, err := parseCSV(stdout.String())
	if err != nil {
		return figures{}, fmt.Errorf("%s: %w in\n%s", loadRedisBenchmark, err, strings.TrimSpace(output.String()))
	}
	return f, nil
}

var errNoCSV = errors.New("no table with rps, p50_latency_ms and p99_latency_ms (redis-benchmark 6.2 or later prints it; else use --load own)")

// parseCSV reads the one row of figures that redis-benchmark --csv prints.
// Columns are found by name; lines that are not of the table are passed over.
func parseCSV(text string) (figures, error) {
	var head []string
	for line := range strings.Lines(text) {
		row, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil {
			continue
		}
		switch {
		case len(row) > 1 && row[0] == "test":
			head = row
		case head != nil && len(row) == len(head):
			return parseRow(head, row)
		}
	}
	return figures{}, errNoCSV
}

func parseRow(head, row []string) (figures, error) {
	var f figures
	wanted := map[string]*float64{"rps": &f.OpsPerSec, "p50_latency_ms": &f.P50, "p99_latency_ms": &f.P99}
	for i, name := range head {
		p, ok := wanted[name]
		if !ok {
			continue
		}
		var err error
		if *p, err = strconv.ParseFloat(row[i], 64); err != nil {
			return figures{}, fmt.Errorf("%s: %w", name, err)
		}
		delete(wanted, name)
	}
	if len(wanted) > 0 {
		return figures{}, errNoCSV
	}
	if f.OpsPerSec <= 0 {
		return figures{}, fmt.Errorf("rps is %v", f.OpsPerSec)
	}
	return f, nil
}
