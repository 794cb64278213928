package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/resp/node"
)

// results are those of one run, as --json writes them.
type results struct {
	Machine  machine         `json:"machine"`
	Load     string          `json:"load"`
	Quick    bool            `json:"quick"`
	Rounds   int             `json:"rounds"`
	Clients  int             `json:"clients"`
	Keys     int             `json:"keys"`
	Pairings []pairingResult `json:"pairings"`
	// Forward, Cores and Large are what --forward, --cores and --large measure instead of the pairings.
	Forward *pairingResult `json:"forward,omitempty"`
	Cores   *pairingResult `json:"cores,omitempty"`
	Large   *largeResult   `json:"large,omitempty"`
}

func writeJSON(w io.Writer, rep results) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}

// A pairingResult is what was measured with one pairing.
type pairingResult struct {
	Title     string           `json:"title"`
	Backends  int              `json:"backends,omitempty"` // with --forward
	Workloads []workloadResult `json:"workloads"`
	Memory    *memory          `json:"memory,omitempty"`
}

// A workloadResult is what all sides did with one workload: Ringside and Redis, or the contenders
// of --forward or --cores.
type workloadResult struct {
	Name     string   `json:"name"`
	Command  string   `json:"command"`
	Pipeline int      `json:"pipeline"`
	Requests int      `json:"requests"`
	Ringside []sample `json:"ringside,omitempty"` // one for each round
	Redis    []sample `json:"redis,omitempty"`

	Ratio *spread `json:"ratio,omitempty"` // of ops/s in each round, Ringside's over Redis'
	P99   float64 `json:"p99_ratio,omitempty"`

	MinRatio float64 `json:"target_min_ratio,omitempty"`
	MaxP99   float64 `json:"target_max_p99_ratio,omitempty"`

	Contenders []sideResult `json:"contenders,omitempty"`
}

// A sideResult is what one side did with one workload.
type sideResult struct {
	Name    string   `json:"name"`
	Samples []sample `json:"samples"` // one for each round
	// Ratio is that of ops/s in each round, over nutcracker's, Redis' or one core's; nil for these.
	Ratio *spread `json:"ratio,omitempty"`
}

// A sample is one measurement of one side. Processor time is in seconds per million commands and nil
// where it is not known: CPU of a single server, FrontCPU of the server that clients talk to, AllCPU
// of all servers.
type sample struct {
	figures
	CPU      *float64 `json:"cpu_s_per_mop,omitempty"`
	FrontCPU *float64 `json:"front_cpu_s_per_mop,omitempty"`
	AllCPU   *float64 `json:"all_cpu_s_per_mop,omitempty"`
}

// A spread is where the values of some rounds lie.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// bases are the sides over which others have a ratio.
var bases = []string{asRedis, asNutcracker, asOneCore}

// newResult derives the ratios from the samples.
func newResult(w workload, sides []sideResult) workloadResult {
	r := workloadResult{Name: w.name, Command: w.Command, Pipeline: w.Pipeline, Requests: w.requests,
		MinRatio: w.MinRatio, MaxP99: w.MaxP99}
	base := slices.IndexFunc(sides, func(s sideResult) bool { return slices.Contains(bases, s.Name) })
	for i := range sides {
		if base >= 0 && i != base {
			sides[i].Ratio = ratios(sides[i].Samples, sides[base].Samples)
		}
	}
	if sides[0].Name != asRingside {
		r.Contenders = sides
		return r
	}
	r.Ringside, r.Ratio = sides[0].Samples, sides[0].Ratio
	if base >= 0 {
		r.Redis = sides[base].Samples
		if p99 := summary(r.Redis).P99; p99 > 0 {
			r.P99 = summary(r.Ringside).P99 / p99
		}
	}
	return r
}

// sides returns the lines of the table.
func (r *workloadResult) sides() []sideResult {
	if r.Contenders != nil {
		return r.Contenders
	}
	both := []sideResult{{asRingside, r.Ringside, r.Ratio}}
	if len(r.Redis) > 0 {
		both = append(both, sideResult{Name: asRedis, Samples: r.Redis})
	}
	return both
}

// ratios compares within each round: the machine may be faster in another one.
func ratios(of, base []sample) *spread {
	values := make([]float64, len(of))
	for i := range of {
		values[i] = of[i].OpsPerSec / base[i].OpsPerSec
	}
	return &spread{median(values), slices.Min(values), slices.Max(values)}
}

// summary is the median of each figure over the rounds. Processor time is known if it is in every round.
func summary(samples []sample) (m sample) {
	middle := func(of func(s *sample) *float64) *float64 {
		var values []float64
		for i := range samples {
			v := of(&samples[i])
			if v == nil {
				return nil
			}
			values = append(values, *v)
		}
		v := median(values)
		return &v
	}
	m.OpsPerSec = *middle(func(s *sample) *float64 { return &s.OpsPerSec })
	m.P50 = *middle(func(s *sample) *float64 { return &s.P50 })
	m.P99 = *middle(func(s *sample) *float64 { return &s.P99 })
	m.CPU = middle(func(s *sample) *float64 { return s.CPU })
	m.FrontCPU = middle(func(s *sample) *float64 { return s.FrontCPU })
	m.AllCPU = middle(func(s *sample) *float64 { return s.AllCPU })
	return m
}

// median of an even number of values is the mean of the two in the middle; of none it is 0.
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

// memory is what the servers occupied after the last workload, in bytes.
type memory struct {
	Ringside     int64 `json:"ringside_resident"`
	RingsidePeak int64 `json:"ringside_peak"`
	Redis        int64 `json:"redis_resident,omitempty"`
	// Bound is what Ringside promises to stay within, beside InFlight, which the requests and replies
	// of all clients may take.
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
func memoryOf(sides []*side, uncached bool) *memory {
	cfg := node.DefaultConfig()
	if uncached {
		cfg.Cache = 0
	}
	m := memory{Bound: cfg.Cache + cfg.BlockCache + memtables*cfg.MemTableSize + otherMemory, InFlight: cfg.ClientMemory}
	for _, one := range sides {
		now, peak, ok := cluster.ResidentMemory(one.front().PID())
		switch {
		case !ok:
			return nil
		case one.name == asRingside:
			m.Ringside, m.RingsidePeak = now, peak
		default:
			m.Redis = now
		}
	}
	return &m
}
