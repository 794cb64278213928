package report

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A SimulationSummary is what a whole scenario cost one contender: sums over the steps, and
// the worst that was seen after any of them, the start included.
type SimulationSummary struct {
	Contender sim.Contender

	Moved, Least, Survivors, Backups, Lost sim.Amount
	Ratio                                  float64 // Moved.Keys ÷ Least.Keys; 0 if nothing had to move
	Promoted                               int64
	WorstOneZone                           int64 // the most keys with two copies in one zone after any step
	// Off is how far the steps are from the least possible, on average: a step that moves too much does
	// not make up for one that moves too little.
	Off float64

	// Max ÷ mean, and the coefficient of variation of the keys.
	WorstKeys, WorstZipf, WorstHotspot, WorstCV float64

	// The largest of all steps; 0 for yardsticks.
	Ranges, EncodedBytes, MemoryBytes int
	// Medians of the steps, so that a moment in which the machine was busy does not
	// count.
	Compute                  time.Duration
	LookupNanos, LocateNanos float64
}

// SummarizeSimulation sums a report up, in the order of its contenders.
func SummarizeSimulation(r *sim.Report) []SimulationSummary {
	all := make([]SimulationSummary, len(r.Contenders))
	for i := range all {
		s := &all[i]
		s.Contender = r.Contenders[i]
		var computes, lookups, locates []float64
		moves := 0
		for j := range r.Steps {
			step := &r.Steps[j]
			o := &step.Outcomes[i]
			s.add(step.LeastOf(i), o)
			if step.LeastOf(i).Keys > 0 {
				s.Off += offLeast(o.Ratio)
				moves++
			}
			computes = append(computes, float64(o.Compute))
			lookups, locates = append(lookups, o.LookupNanos), append(locates, o.LocateNanos)
		}
		s.Off /= float64(max(1, moves))
		s.Ratio = Share(s.Moved.Keys, s.Least.Keys)
		s.Compute = time.Duration(sortedMedian(computes))
		s.LookupNanos, s.LocateNanos = sortedMedian(lookups), sortedMedian(locates)
	}
	return all
}

func (s *SimulationSummary) add(least sim.Amount, o *sim.Outcome) {
	sum := func(to *sim.Amount, a sim.Amount) { to.Keys += a.Keys; to.Bytes += a.Bytes }
	sum(&s.Moved, o.Moved)
	sum(&s.Least, least)
	sum(&s.Survivors, o.Survivors)
	sum(&s.Backups, o.Backups)
	sum(&s.Lost, o.Lost)
	s.Promoted += o.Promoted
	s.WorstOneZone = max(s.WorstOneZone, o.OneZone)
	s.WorstKeys = max(s.WorstKeys, o.Balance.Keys.Max)
	s.WorstZipf = max(s.WorstZipf, o.Balance.Zipf.Max)
	s.WorstHotspot = max(s.WorstHotspot, o.Balance.Hotspot.Max)
	s.WorstCV = max(s.WorstCV, o.Balance.Keys.CV)
	s.Ranges = max(s.Ranges, o.Ranges)
	s.EncodedBytes = max(s.EncodedBytes, o.EncodedBytes)
	s.MemoryBytes = max(s.MemoryBytes, o.MemoryBytes)
}

// sortedMedian sorts the values and returns their median, 0 if there are none.
func sortedMedian(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return median(all)
}

// copiesAfter is how many copies of keys there are after a step if none was lost:
// what percentages of keys are of.
func copiesAfter(r *sim.Report, step *sim.Step) int64 {
	return int64(r.Settings.Keys) * int64(max(1, min(r.Settings.Backups+1, len(step.Nodes))))
}
