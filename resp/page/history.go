package page

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

const (
	// samplePeriod is how often a sample is taken.
	samplePeriod = 10 * time.Second
	// samplesKept are those of an hour.
	samplesKept = 360
)

// A Sample is what a node did since the sample before.
type Sample struct {
	At       int64   `json:"at"` // seconds since 1970
	Commands float64 `json:"commands_per_second"`
	Errors   float64 `json:"errors_per_second"`
	Evicted  float64 `json:"evicted_per_second"`
	In       float64 `json:"bytes_in_per_second"`
	Out      float64 `json:"bytes_out_per_second"`
	// P50 and P99 are seconds, of the commands that this node ran; nil if it ran none.
	P50         *float64 `json:"p50_seconds"`
	P99         *float64 `json:"p99_seconds"`
	Connections float64  `json:"connections"`
	Data        float64  `json:"data_bytes"`
	Memory      float64  `json:"memory_bytes"`
}

// A history keeps the samples of the last hour.
type history struct {
	gather func() ([]*dto.MetricFamily, error)

	mu  sync.Mutex
	all []Sample // the oldest first
}

// run takes samples until stop is closed.
func (h *history) run(stop <-chan struct{}) {
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	var before totals
	if families, err := h.gather(); err == nil {
		before = totalsOf(families, time.Now())
	}
	for {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
		families, err := h.gather()
		if err != nil {
			continue
		}
		now := totalsOf(families, time.Now())
		h.add(now.since(&before))
		before = now
	}
}

func (h *history) add(s Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all = append(h.all, s); len(h.all) > samplesKept {
		h.all = slices.Delete(h.all, 0, len(h.all)-samplesKept)
	}
}

// samples returns all of the last hour, never nil.
func (h *history) samples() []Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Sample{}, h.all...)
}

// merge sums up the samples of several nodes by the period in which they were taken. P50 is nil, and P99 that of the
// slowest node.
func merge(histories map[string][]Sample) []Sample {
	sums := make(map[int64]*Sample)
	for _, samples := range histories {
		for i := range samples {
			s := &samples[i]
			at := s.At - s.At%int64(samplePeriod/time.Second)
			sum := sums[at]
			if sum == nil {
				sum = &Sample{At: at}
				sums[at] = sum
			}
			sum.Commands += s.Commands
			sum.Errors += s.Errors
			sum.Evicted += s.Evicted
			sum.In += s.In
			sum.Out += s.Out
			sum.Connections += s.Connections
			sum.Data += s.Data
			sum.Memory += s.Memory
			if s.P99 != nil && (sum.P99 == nil || *s.P99 > *sum.P99) {
				sum.P99 = s.P99
			}
		}
	}
	all := make([]Sample, 0, len(sums))
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, *sums[at])
	}
	return all
}

// after returns those that are newer than a time.
func (h *history) after(at int64) []Sample {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.all)
	for i > 0 && h.all[i-1].At > at {
		i--
	}
	return slices.Clone(h.all[i:])
}

// newest returns when the last sample was taken; 0 if there is none.
func (h *history) newest() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == 0 {
		return 0
	}
	return h.all[len(h.all)-1].At
}

// totals are what counts from the start of a node, at one time.
type totals struct {
	at                                 time.Time
	commands, errors, evicted, in, out float64
	connections, dataBytes, memory     float64
	buckets                            map[float64]uint64 // commands that took at most so many seconds
}

func totalsOf(families []*dto.MetricFamily, at time.Time) totals {
	t := totals{at: at, buckets: make(map[float64]uint64)}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			label := ""
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" || l.GetName() == "direction" {
					label = l.GetValue()
				}
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			switch f.GetName() {
			case "ringside_commands_total":
				if t.commands += value; label != "ok" {
					t.errors += value
				}
			case "ringside_evicted_keys_total":
				t.evicted += value
			case "ringside_network_bytes_total":
				if label == "in" {
					t.in += value
				} else {
					t.out += value
				}
			case "ringside_connections":
				t.connections = value
			case "ringside_data_bytes":
				t.dataBytes = value
			case "ringside_memory_used_bytes":
				t.memory = value
			case "ringside_request_duration_seconds":
				for _, b := range m.GetHistogram().GetBucket() {
					if !math.IsInf(b.GetUpperBound(), 1) {
						t.buckets[b.GetUpperBound()] += b.GetCumulativeCount()
					}
				}
				t.buckets[math.Inf(1)] += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return t
}

// since returns what was done since earlier totals of the same node.
func (t *totals) since(before *totals) Sample {
	seconds := t.at.Sub(before.at).Seconds()
	rate := func(now, was float64) float64 { return max(now-was, 0) / seconds }
	s := Sample{
		At: t.at.Unix(), Commands: rate(t.commands, before.commands), Errors: rate(t.errors, before.errors),
		Evicted: rate(t.evicted, before.evicted), In: rate(t.in, before.in), Out: rate(t.out, before.out),
		Connections: t.connections, Data: t.dataBytes, Memory: t.memory,
	}
	var bounds []float64
	counts := make(map[float64]float64, len(t.buckets))
	for bound, n := range t.buckets {
		bounds = append(bounds, bound)
		counts[bound] = float64(n) - float64(before.buckets[bound])
	}
	slices.Sort(bounds)
	s.P50, s.P99 = quantile(bounds, counts, 0.5), quantile(bounds, counts, 0.99)
	return s
}

// quantile returns the value below which a part q lies of what was counted up to bounds, in order: as Prometheus
// does, it takes what lies between two bounds for evenly spread. It is nil if nothing was counted.
func quantile(bounds []float64, upTo map[float64]float64, q float64) *float64 {
	if len(bounds) == 0 || !(upTo[bounds[len(bounds)-1]] > 0) {
		return nil
	}
	rank := q * upTo[bounds[len(bounds)-1]]
	low, below := 0.0, 0.0
	for _, bound := range bounds {
		n := upTo[bound]
		if n >= rank {
			v := low
			if !math.IsInf(bound, 1) && n > below {
				v = low + (bound-low)*(rank-below)/(n-below)
			}
			return &v
		}
		low, below = bound, n
	}
	return &low
}
