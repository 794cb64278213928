package drive

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// BenchmarkGenerator drives a redis-server in turns with redis-benchmark, by 50 connections
// with 16 operations in flight each, and tells the rates and their ratio: the median of
// some rounds. It takes as long as it takes, whatever b.N is.
func BenchmarkGenerator(b *testing.B) {
	tool, err := exec.LookPath("redis-benchmark")
	if err != nil {
		b.Skip("no redis-benchmark to compare with")
	}
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		rounds = n
	}
	for _, c := range []struct {
		name   string
		clock  bool // both take notes of the same: nothing is verified
		verify bool
	}{{name: "set"}, {name: "get"}, {name: "get+verify", verify: true}, {name: "set+verify", verify: true}} {
		b.Run(c.name, func(b *testing.B) {
			addr := startRedis(b)
			command, _, _ := strings.Cut(c.name, "+")
			var ours, theirs, ratios []float64
			for range rounds {
				theirs = append(theirs, redisBenchmark(b, tool, addr, command))
				ours = append(ours, generator(b, addr, command, c.verify))
				ratios = append(ratios, ours[len(ours)-1]/theirs[len(theirs)-1])
			}
			b.ReportMetric(median(ours), "ops/s")
			b.ReportMetric(median(theirs), "redis-benchmark/s")
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

const (
	benchClients  = 50
	benchPipeline = 16
	benchKeys     = 100_000
	benchSize     = 100
	benchTime     = 2 * time.Second
)

func redisBenchmark(b *testing.B, tool, addr, command string) float64 {
	host, port, _ := net.SplitHostPort(addr)
	out, err := exec.Command(tool, "-h", host, "-p", port, "-t", command, "-c", fmt.Sprint(benchClients),
		"-P", fmt.Sprint(benchPipeline), "-r", fmt.Sprint(benchKeys), "-d", fmt.Sprint(benchSize), "-n", "500000", "--csv").Output()
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	rate, err := strconv.ParseFloat(strings.Trim(strings.Split(lines[len(lines)-1], ",")[1], `"`), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate
}

func generator(b *testing.B, addr, command string, check bool) float64 {
	w := workloadOf(b, "1 "+command)
	w.Clients, w.Keys, w.Prefix, w.Stamped = benchClients, benchKeys, "key:", check
	w.Sizes, _ = workload.ParseSizes(fmt.Sprint(benchSize))
	cfg := Config{Workload: w, Targets: only(addr), Pipeline: benchPipeline}
	if check {
		verified(b, &cfg)
	}
	l := open(b, cfg)
	if command == "get" {
		if err := l.Fill(within(b), benchKeys); err != nil {
			b.Fatal(err)
		}
	}
	r := play(b, l, benchTime)
	all := r.Series.All()
	if all.Failed > 0 {
		b.Fatalf("%d failed", all.Failed)
	}
	if check {
		if c := cfg.Check.Checked(); c.Lost+c.Stale+c.Corrupt > 0 {
			b.Fatalf("%+v", c)
		}
	}
	b.Logf("%s: %.0f/s, p99 %.0f µs, %.2f cores, saturated %.3f", command, float64(all.Operations)/r.Took.Seconds(), all.Latency.P99, r.Cores, r.Saturated)
	return float64(all.Operations) / r.Took.Seconds()
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
