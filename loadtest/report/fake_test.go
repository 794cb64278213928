package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// A fake is what a made-up report is made of: figures of the right form and the wrong
// values.
type fake struct {
	contestants []string
	rounds      int
	script      string // steps with semicolons; a number after run is seconds
	nodes       int
	seed        uint64
	windowMS    float64
	cells       int
	name        func(i int) string // of nodes
}

// usual is what most tests look at.
func usual() *result.Report {
	r := fake{contestants: []string{"buckets", "ketama", "vnode:128"}, rounds: 2, nodes: 3, seed: 1,
		script: "load 200000; run 8; join; run 8; leave; run 8; kill; run 12"}.report()
	return r
}

func (f fake) report() *result.Report {
	if f.windowMS == 0 {
		f.windowMS = 100
	}
	if f.cells == 0 {
		f.cells = 256
	}
	if f.name == nil {
		f.name = func(i int) string { return fmt.Sprintf("node-%d", i+1) }
	}
	rng := rand.New(rand.NewPCG(f.seed, 9))
	r := &result.Report{Version: result.Version, Ringside: "v0.6.0", Command: "ringside loadtest --strategies " + strings.Join(f.contestants, ",") + " --seed 1",
		Began: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), TookSeconds: 321.5,
		Machine:  result.Machine{OS: "linux", Arch: "amd64", Kernel: "6.1", CPU: "Some Processor", Cores: 2, MemoryBytes: 24 << 30, Go: "go1.26"},
		Settings: []result.Setting{{Name: "strategies", Value: strings.Join(f.contestants, ","), Default: false}, {Name: "seed", Value: "1", Default: false}, {Name: "nodes", Value: fmt.Sprint(f.nodes), Default: true}, {Name: "mix", Value: "80 get; 20 set", Default: true}},
		Script:   f.script, WindowMS: f.windowMS, Rounds: f.rounds, Notes: []string{"Embedded clusters replace lost copies after 2 s (--rereplicate-after)."}}
	for i, name := range f.contestants {
		c := result.Contestant{Name: name, Cluster: true}
		for round := range f.rounds {
			c.Runs = append(c.Runs, f.run(rng, i, round+1))
		}
		r.Contestants = append(r.Contestants, c)
	}
	return r
}

// A histogram of microseconds as reports have it.
func histogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 60_000_000, 3) }

func latencyOf(h *hdrhistogram.Histogram) result.Latency {
	text, err := h.EncodeV2()
	if err != nil {
		panic(err)
	}
	q := func(p float64) float64 { return float64(h.ValueAtPercentile(p)) }
	return result.Latency{Mean: h.Mean(), P50: q(50), P90: q(90), P99: q(99), P999: q(99.9), Max: float64(h.Max()), Histogram: string(text)}
}

func (f fake) run(rng *rand.Rand, contestant, round int) result.Run {
	speed := 20_000 * (1 - 0.12*float64(contestant)) * (0.97 + 0.06*rng.Float64())
	slow := 300 * (1 + 0.3*float64(contestant))
	run := result.Run{Round: round, Began: float64(round) * 50, LoadKeys: 200_000, LoadSeconds: 3 + rng.Float64(), GeneratorCores: 0.6}
	nodes := make([]string, f.nodes)
	for i := range nodes {
		nodes[i] = f.name(i)
	}
	born := f.nodes
	at := 0.0
	all, phase, h := histogram(), histogram(), hdrhistogram.New(1, 60_000_000, 2)
	owners := make([]string, f.cells)
	for i := range owners {
		owners[i] = nodes[rng.IntN(len(nodes))]
	}
	run.Layouts = append(run.Layouts, layoutOf(0, nodes, owners))
	trouble := 0.0 // ms until balanced
	window := func(part *result.Phase) {
		speed, slow := speed*(0.95+0.1*rng.Float64()), slow
		w := result.Window{AtMS: at}
		if trouble > 0 {
			speed *= 0.6
			slow *= 3
			trouble -= f.windowMS
		}
		w.Operations = int64(speed * f.windowMS / 1000)
		h.Reset()
		for range 300 {
			us, n := int64(min(5e7, slow*math.Exp(0.6*rng.NormFloat64()))+1), max(1, w.Operations/300)
			_, _ = h.RecordValues(us, n), phase.RecordValues(us, n)
		}
		w.P50, w.P99, w.P999, w.Max = float64(h.ValueAtPercentile(50)), float64(h.ValueAtPercentile(99)), float64(h.ValueAtPercentile(99.9)), float64(h.Max())
		part.Operations += w.Operations
		s := result.Sample{AtMS: at, Forwarded: 0.5 + 0.1*rng.Float64()}
		clients, shared := 0.45, 0.1
		s.GeneratorCores, s.SharedCores = &clients, &shared
		if trouble > 0 {
			s.Handoffs, s.MovedKeys, s.MovedBytes = 4, 2500+rng.Int64N(500), 300_000
			last := &run.Events[len(run.Events)-1]
			last.MovedKeys, last.MovedBytes, last.Handoffs = last.MovedKeys+s.MovedKeys, last.MovedBytes+s.MovedBytes, last.Handoffs+1
			if last.Name == "kill" && trouble > 1500 {
				w.Failed, w.Unknown = 25, 1
			}
			last.Failed, last.Unknown = last.Failed+w.Failed, last.Unknown+w.Unknown
			part.Failed, part.Unknown = part.Failed+w.Failed, part.Unknown+w.Unknown
			for range len(owners) / 12 {
				k := rng.IntN(len(owners))
				if last.Name == "join" && rng.IntN(len(nodes)) == 0 {
					owners[k] = nodes[len(nodes)-1]
				} else if !slices.Contains(nodes, owners[k]) {
					owners[k] = nodes[rng.IntN(len(nodes))]
				}
			}
			run.Layouts = append(run.Layouts, layoutOf(at, nodes, owners))
		}
		for i, n := range nodes {
			cores, memory := 0.2+0.05*rng.Float64(), int64(60<<20+i<<20)
			s.Nodes = append(s.Nodes, result.NodeSample{Node: n, Keys: int64(400_000 / len(nodes)), Bytes: int64(50_000_000 / len(nodes)), Primaries: 256 / int64(len(nodes)), Backups: 256 / int64(len(nodes)),
				PerSecond: float64(w.Operations) * 1000 / f.windowMS / float64(len(nodes)) * (0.9 + 0.2*rng.Float64()), Cores: &cores, MemoryBytes: &memory})
		}
		run.Windows, run.Samples = append(run.Windows, w), append(run.Samples, s)
		at += f.windowMS
	}
	for step := range strings.SplitSeq(f.script, "; ") {
		word, rest, _ := strings.Cut(step, " ")
		part := result.Phase{Name: step, FromMS: at}
		switch word {
		case "load":
			continue
		case "run":
			var s float64
			_, _ = fmt.Sscan(rest, &s)
			for range int(s * 1000 / f.windowMS) {
				window(&part)
			}
		default:
			e := result.Event{Name: word, AtMS: at, DoneMS: at + 200, LeastKeys: 60_000, LeastBytes: 7_000_000, LongestPauseMS: 40 + 300*rng.Float64(),
				Before: result.Span{Milliseconds: 5000, PerSecond: speed, P99: slow * 3}, During: result.Span{Milliseconds: 3000, PerSecond: speed * 0.6, P99: slow * 9}, After: result.Span{Milliseconds: 5000, PerSecond: speed * 1.1, P99: slow * 2.8},
				BalanceBefore: &result.Balance{Keys: 1.02, Bytes: 1.03, Requests: 1.1}, BalanceAfter: &result.Balance{Keys: 1.01 + 0.2*float64(contestant), Bytes: 1.02 + 0.2*float64(contestant), Requests: 1.1}}
			switch word {
			case "join":
				e.Node = f.name(born)
				born++
				nodes = append(append([]string(nil), nodes...), e.Node)
			case "leave", "kill":
				e.Node = nodes[len(nodes)-2]
				nodes = append(append([]string(nil), nodes[:len(nodes)-2]...), nodes[len(nodes)-1])
			}
			run.Loads = append(run.Loads, loadsOf(at, nodes))
			run.Events = append(run.Events, e)
			trouble = 2500 + 500*float64(contestant)
			done := at + trouble
			if word != "kill" || contestant != 1 {
				run.Events[len(run.Events)-1].BalancedMS = &done
			}
			window(&part)
			window(&part)
		}
		part.UntilMS = at
		part.Latency = latencyOf(phase)
		part.LongestPauseMS = 12
		part.Commands = []result.CommandFigures{{Command: "GET", Operations: part.Operations * 8 / 10, Failed: 0, Latency: part.Latency}, {Command: "SET", Operations: part.Operations * 2 / 10, Failed: part.Failed, Latency: part.Latency}}
		all.Merge(phase)
		phase.Reset()
		run.Phases = append(run.Phases, part)
		run.All.Operations, run.All.Failed, run.All.Unknown = run.All.Operations+part.Operations, run.All.Failed+part.Failed, run.All.Unknown+part.Unknown
	}
	run.Loads = append(run.Loads, loadsOf(at, nodes))
	run.All.Name, run.All.UntilMS, run.All.Latency, run.All.LongestPauseMS = "all", at, latencyOf(all), 350
	run.All.Commands = []result.CommandFigures{{Command: "GET", Operations: run.All.Operations * 8 / 10, Failed: 0, Latency: run.All.Latency}, {Command: "SET", Operations: run.All.Operations * 2 / 10, Failed: run.All.Failed, Latency: run.All.Latency}}
	for i := range run.Events {
		e := &run.Events[i]
		x := float64(e.MovedKeys) / float64(e.LeastKeys)
		e.Factor = &x
	}
	run.Checked = &result.Checked{Reads: run.All.Operations * 8 / 10, FinalKeys: 200_000}
	return run
}

// loadsOf are loads of which the first node has the most.
func loadsOf(at float64, nodes []string) result.Loads {
	l := result.Loads{AtMS: at, PerSecond: make([]float64, 1024)}
	for i := range l.PerSecond {
		l.PerSecond[i] = float64(i * i % 17)
	}
	for i, node := range nodes {
		rate := 2000 / float64(i+1)
		l.Nodes = append(l.Nodes, result.NodeLoad{Node: node, PerSecond: rate, BytesPerSecond: 100 * rate, Hottest: "00000000-01000000", HottestRate: rate / 10})
	}
	return l
}

func layoutOf(at float64, nodes, owners []string) result.Layout {
	l := result.Layout{AtMS: at, Nodes: nodes}
	for i, o := range owners {
		k := slices.Index(nodes, o)
		l.Primary, l.Backup = append(l.Primary, k), append(l.Backup, (k+1+i%max(1, len(nodes)-1))%len(nodes))
	}
	return l
}

// odd are reports of every form that the renderings must take. Tests must not change them.
var odd = sync.OnceValue(oddReports)

func oddReports() map[string]*result.Report {
	failed := usual()
	failed.Contestants[1].Runs[1].Failure = "node-4 did not join: connection refused"
	failed.Contestants[1].Runs[1].Events = failed.Contestants[1].Runs[1].Events[:1]
	failed.Contestants[2].Runs = failed.Contestants[2].Runs[:1]
	failed.Contestants[2].Runs[0] = result.Run{Round: 1, Failure: "start: no space left on device"}

	servers := fake{contestants: []string{"127.0.0.1:6379", "valkey.example:6379"}, rounds: 1, nodes: 1, seed: 2, script: "load 1000; run 5"}.report()
	for i := range servers.Contestants {
		c := &servers.Contestants[i]
		c.Cluster = false
		for j := range c.Runs {
			c.Runs[j].Samples, c.Runs[j].Layouts, c.Runs[j].Checked = nil, nil, nil
		}
	}
	mixed := usual()
	mixed.Contestants = append(mixed.Contestants, servers.Contestants[0])

	interrupted := fake{contestants: []string{"buckets", "ketama"}, rounds: 1, nodes: 3, seed: 3, script: "load 200000; run 3; join"}.report()
	interrupted.Interrupted = true
	interrupted.Contestants[0].Runs[0].Failure = "interrupted"
	interrupted.Contestants[1].Runs = nil

	hostile := fake{contestants: []string{`<script>alert("1")</script>&|`, "b\x1b[31m", strings.Repeat("long-", 60)}, rounds: 1, nodes: 3, seed: 4, script: "run 2; join; run 2",
		name: func(i int) string { return fmt.Sprintf(`<i>&"%d`, i) }}.report()
	hostile.Notes = append(hostile.Notes, "<b>& a note")
	hostile.Contestants[0].Runs[0].Failure = "<b>\x00 & failure"

	bad := usual()
	nan, inf := math.NaN(), math.Inf(1)
	for i := range bad.Contestants {
		for j := range bad.Contestants[i].Runs {
			run := &bad.Contestants[i].Runs[j]
			run.All.Latency = result.Latency{Mean: nan, P50: nan, P90: inf, P99: inf, P999: nan, Max: inf, Histogram: "no histogram"}
			run.Events[0].Factor, run.Events[1].BalanceAfter = &nan, &result.Balance{Keys: inf, Bytes: nan, Requests: 0}
			run.Windows[3].P99, run.Samples[2].Forwarded, *run.Samples[1].Nodes[0].Cores = nan, inf, nan
			run.GeneratorCores = inf
		}
	}

	empty := usual()
	for i := range empty.Contestants {
		for j := range empty.Contestants[i].Runs {
			empty.Contestants[i].Runs[j] = result.Run{Round: j + 1}
		}
	}
	many := fake{contestants: strings.Fields(strings.Repeat("vnode:1 ketama:2 ", 8)), rounds: 2, nodes: 3, seed: 6, script: "run 1; join; run 1"}.report()
	for i := range many.Contestants {
		many.Contestants[i].Name += fmt.Sprint(i)
	}
	return map[string]*result.Report{
		"usual":       usual(),
		"failed runs": failed,
		"servers":     servers,
		"mixed":       mixed,
		"interrupted": interrupted,
		"hostile":     hostile,
		"no numbers":  bad,
		"no windows":  empty,
		"one window":  fake{contestants: []string{"buckets"}, rounds: 1, nodes: 1, seed: 5, script: "run 0.1"}.report(),
		"many":        many,
		"nobody":      {Version: result.Version, Interrupted: true},
		"64 nodes":    fake{contestants: []string{"buckets", "vnode"}, rounds: 1, nodes: 60, seed: 7, cells: 4096, script: "run 1; join; run 1"}.report(),
		"many events": fake{contestants: []string{"buckets"}, rounds: 1, nodes: 3, seed: 8, script: strings.Repeat("join; run 0.1; leave; run 0.1; ", 30) + "run 1"}.report(),
	}
}
