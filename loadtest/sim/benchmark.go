package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// Bounds of a benchmark.
const (
	MaxBenchmarkNodes      = 100_000
	MaxBenchmarkIterations = 1000
)

// Distributions of a benchmark's keys.
const (
	Uniform = "uniform" // random numbers, all distinct
	Normal  = "normal"  // numbers drawn from the standard normal distribution, as text
	Zipf    = "zipf"    // the i-th of Keys keys, as often as 1/i^ZipfTheta
	File    = "file"    // the keys of KeySource, again and again
)

// Distributions are the names of all distributions of keys, the default first.
func Distributions() []string { return []string{Uniform, Normal, Zipf, File} }

// A Benchmark says what to measure of placement algorithms, by themselves and without backups, as
// the benchmark of M. Coluzzi, A. Brocco and others does for their survey of consistent hashing.
type Benchmark struct {
	// Config has the strategies, the keys of each iteration, the order in which nodes are removed,
	// the seed and who is told of progress. KeySource is for [File]. Members, backups, the scenario,
	// zones and sizes do not count.
	Config
	Nodes         []int     // how many there are, each measured by itself
	Distributions []string  // of the keys; see [Distributions]
	Fractions     []float64 // of the nodes that are removed and restored, each by itself
	Iterations    int
}

// DefaultBenchmark is what a benchmark measures unless told otherwise.
func DefaultBenchmark() Benchmark {
	c := DefaultConfig()
	return Benchmark{
		Config:        c,
		Nodes:         []int{len(c.Members)},
		Distributions: []string{Uniform},
		Fractions:     []float64{0.1, 0.3, 0.5},
		Iterations:    5,
	}
}

// Validate returns every fault at once, joined. It does not read the keys.
func (b *Benchmark) Validate() error {
	_, err := b.contenders()
	return err
}

func (b *Benchmark) contenders() ([]entry, error) {
	var f faults
	within(&f, "keys", b.Keys, 1, MaxKeys)
	if len(b.Nodes) == 0 {
		f.addf("nodes: how many is missing")
	}
	for _, n := range b.Nodes {
		within(&f, "nodes", n, 1, MaxBenchmarkNodes)
	}
	within(&f, "iterations", b.Iterations, 1, MaxBenchmarkIterations)
	for _, fraction := range b.Fractions {
		if !(fraction > 0 && fraction < 1) {
			f.addf("fractions: %v is not between 0 and 1", fraction)
		}
	}
	f.order(b.Order)
	if len(b.Distributions) == 0 {
		f.addf("distribution: it is missing")
	}
	for i, d := range b.Distributions {
		switch {
		case !slices.Contains(Distributions(), d):
			f.addf("distribution: %.40q: want %s", d, strings.Join(Distributions(), ", "))
		case slices.Contains(b.Distributions[:i], d):
			f.addf("distribution: %.40q comes twice", d)
		case d == File && b.KeySource == nil:
			f.addf("distribution: %s needs a file of keys", File)
		case d == Zipf:
			within(&f, "zipf exponent", b.ZipfTheta, 0.01, MaxZipfTheta)
		}
	}
	entries, err := entries(b.Strategies, b.Base)
	f.add(err)
	return entries, errors.Join(f...)
}

// A BenchmarkReport is what a benchmark measured, in the order of contenders, nodes, distributions
// and fractions.
type BenchmarkReport struct {
	Balance       []LoadFigures
	ResizeBalance []LoadFigures
	Monotonicity  []MoveFigures
	Memory        []MemoryFigures
	Lookup        []TimeFigures
	Init          []TimeFigures
	Resize        []TimeFigures
	// Skipped are measurements that a strategy refused, such as too many nodes for its points.
	Skipped []Skipped
	// Stopped reports that the context ended before all was measured.
	Stopped bool
}

// A Subject is what a figure is about.
type Subject struct {
	Hash, Algorithm string
	Nodes           int
}

// LoadFigures are how many keys nodes have, as means over the iterations.
type LoadFigures struct {
	Subject
	Distribution string
	Keys         int // of each iteration
	Iterations   int
	Min, Max     float64 // keys of a node
	P99          float64 // 99 of 100 nodes have no more
	Variance     float64
}

// Expected is the mean number of keys of a node, rounded down.
func (l *LoadFigures) Expected() int { return l.Keys / l.Nodes }

// Relative is a number of keys as a multiple of the mean.
func (l *LoadFigures) Relative(keys float64) float64 {
	return keys * float64(l.Nodes) / float64(l.Keys)
}

// MoveFigures are what moves when a fraction of the nodes is removed and restored.
type MoveFigures struct {
	Subject
	Distribution string
	Order        string
	Fraction     float64
	Keys         int // distinct
	InRemoved    int // keys that the removed nodes had
	// When nodes are removed: keys that leave removed nodes, and others, and how many nodes lose keys.
	FromRemoved, FromOthers, Losing int
	// When they are restored: keys that return to restored nodes, or move to others, and how many
	// nodes gain keys.
	ToRestored, ToOthers, Gaining int
	// Afterwards: keys that are elsewhere than at first, and the nodes that had them.
	Relocated, Changed int
}

// MemoryFigures are the bytes that finding a key takes.
type MemoryFigures struct {
	Subject
	Bytes int
}

// TimeFigures are times in nanoseconds.
type TimeFigures struct {
	Subject
	Distribution     string // of look-ups
	Iterations       int
	Median, Min, Max float64
}

// A Skipped measurement could not be made.
type Skipped struct {
	Subject
	Err error
}

// RunBenchmark measures. It computes on all cores where no time is measured, and keeps no
// goroutine. If the context ends before it is done, it returns what is done with Stopped set.
func RunBenchmark(ctx context.Context, b Benchmark) (*BenchmarkReport, error) {
	entries, err := b.contenders()
	if err != nil {
		return nil, err
	}
	r := &benchmark{Benchmark: &b, crew: newCrew(ctx, b.Progress), report: new(BenchmarkReport)}
	if b.KeySource != nil {
		if r.read, r.readCount, err = readKeys(ctx, b.KeySource); err != nil {
			return nil, fmt.Errorf("keys: %s: %w", b.KeyFile, err)
		}
	}
	r.crew.tasks = len(entries) * len(b.Nodes)
	for i := range entries {
		for _, nodes := range b.Nodes {
			subject := Subject{Hash: hashOf(&entries[i], b.Base), Algorithm: entries[i].Name, Nodes: nodes}
			r.crew.begin(fmt.Sprintf("%s, %d nodes", subject.Algorithm, nodes))
			err := r.measure(&entries[i], subject)
			if ctx.Err() != nil {
				r.report.Stopped = true
				return r.report, nil
			}
			if err != nil {
				r.report.Skipped = append(r.report.Skipped, Skipped{subject, err})
			}
			r.crew.finish()
		}
	}
	return r.report, nil
}

// hashOf names the hash of keys.
func hashOf(e *entry, base strategy.Config) string {
	switch {
	case base.Hash != strategy.Native:
		return base.Hash
	case e.strategy == nil || e.config.Name == strategy.Buckets:
		return strategy.FNV1a
	case e.config.Name == strategy.Ketama:
		return strategy.MD5
	case e.config.Name == strategy.VNode:
		return strategy.Murmur3
	}
	return "xx"
}

// loadOf describes how many keys each node has in one iteration.
func loadOf(keys []int64, all int) LoadFigures {
	slices.Sort(keys)
	n := len(keys)
	l := LoadFigures{Min: float64(keys[0]), Max: float64(keys[n-1])}
	l.P99 = float64(keys[int(math.Ceil(0.99*float64(n)))-1])
	mean := float64(all / n)
	for _, k := range keys {
		l.Variance += (float64(k) - mean) * (float64(k) - mean) / float64(n)
	}
	return l
}
