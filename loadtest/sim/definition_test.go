package sim

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// TestOutcomesAreThoseOfTheirDefinition takes small simulations and counts every key by
// itself, at every step, as the report's fields are defined.
func TestOutcomesAreThoseOfTheirDefinition(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
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
		bill, err := c.prepare()
		if err != nil {
			t.Fatal(err)
		}
		world := newWorld(&c, bill.script, keys)
		if len(report.Steps) != len(bill.script.scenes) {
			t.Fatalf("%s: %d steps of %d", name, len(report.Steps), len(bill.script.scenes))
		}
		for i, e := range bill.contenders {
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
	c.Strategies = []string{"buckets:00FF", "buckets:000F", "ketama", "ketama:8", "vnode", "vnode:50", Mod, Rendezvous}
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
			c.Members[i].Weight = []float64{1, 1, 2, 0.5, 3.7}[random.IntN(5)]
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

type naiveKey struct {
	key  []byte
	size int // of the value
	zipf float64
	hot  bool
}

func (k *naiveKey) bytes() int64 { return int64(len(k.key) + k.size) }

// A world is what every contender of a simulation finds.
type world struct {
	c      *Config
	script *script
	keys   []naiveKey
	hot    int
	pairs  *pairs
}

func newWorld(c *Config, s *script, keys []naiveKey) *world {
	w := &world{c: c, script: s, keys: keys, pairs: newPairs(s.nodes)}
	all := 0.0
	for i := range keys {
		keys[i].zipf = math.Pow(float64(i+1), -c.ZipfTheta)
		all += keys[i].zipf
	}
	space := keyspace{count: len(keys), sizes: c.ValueSize}
	if err := space.weigh(newCrew(context.Background(), nil), c); err != nil {
		panic(err)
	}
	for i := range keys {
		keys[i].zipf /= all
		if keys[i].hot = space.load(i).hot > 0; keys[i].hot {
			w.hot++
		}
	}
	return w
}

// owners are, for each scene and key, the nodes with a copy, the primary first.
func (w *world) owners(e entry) [][][]string {
	var all [][][]string
	var now *ring.Placement
	tokens := make([]ring.Token, len(w.keys))
	for i := range w.keys {
		if e.strategy != nil {
			tokens[i] = e.strategy.Token(w.keys[i].key)
		}
	}
	for i := range w.script.scenes {
		scene := &w.script.scenes[i]
		of := make([][]string, len(w.keys))
		switch {
		case e.strategy != nil:
			now = w.placement(e.strategy, now, scene, tokens)
			for j := range w.keys {
				of[j] = slices.Collect(now.Lookup(tokens[j]).Copies())
			}
		case e.Name == Mod:
			for j, k := range w.keys {
				at := int(wideKeyHash(k.key, w.c.Base.Hash == strategy.Slot) >> 32 % uint64(len(scene.members)))
				for b := range min(w.c.Backups+1, len(scene.members)) {
					of[j] = append(of[j], scene.members[(at+b)%len(scene.members)].ID)
				}
			}
		default:
			for j, k := range w.keys {
				of[j] = w.ranked(scene, k.key)
			}
		}
		all = append(all, of)
	}
	return all
}

func (w *world) placement(s ring.Strategy, now *ring.Placement, scene *scene, tokens []ring.Token) *ring.Placement {
	if scene.died {
		now = now.Without(w.names(scene.gone)...)
	}
	p, err := s.Desired(ring.Input{
		Members: scene.members,
		Backups: w.c.Backups,
		Present: now,
		Load: func(r ring.Range) ring.Load {
			var sum ring.Load
			for i := range w.keys {
				if k := &w.keys[i]; r.Contains(tokens[i]) {
					sum = sum.Add(ring.Load{Keys: 1, Bytes: k.bytes(), Largest: k.bytes()})
				}
			}
			return sum
		},
	})
	if err != nil {
		panic(err)
	}
	return p
}

func (w *world) names(places []int32) []string {
	var names []string
	for _, i := range places {
		names = append(names, w.script.nodes[i])
	}
	return names
}

// ranked are the nodes with the highest random weights.
func (w *world) ranked(scene *scene, key []byte) []string {
	type node struct {
		id    string
		score float64
		hash  uint64
	}
	var nodes []node
	for i, m := range scene.members {
		h := w.pairs.hash(wideKeyHash(key, w.c.Base.Hash == strategy.Slot), scene.places[i])
		u := (float64(h>>12) + 0.5) / (1 << 52)
		nodes = append(nodes, node{m.ID, -m.Weight / math.Log(u), h})
	}
	slices.SortFunc(nodes, func(a, b node) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.hash, a.hash))
	})
	var ids []string
	for _, n := range nodes[:min(w.c.Backups+1, len(nodes))] {
		ids = append(ids, n.id)
	}
	return ids
}

func (w *world) check(t *testing.T, report *Report, contender int, e entry, name string) {
	t.Helper()
	owners := w.owners(e)
	for i := range w.script.scenes {
		got := report.Steps[i].Outcomes[contender]
		want := w.expected(i, owners)
		where := fmt.Sprintf("%s\n%s, step %d, %s", name, e.Name, i, w.script.scenes[i].event)
		for _, f := range []struct {
			what      string
			got, want any
		}{
			{"moved", got.Moved, want.Moved},
			{"backups", got.Backups, want.Backups},
			{"survivors", got.Survivors, want.Survivors},
			{"promoted", got.Promoted, want.Promoted},
			{"lost", got.Lost, want.Lost},
		} {
			if f.got != f.want {
				t.Errorf("%s: %s: %v, want %v", where, f.what, f.got, f.want)
			}
		}
		for j, n := range got.Nodes {
			x := want.Nodes[j]
			if n.Primary != x.Primary || n.Copies != x.Copies || !near(n.Zipf, x.Zipf) || !near(n.Hotspot, x.Hotspot) {
				t.Errorf("%s: node %d: %+v, want %+v", where, j, n, x)
			}
		}
		if least := report.Steps[i].Least; least.Keys > 0 && !near(got.Ratio, float64(got.Moved.Keys)/float64(least.Keys)) {
			t.Errorf("%s: ratio %v", where, got.Ratio)
		}
		w.checkBalance(t, got, i, where)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// expected counts key by key.
func (w *world) expected(step int, owners [][][]string) Outcome {
	scene := &w.script.scenes[step]
	o := Outcome{Nodes: make([]NodeLoad, len(scene.members))}
	for i, m := range scene.members {
		n := &o.Nodes[i]
		for j := range w.keys {
			k, of := &w.keys[j], owners[step][j]
			if slices.Contains(of, m.ID) {
				n.Copies.add(Amount{1, k.bytes()})
			}
			if of[0] != m.ID {
				continue
			}
			n.Primary.add(Amount{1, k.bytes()})
			n.Zipf += k.zipf
			switch {
			case w.hot == 0 || w.hot == len(w.keys):
				n.Hotspot += 1 / float64(len(w.keys))
			case k.hot:
				n.Hotspot += w.c.HotShare / float64(w.hot)
			default:
				n.Hotspot += (1 - w.c.HotShare) / float64(len(w.keys)-w.hot)
			}
		}
	}
	if step == 0 {
		return o
	}
	before, after := weights(&w.script.scenes[step-1]), weights(scene)
	for j := range w.keys {
		k, was, is := &w.keys[j], owners[step-1][j], owners[step][j]
		left := was
		if scene.died {
			left = slices.DeleteFunc(slices.Clone(was), func(id string) bool { return after[id] == 0 })
		}
		if len(left) == 0 {
			o.Lost.add(Amount{1, k.bytes()})
			continue
		}
		if is[0] != was[0] && slices.Contains(was, is[0]) {
			o.Promoted++
		}
		received, given := int64(0), int64(0)
		for _, id := range is {
			if slices.Contains(left, id) {
				continue
			}
			o.Moved.add(Amount{1, k.bytes()})
			if id != is[0] {
				o.Backups.add(Amount{1, k.bytes()})
			}
			if after[id] <= before[id] {
				received++
			}
		}
		for _, id := range was {
			if !slices.Contains(is, id) && after[id] < before[id] {
				given++
			}
		}
		if n := received - given; n > 0 {
			o.Survivors.add(Amount{n, n * k.bytes()})
		}
	}
	return o
}

func weights(s *scene) map[string]float64 {
	of := make(map[string]float64)
	for _, m := range s.members {
		of[m.ID] = m.Weight
	}
	return of
}

func (w *world) checkBalance(t *testing.T, got Outcome, step int, where string) {
	t.Helper()
	members := w.script.scenes[step].members
	sorted, err := ring.SortedMembers(members)
	if err != nil {
		t.Fatal(err)
	}
	quotas := ring.Quotas(sorted, min(w.c.Backups+1, len(members)))
	all := 0.0
	for _, m := range members {
		all += m.Weight
	}
	var keys, copies []float64
	for i, m := range members {
		keys = append(keys, float64(got.Nodes[i].Primary.Keys)/float64(len(w.keys))*all/m.Weight)
		at := slices.IndexFunc(sorted, func(s ring.Member) bool { return s.ID == m.ID })
		copies = append(copies, float64(got.Nodes[i].Copies.Keys)/float64(len(w.keys))/quotas[at])
	}
	for _, f := range []struct {
		what string
		got  Spread
		of   []float64
	}{{"keys", got.Balance.Keys, keys}, {"uniform", got.Balance.Uniform, keys}, {"copies", got.Balance.Copies, copies}} {
		squares := 0.0
		for _, x := range f.of {
			squares += (x - 1) * (x - 1)
		}
		want := Spread{slices.Min(f.of), slices.Max(f.of), math.Sqrt(squares / float64(len(f.of)))}
		if !near(f.got.Min, want.Min) || !near(f.got.Max, want.Max) || !near(f.got.CV, want.CV) {
			t.Errorf("%s: balance of %s: %+v, want %+v", where, f.what, f.got, want)
		}
	}
	if reflect.DeepEqual(got.Balance.Bytes, Spread{}) {
		t.Errorf("%s: no balance of bytes", where)
	}
}
