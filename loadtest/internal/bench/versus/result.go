package main

import (
	"slices"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/node"
)

// A sample is one measurement of one server.
type sample struct {
	figures
	// CPU is in seconds per million commands, with what was done in the background
	// afterwards; nil where it is not known.
	CPU *float64 `json:"cpu_s_per_mop"`
}

// A workloadResult is what both servers did with one workload.
type workloadResult struct {
	Name     string   `json:"name"`
	Command  string   `json:"command"`
	Pipeline int      `json:"pipeline"`
	Requests int      `json:"requests"`
	Ringside []sample `json:"ringside"` // one for each round
	Redis    []sample `json:"redis,omitempty"`

	Ratio *spread `json:"ratio,omitempty"` // of ops/s in each round, Ringside's over Redis'
	P99   float64 `json:"p99_ratio,omitempty"`

	MinRatio float64 `json:"target_min_ratio,omitempty"`
	MaxP99   float64 `json:"target_max_p99_ratio,omitempty"`
}

// A spread is where the values of some rounds lie.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func newWorkloadResult(w workload) workloadResult {
	return workloadResult{Name: w.name, Command: w.command, Pipeline: w.pipeline, Requests: w.requests,
		MinRatio: w.minRatio, MaxP99: w.maxP99}
}

// summarize derives the ratios from the samples.
func (r *workloadResult) summarize() {
	if len(r.Redis) == 0 || len(r.Redis) != len(r.Ringside) {
		return
	}
	ratios := make([]float64, len(r.Ringside))
	for i := range ratios {
		ratios[i] = r.Ringside[i].OpsPerSec / r.Redis[i].OpsPerSec
	}
	s := spreadOf(ratios)
	r.Ratio = &s
	if p99 := summary(r.Redis).P99; p99 > 0 {
		r.P99 = summary(r.Ringside).P99 / p99
	}
}

// summary is the median of each figure over the rounds.
func summary(samples []sample) sample {
	pick := func(value func(sample) float64) float64 {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = value(s)
		}
		return median(values)
	}
	var m sample
	m.OpsPerSec = pick(func(s sample) float64 { return s.OpsPerSec })
	m.P50 = pick(func(s sample) float64 { return s.P50 })
	m.P99 = pick(func(s sample) float64 { return s.P99 })
	if !slices.ContainsFunc(samples, func(s sample) bool { return s.CPU == nil }) {
		cpu := pick(func(s sample) float64 { return *s.CPU })
		m.CPU = &cpu
	}
	return m
}

func spreadOf(values []float64) spread {
	return spread{median(values), slices.Min(values), slices.Max(values)}
}

// median of an even number of values is the mean of the two in the middle; of
// none it is 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// A pairingResult is what was measured with one pair of servers.
type pairingResult struct {
	Title     string           `json:"title"`
	Workloads []workloadResult `json:"workloads"`
	Memory    *memory          `json:"memory,omitempty"`
}

// memory is what the servers occupied after the last workload, in bytes.
type memory struct {
	Ringside     int64 `json:"ringside_resident"`
	RingsidePeak int64 `json:"ringside_peak"`
	Redis        int64 `json:"redis_resident,omitempty"`
	// Bound is what Ringside promises to stay within, beside InFlight, which the
	// requests and replies of all clients may take.
	Bound    int64 `json:"ringside_bound"`
	InFlight int64 `json:"ringside_in_flight_bound"`
}

const (
	// memtables is how many the store lets exist before writes wait.
	memtables = 8
	// otherMemory is granted for all that is neither cache nor memtable.
	otherMemory = 200 << 20
)

// memoryOf returns nil where memory is not known.
func memoryOf(servers []*server, cache int64) *memory {
	var m memory
	for i, s := range servers {
		now, peak, ok := cluster.ResidentMemory(s.PID())
		switch {
		case !ok:
			return nil
		case i == 0:
			m.Ringside, m.RingsidePeak = now, peak
		default:
			m.Redis = now
		}
	}
	cfg := node.DefaultConfig()
	m.Bound = cache + cfg.BlockCache + memtables*cfg.MemTableSize + otherMemory
	m.InFlight = cfg.ClientMemory
	return &m
}
