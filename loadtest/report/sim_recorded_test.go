package report

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// recordedSim is a report of a real run:
//
//	ringside simulate --strategies buckets,ketama,mod --nodes 3 --mask 0x000f --keys 5k \
//	  --value-size 64-512 --scenario "add; add 2 at once; crash; weight 2" --seed 3 \
//	  --json testdata/simulation.json
func recordedSim(t *testing.T) *sim.Report {
	t.Helper()
	text, err := os.ReadFile("testdata/simulation.json")
	if err != nil {
		t.Fatal(err)
	}
	var r sim.Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// oddSims are reports of every form that the renderings must take.
func oddSims(t *testing.T) map[string]*sim.Report {
	long := simFake{nodes: 3, steps: 3, seed: 5, name: func(i int) string { return strings.Repeat("x", 250) + string(rune('a'+i)) }}.report()
	wide := simFake{nodes: 3, steps: 3, seed: 6, name: func(i int) string { return strings.Repeat("節点", 42) + string(rune('a'+i)) }}.report()
	hostile := simFake{nodes: 3, steps: 4, seed: 7, name: func(i int) string { return string(rune('a'+i)) + `"'><script>alert(1)</script>|` }}.report()
	hostile.Settings.KeyFile = "<b>\x1b[31m&keys|`"
	many := simFake{nodes: 5, steps: 2, seed: 8, contenders: []string{"buckets:0x0fff", "buckets", "ketama", "ketama:40", "vnode:1048576", "vnode", "vnode:2", "vnode:3", "vnode:4", "(mod)", "(rendezvous)"}}.report()
	huge := simFake{nodes: 4, steps: 2, seed: 9, keys: 1 << 30}.report()
	for i := range huge.Steps {
		huge.Steps[i].Least = sim.Amount{Keys: 1 << 62, Bytes: 1 << 62}
		for j := range huge.Steps[i].Outcomes {
			o := &huge.Steps[i].Outcomes[j]
			o.Moved, o.Survivors, o.Backups, o.Lost = sim.Amount{Keys: 1 << 62, Bytes: 1 << 62}, sim.Amount{Keys: 1 << 62}, sim.Amount{Keys: 1 << 62}, sim.Amount{Keys: 1 << 62}
			o.Ratio, o.Balance.Keys.Max, o.Balance.Keys.CV = 1e12, 1e9, 1e9
			o.Promoted, o.Ranges, o.Compute, o.LookupNanos = 1<<62, 1<<40, 1<<60, 1e15
		}
	}
	still := simFake{nodes: 1, steps: 1, seed: 10}.report() // nothing had to move
	still.Steps[1].Least = sim.Amount{}
	stopped := simFake{nodes: 4, steps: 3, seed: 11, contenders: []string{"buckets"}}.report()
	stopped.Stopped = true
	return map[string]*sim.Report{
		"recorded":       recordedSim(t),
		"made up":        simFake{nodes: 10, steps: 8, seed: 1}.report(),
		"1,000 nodes":    simFake{nodes: 1000, steps: 5, seed: 2}.report(),
		"only the start": simFake{nodes: 1, steps: 0, seed: 3}.report(),
		"one yardstick":  simFake{nodes: 4, steps: 2, seed: 4, contenders: []string{"(mod)"}}.report(),
		"long names":     long,
		"wide names":     wide,
		"hostile names":  hostile,
		"many":           many,
		"huge numbers":   huge,
		"nothing moves":  still,
		"stopped":        stopped,
		"empty":          {Version: sim.ReportVersion, Stopped: true},
		"no outcomes":    {Steps: []sim.Step{{Event: "start"}}},
	}
}
