package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A benchmark is what the flags say of one. It is made in the place of a simulation where --csv names
// a directory.
type benchmark struct {
	nodes         []int
	distributions []string
	fractions     []float64
	iterations    int
}

func newBenchmark() benchmark {
	b := sim.DefaultBenchmark()
	return benchmark{b.Nodes, b.Distributions, b.Fractions, b.Iterations}
}

// benchmarkFlags are for benchmarks only.
var benchmarkFlags = []string{"distribution", "fractions", "iterations"}

// csvDir reports whether --csv names a directory: one that exists, or a name that neither ends in
// .csv nor is there.
func (o *simulation) csvDir() bool {
	if o.csv == "" || o.csv == "-" {
		return false
	}
	if info, err := os.Stat(o.csv); err == nil {
		return info.IsDir()
	}
	return filepath.Ext(o.csv) != ".csv"
}

// forBenchmark is the configuration of the benchmark.
func (o *simulation) forBenchmark() sim.Benchmark {
	return sim.Benchmark{
		Config:        o.cfg,
		Nodes:         o.benchmark.nodes,
		Distributions: o.benchmark.distributions,
		Fractions:     o.benchmark.fractions,
		Iterations:    o.benchmark.iterations,
	}
}

// benchmarkFaults are what is wrong with the flags of a benchmark, or with those of a simulation that
// are for benchmarks.
func (o *simulation) benchmarkFaults(given func(flag string) bool) []error {
	var faults []error
	if !o.csvDir() {
		for _, flag := range benchmarkFlags {
			if given(flag) {
				faults = append(faults, fmt.Errorf("--%s: only with --csv DIR", flag))
			}
		}
		if len(o.benchmark.nodes) > 1 {
			faults = append(faults, errors.New("--nodes: several numbers only with --csv DIR"))
		}
		return faults
	}
	for _, flag := range []string{"json", "html", "markdown", "svg", "scenario", "node", "zones", "backups", "value-size", "hot"} {
		if given(flag) {
			faults = append(faults, fmt.Errorf("--%s: not with --csv DIR", flag))
		}
	}
	b := o.forBenchmark()
	if given("keys-file") {
		b.KeySource = strings.NewReader("") // Validate does not read
	}
	for _, err := range parts(b.Validate()) {
		faults = append(faults, flagged(err))
	}
	return faults
}

// runBenchmark makes the benchmark and writes its files.
func (a *app) runBenchmark(ctx context.Context, o *simulation) error {
	failed := func(err error) error {
		fmt.Fprintf(a.stderr, "ringside: simulate: %v\n", err)
		return errFailed
	}
	// What cannot be written is known before a long run.
	if err := os.MkdirAll(o.csv, 0o777); err != nil {
		return failed(err)
	}
	if err := report.BenchmarkCSV(o.csv, new(sim.BenchmarkReport)); err != nil {
		return failed(err)
	}
	b := o.forBenchmark()
	bar := newBar(a.stderr)
	b.Progress = bar.show
	r, err := sim.RunBenchmark(ctx, b)
	bar.clear()
	if err != nil {
		return failed(err)
	}
	if err := errors.Join(report.BenchmarkCSV(o.csv, r), report.BenchmarkTable(a.stdout, r, report.TableOptions{Width: columns(a.stdout)})); err != nil {
		return failed(err)
	}
	fmt.Fprintf(a.stdout, "\nseed %d; all figures are in %s\n", b.Seed, o.csv)
	if r.Stopped {
		return errStopped
	}
	return nil
}

func (o *simulation) setNodes(text string) error {
	counts, err := numberList(text, strconv.Atoi)
	if err == nil {
		o.nodes, o.benchmark.nodes = counts[0], counts
	}
	return err
}

func (o *simulation) setFractions(text string) (err error) {
	o.benchmark.fractions, err = numberList(text, func(word string) (float64, error) { return strconv.ParseFloat(word, 64) })
	return err
}

func (o *simulation) setDistributions(text string) error {
	o.benchmark.distributions = strings.Split(text, ",")
	return nil
}

// numberList reads numbers with commas between them.
func numberList[T any](text string, parse func(string) (T, error)) ([]T, error) {
	var list []T
	for word := range strings.SplitSeq(text, ",") {
		n, err := parse(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a number, or several with commas between them", text)
		}
		list = append(list, n)
	}
	return list, nil
}
