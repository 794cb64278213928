package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
// SIM_STRATEGIES, SIM_NODES and SIM_KEYS change what is simulated; with SIM_FILE=1 the
// keys come from a reader.
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
		if os.Getenv("SIM_FILE") != "" {
			c.KeySource = &madeUpFile{keys: c.Keys}
		}
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

// madeUpFile is a file of keys that was never written.
type madeUpFile struct {
	keys, next int
	line       []byte
}

func (f *madeUpFile) Read(p []byte) (int, error) {
	if len(f.line) == 0 {
		if f.next == f.keys {
			return 0, io.EOF
		}
		f.line = fmt.Appendf(f.line[:0], "user:%d:session\t%d\n", f.next, f.next%1000)
		f.next++
	}
	n := copy(p, f.line)
	f.line = f.line[n:]
	return n, nil
}
