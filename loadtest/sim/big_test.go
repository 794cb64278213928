package sim

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkThousandNodes is the size that a simulation is made for: 1,000 nodes and ten
// million keys through the default scenario. It says how long each step takes (-v), and
// the most memory that the process had:
//
//	go test -run '^$' -bench ThousandNodes -benchtime 1x -v ./loadtest/sim
//
// SIM_STRATEGIES, SIM_NODES and SIM_KEYS change what is simulated.
func BenchmarkThousandNodes(b *testing.B) {
	c := DefaultConfig()
	c.Members, c.Keys = Nodes(fromEnv("SIM_NODES", 1000)), fromEnv("SIM_KEYS", 10_000_000)
	if names := os.Getenv("SIM_STRATEGIES"); names != "" {
		c.Strategies = strings.Split(names, ",")
	}
	began := time.Now()
	last := ""
	c.Progress = func(done, total int, what string) {
		if what != last {
			last = what
			b.Logf("%6.2f s  %3d%%  %s", time.Since(began).Seconds(), done*100/total, what)
		}
	}
	for b.Loop() {
		report, err := Run(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		text, err := json.Marshal(report)
		if err != nil {
			b.Fatal(err)
		}
		for i := range report.Steps {
			for j, o := range report.Steps[i].Outcomes {
				b.Logf("%-28s %-10s moved/least %.3f survivors %d lost %d max %.3f cv %.3f copies cv %.3f ranges %d compute %v lookup %.1f locate %.1f", report.Steps[i].Event, report.Contenders[j].Name, o.Ratio, o.Survivors.Keys, o.Lost.Keys, o.Balance.Keys.Max, o.Balance.Keys.CV, o.Balance.Copies.CV, o.Ranges, o.Compute, o.LookupNanos, o.LocateNanos)
			}
		}
		b.ReportMetric(float64(len(text)), "json-B")
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MiB")
	}
}

func fromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
