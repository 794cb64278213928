package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// redisBenchmark drives with Redis' own tool.
type redisBenchmark struct{ path string }

// drive needs a context with a deadline: redis-benchmark retries forever when nothing listens.
func (r redisBenchmark) drive(ctx context.Context, l load) (figures, error) {
	host, port, err := net.SplitHostPort(l.addr)
	if err != nil {
		return figures{}, err
	}
	args := []string{"-h", host, "-p", port,
		"-c", strconv.Itoa(l.clients),
		"-n", strconv.Itoa(l.requests),
		"-P", strconv.Itoa(l.Pipeline),
		"-r", strconv.Itoa(l.keys),
		"--csv", "--precision", "3"}
	cmd := exec.CommandContext(ctx, r.path, append(args, expand(l.do.Request, valueMark, l.value())...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	var f figures
	if err = cmd.Run(); err == nil {
		f, err = parseCSV(stdout.String())
	} else if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w\n%s", loadRedisBenchmark, err, lastOutput(stdout.String()+stderr.String()))
	}
	return f, nil
}

var errNoCSV = errors.New("no table with rps, p50_latency_ms and p99_latency_ms (redis-benchmark 6.2 or later prints it; else use --load own)")

// parseCSV reads the one row of figures that redis-benchmark --csv prints. Lines that are not of the
// table are skipped.
func parseCSV(text string) (figures, error) {
	var head []string
	for line := range strings.Lines(text) {
		row, err := csv.NewReader(strings.NewReader(line)).Read()
		switch {
		case err != nil || len(row) < 2:
		case row[0] == "test":
			head = row
		case len(row) == len(head):
			return parseRow(head, row)
		}
	}
	return figures{}, errNoCSV
}

func parseRow(head, row []string) (f figures, err error) {
	for name, p := range map[string]*float64{"rps": &f.OpsPerSec, "p50_latency_ms": &f.P50, "p99_latency_ms": &f.P99} {
		i := slices.Index(head, name)
		if i < 0 {
			return f, errNoCSV
		}
		if *p, err = strconv.ParseFloat(row[i], 64); err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
	}
	if f.OpsPerSec <= 0 {
		err = fmt.Errorf("rps is %v", f.OpsPerSec)
	}
	return f, err
}
