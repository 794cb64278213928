package loadtest

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// saturatedMuch is the share of time without a free processor from which on a reader has
// to know of it.
const saturatedMuch = 0.1

// notes are what a reader must know.
func notes(cfg *Config, r *result.Report) []string {
	var all []string
	if slices.ContainsFunc(cfg.Contestants, func(c Contestant) bool { return !c.runsAlready() }) {
		f := cfg.Fleet
		f.EnsureDefaults()
		where := "in one process with the clients"
		if f.Processes {
			where = "each in a process of its own, on one machine with the clients"
		}
		if cfg.redirects() {
			all = append(all, "Nodes sent clients on to a key's own node, as those of Redis Cluster do, and answered for no other.")
		}
		all = append(all, fmt.Sprintf("The nodes ran %s; whoever is away for %v is replaced by others, for which a cluster usually waits 30 s.", where, f.RereplicateAfter))
	}
	var most float64
	var of string
	for _, c := range r.Contestants {
		for _, run := range c.Runs {
			if run.GeneratorSaturated > most {
				most, of = run.GeneratorSaturated, fmt.Sprintf("%s, round %d", c.Name, run.Round)
			}
		}
	}
	if most >= saturatedMuch {
		all = append(all, fmt.Sprintf("For up to %.0f %% of the time (%s) no processor was free for the clients at once: what they saw is also the machine's limit, not only the servers'.", 100*most, of))
	}
	return all
}
