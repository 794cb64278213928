package sim

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// TestOutcomesAreThoseOfTheirDefinition takes small simulations and counts every key by
// itself, at every step, as the report's fields are defined.
func TestOutcomesAreThoseOfTheirDefinition(t *testing.T) {
	randomtest.Draw(t, 4)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range randomtest.Length(48, 2) {
		random := rand.New(rand.NewPCG(seed, uint64(round)))
		c, keys := randomConfig(random)
		name := fmt.Sprintf("round %d: %v, %d nodes, %d keys, %d backups, hash %s, order %s, seed %d: %s",
			round, c.Strategies, len(c.Members), len(keys), c.Backups, c.Base.Hash, c.Order, c.Seed, c.Scenario)
		report, err := Run(context.Background(), c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if report.Stopped {
			t.Fatalf("%s: stopped", name)
		}
		c.KeySource = strings.NewReader("") // the first is read
		run, err := c.prepare()
		if err != nil {
			t.Fatal(err)
		}
		world := newWorld(&c, run.script, keys)
		if len(report.Steps) != len(run.script.scenes) {
			t.Fatalf("%s: %d steps of %d", name, len(report.Steps), len(run.script.scenes))
		}
		for i, e := range run.contenders {
			world.check(t, report, i, e, name)
		}
		if t.Failed() {
			return
		}
	}
}

// randomConfig is small, with the keys that it has.
func randomConfig(random *rand.Rand) (Config, []naiveKey) {
	c := DefaultConfig()
	c.Strategies = []string{"buckets:00FF", "buckets:000F", "ketama", "ketama:8", "vnode", "vnode:50", "maglev", Mod, "rendezvous/key", "lrh/key", "anchor", "memento/key"}
	random.Shuffle(len(c.Strategies), func(i, j int) { c.Strategies[i], c.Strategies[j] = c.Strategies[j], c.Strategies[i] })
	c.Seed = random.Uint64()
	c.Backups = random.IntN(5)
	c.Base.Hash = strategy.Hashes()[random.IntN(2)]
	c.Order = []string{Random, LIFO, FIFO}[random.IntN(3)]
	c.ValueSize = Sizes{10, 10 + random.IntN(3)*500}
	c.HotKeys, c.HotShare, c.ZipfTheta = random.Float64(), random.Float64(), random.Float64()*2
	c.Members = Nodes(1 + random.IntN(12))
	mixed := random.IntN(2) == 0
	for i := range c.Members {
		if mixed {
			c.Members[i].Weight = []float64{1, 1, 2, 0.5, 3.7, 1.1, 1.9}[random.IntN(7)]
		}
	}
	if mixed {
		c.NewWeight = 2
	}
	c.Scenario = randomScenario(random, c)

	c.Keys = 1 + random.IntN(1200)
	keys := make([]naiveKey, c.Keys)
	for i := range keys {
		keys[i] = naiveKey{key: fmt.Appendf(nil, "key:%012d", i), size: c.ValueSize.of(c.Seed, i)}
	}
	if random.IntN(2) == 0 {
		var source bytes.Buffer
		for i := range keys {
			key := fmt.Sprintf("%s-%d", []string{"a", "b{tag}", "\xff\x00", "ä"}[random.IntN(4)], i)
			keys[i].key = []byte(key)
			source.WriteString(key)
			if random.IntN(3) == 0 {
				keys[i].size = random.IntN(5000)
				fmt.Fprintf(&source, "\t%d", keys[i].size)
			}
			source.WriteByte('\n')
		}
		c.KeySource = &source
	}
	return c, keys
}

// randomScenario is one that can happen.
func randomScenario(random *rand.Rand, c Config) string {
	events := []string{
		"add", "add 3", "add 4 at once", "remove", "remove 2", "remove 2 at once", "remove 50% at once",
		"restore", "weight 2", "weight 0.5", "weight node-1 3", "crash", "crash 2", "crash 60%", "shuffle 4",
	}
	for {
		var chosen []string
		for range 1 + random.IntN(7) {
			chosen = append(chosen, events[random.IntN(len(events))])
		}
		c.Scenario = strings.Join(chosen, "; ")
		if c.Validate() == nil {
			return c.Scenario
		}
	}
}
