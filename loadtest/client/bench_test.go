package client

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

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// BenchmarkGenerator drives a redis-server in turns with redis-benchmark, by 50 connections
// with 16 operations in flight each, and tells the rates, their ratio, and what either takes
// of a processor: the medians of some rounds. It takes as long as it takes, whatever b.N is.
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
		verify bool
	}{{name: "set"}, {name: "get"}, {name: "get+verify", verify: true}, {name: "set+verify", verify: true}} {
		b.Run(c.name, func(b *testing.B) {
			addr := redistest.Start(b)
			command, _, _ := strings.Cut(c.name, "+")
			generator(b, addr, command, c.verify) // both find all keys
			var ours, theirs, ratios, work, theirWork []float64
			for range rounds {
				rate, took := redisBenchmark(b, tool, addr, command)
				theirs, theirWork = append(theirs, rate), append(theirWork, took)
				ourRate, took := generator(b, addr, command, c.verify)
				ours, work = append(ours, ourRate), append(work, took)
				ratios = append(ratios, ourRate/rate)
			}
			b.ReportMetric(median(ours), "ops/s")
			b.ReportMetric(median(theirs), "redis-benchmark/s")
			b.ReportMetric(median(ratios), "ratio")
			b.ReportMetric(median(work), "cpu-ns/op")
			b.ReportMetric(median(theirWork), "redis-benchmark-cpu-ns/op")
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
	benchRequests = 500_000
)

// redisBenchmark returns operations a second, and nanoseconds of processors for each.
func redisBenchmark(b *testing.B, tool, addr, command string) (rate, work float64) {
	host, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(tool, "-h", host, "-p", port, "-t", command, "-c", fmt.Sprint(benchClients),
		"-P", fmt.Sprint(benchPipeline), "-r", fmt.Sprint(benchKeys), "-d", fmt.Sprint(benchSize), "-n", fmt.Sprint(benchRequests), "--csv")
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	rate, err = strconv.ParseFloat(strings.Trim(strings.Split(lines[len(lines)-1], ",")[1], `"`), 64)
	if err != nil {
		b.Fatal(err)
	}
	return rate, float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()) / benchRequests
}

// generator returns the same of a load.
func generator(b *testing.B, addr, command string, check bool) (rate, work float64) {
	w := workloadOf(b, "1 "+command)
	w.Clients, w.Keys, w.Prefix, w.Stamped = benchClients, benchKeys, "key:", check
	w.Sizes, _ = workload.ParseSizes(fmt.Sprint(benchSize))
	cfg := Config{Workload: w, Targets: only(addr), Pipeline: benchPipeline}
	if check {
		verified(b, &cfg)
	}
	l := open(b, cfg)
	if command == "get" { // another model knows of no keys
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
	return float64(all.Operations) / r.Took.Seconds(), r.Cores * float64(r.Took) / float64(all.Operations)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
