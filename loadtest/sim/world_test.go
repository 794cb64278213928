package sim

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/strategy"
)

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
}

func newWorld(c *Config, s *script, keys []naiveKey) *world {
	w := &world{c: c, script: s, keys: keys}
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
	var seats *ring.Seats
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
			of = w.perKey(e.algorithm, &seats, scene)
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

// perKey are the owners of each key by an algorithm that is asked for it.
func (w *world) perKey(a *cells.Strategy, seats **ring.Seats, scene *scene) [][]string {
	members, err := ring.SortedMembers(scene.members)
	if err != nil {
		panic(err)
	}
	chooser, after, err := a.Choose(members, *seats)
	if err != nil {
		panic(err)
	}
	*seats = after
	of := make([][]string, len(w.keys))
	for j, k := range w.keys {
		hash := wideKeyHash(k.key, w.c.Base.Hash == strategy.Slot)
		for _, n := range chooser.Choose(hash, min(w.c.Backups+1, len(members)), nil) {
			of[j] = append(of[j], members[n].ID)
		}
	}
	return of
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
