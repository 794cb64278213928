package sim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

func smallBenchmark() Benchmark {
	b := DefaultBenchmark()
	b.Keys, b.Iterations, b.Nodes = 9000, 2, []int{7, 40}
	b.Distributions = []string{Uniform, Normal, Zipf, File}
	b.KeySource = strings.NewReader("a\nb{tag}\nc\t100\nd")
	return b
}

func runBenchmark(t *testing.T, b Benchmark) *BenchmarkReport {
	t.Helper()
	r, err := RunBenchmark(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) > 0 || r.Stopped {
		t.Fatalf("skipped %v, stopped %t", r.Skipped, r.Stopped)
	}
	return r
}

// TestBenchmarkCountsEachKey counts the keys of hash mod n by itself, as the figures are defined.
func TestBenchmarkCountsEachKey(t *testing.T) {
	b := smallBenchmark()
	b.Strategies, b.Seed, b.Order = []string{Mod}, rand.Uint64(), []string{Random, LIFO, FIFO}[rand.IntN(3)]
	t.Logf("seed %d, order %s", b.Seed, b.Order)
	r := runBenchmark(t, b)
	state := &benchmark{Benchmark: &b}
	state.read, state.readCount, _ = readKeys(t.Context(), strings.NewReader("a\nb{tag}\nc\t100\nd"))
	keysOf := func(distribution string, iteration int) (keys []string) {
		stream := state.keys(distribution, iteration)
		for from := 0; from < b.Keys; from += chunkKeys {
			stream.each(from/chunkKeys, min(chunkKeys, b.Keys-from), func(key []byte, _ int) { keys = append(keys, string(key)) })
		}
		return keys
	}
	hash := func(key string) uint64 { return wideHash(ring.HashTag([]byte(key))) }

	for i, got := range r.Balance {
		n := b.Nodes[i/len(b.Distributions)]
		var low, high, variance float64
		for iteration := range b.Iterations {
			counts := make([]float64, n)
			for _, key := range keysOf(got.Distribution, iteration) {
				counts[hash(key)>>32%uint64(n)]++
			}
			low, high = low+slices.Min(counts)/2, high+slices.Max(counts)/2
			for _, count := range counts {
				variance += math.Pow(count-float64(b.Keys/n), 2) / float64(n) / 2
			}
		}
		if got.Nodes != n || got.Min != low || got.Max != high || !near(got.Variance, variance) {
			t.Errorf("%+v: want %v to %v, variance %v", got, low, high, variance)
		}
	}
	for _, got := range r.Monotonicity {
		removed := state.removed(got.Nodes, int(got.Fraction*float64(got.Nodes)))
		var left []int
		for i, is := range removed {
			if !is {
				left = append(left, i)
			}
		}
		distinct := make(map[string]bool)
		want := MoveFigures{Subject: got.Subject, Distribution: got.Distribution, Order: b.Order, Fraction: got.Fraction}
		losing, gaining := make(map[int]bool), make(map[int]bool)
		for _, key := range keysOf(got.Distribution, 0) {
			if distinct[key] {
				continue
			}
			distinct[key] = true
			first := int(hash(key) >> 32 % uint64(got.Nodes))
			then := left[hash(key)>>32%uint64(len(left))]
			want.InRemoved += one(removed[first])
			if first != then {
				losing[first], gaining[first] = true, true
				want.FromRemoved += one(removed[first])
				want.FromOthers += one(!removed[first])
			}
		}
		want.ToRestored, want.ToOthers = want.FromRemoved, want.FromOthers // the placement is as before
		want.Keys, want.Losing, want.Gaining = len(distinct), len(losing), len(gaining)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestBenchmarkFollowsFromTheSeed(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("TestBenchmarkCountsEachKey runs the same goroutines")
	}
	figures := func() string {
		b := smallBenchmark()
		b.Strategies = []string{"buckets", "maglev", "lrh/key", Mod}
		r := runBenchmark(t, b)
		return fmt.Sprint(r.Balance, r.ResizeBalance, r.Monotonicity, r.Memory)
	}
	want := figures()
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	if got := figures(); got != want {
		t.Errorf("with 3 processors %s\nwant %s", got, want)
	}
}

// Rendezvous hashing, ketama, multi-probe hashing, AnchorHash and MementoHash promise that no key moves between nodes that
// stay, and that all return; the others that are named move some.
func TestBenchmarkShowsWhatAlgorithmsPromise(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("TestBenchmarkCountsEachKey runs the same goroutines")
	}
	b := smallBenchmark()
	b.Distributions = []string{Uniform}
	b.Strategies = []string{"rendezvous/key", "ketama", "multiprobe/key", "rendezvous", "anchor/key", "memento/key", "anchor", "memento", "maglev/key", "jump/key", Mod}
	b.Nodes = []int{20, 50}
	for _, m := range runBenchmark(t, b).Monotonicity {
		exact := slices.Contains(b.Strategies[:8], m.Algorithm)
		if stray := m.FromOthers + m.ToOthers + m.Relocated; exact != (stray == 0) || m.InRemoved != m.FromRemoved || m.Keys != b.Keys {
			t.Errorf("%+v", m)
		}
	}
}

func TestBenchmarkLeavesOutWhatAStrategyRefuses(t *testing.T) {
	b := smallBenchmark()
	b.Distributions, b.Fractions, b.Iterations, b.Keys = []string{Uniform}, nil, 1, 1000
	b.Strategies, b.Nodes = []string{"vnode:60000", Mod}, []int{2, 100}
	r, err := RunBenchmark(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) != 1 || r.Skipped[0].Algorithm != "vnode:60000" || r.Skipped[0].Nodes != 100 || len(r.Balance) != 3 {
		t.Errorf("%+v, %d balances", r.Skipped, len(r.Balance))
	}
}

func TestStoppedBenchmarkReportsWhatIsDone(t *testing.T) {
	b := smallBenchmark()
	b.Distributions = []string{Uniform}
	ctx, cancel := context.WithCancel(t.Context())
	b.Strategies = []string{Mod, "ketama"}
	b.Progress = func(_, _ int, what string) {
		if strings.HasPrefix(what, "ketama") {
			cancel()
		}
	}
	r, err := RunBenchmark(ctx, b)
	if err != nil || !r.Stopped || len(r.Balance) < len(b.Nodes) {
		t.Errorf("%v: %+v", err, r)
	}
}

func TestBenchmarkNamesEveryFault(t *testing.T) {
	b := DefaultBenchmark()
	b.Keys, b.Nodes, b.Iterations, b.Fractions, b.Order = 0, []int{0, 100_001}, 0, []float64{1, math.NaN()}, "x"
	b.Distributions, b.Strategies, b.Base.Hash = []string{"gauss", File, Uniform, Uniform}, []string{"bounded/key", "mod/key"}, "crc"
	err := b.Validate()
	for _, want := range []string{
		"keys: 0", "nodes: 0", "nodes: 100001", "iterations: 0", "fractions: 1", "fractions: NaN", `order: "x"`,
		`distribution: "gauss"`, "distribution: file needs", `"uniform" comes twice`, `"bounded/key"`, `"mod/key"`, strategy.ErrHash.Error(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
}
