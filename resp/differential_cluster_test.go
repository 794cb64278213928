package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// The same random commands go to a real Redis and to a cluster, each through any of its nodes,
// while ranges change hands. Clients notice nothing of that: whatever differs is a failure, and
// the sequence that led to it is shrunk.

// A clusterDiffer has what lasts longer than one sequence.
type clusterDiffer struct {
	t     *testing.T
	redis string
	nodes []string
	proto int
	aim   func(tags []string) // the keys of these are to change hands
}

// A world is a Redis and a cluster, both empty when it begins, and clients of both.
type world struct {
	*clusterDiffer
	redis *resptest.Conn
	nodes []*resptest.Conn
	lobby *lobby // who waits, if anybody does
	tags  []string
	moves *moveCount
	// slowest is how long a step took at most: so much later than Redis a node may have set a time to live.
	slowest time.Duration
}

// A step is something that is done to both. It returns how they differ, or "".
type step struct {
	text string
	run  func(w *world) string
}

// do does a step.
func (w *world) do(s step) (differs string) {
	began := time.Now()
	differs = s.run(w)
	w.slowest = max(w.slowest, time.Since(began))
	return differs
}

// A moveCount counts how often the keys of some tags were found at another node than before.
type moveCount struct {
	at map[string]string
	n  int
}

func (w *world) look() {
	for _, tag := range w.tags {
		v := w.nodes[0].Do("RING", "LOCATE", "{"+tag+"}").Field("primary")
		if was := w.moves.at[tag]; was != "" && v.Text != was && v.Text != "" {
			w.moves.n++
		}
		if v.Text != "" {
			w.moves.at[tag] = v.Text
		}
	}
}

// begin makes a world.
func (d *clusterDiffer) begin(tags []string) *world {
	d.aim(tags)
	w := &world{clusterDiffer: d, tags: tags, moves: &moveCount{at: map[string]string{}}}
	w.redis = resptest.Dial(d.t, d.redis, d.proto)
	for _, addr := range d.nodes {
		o := resptest.Dial(d.t, addr, d.proto)
		smallSetsOf70(d.t, o)
		w.nodes = append(w.nodes, o)
	}
	w.redis.Want("+OK", "FLUSHALL")
	w.nodes[0].Want("+OK", "FLUSHALL")
	return w
}

func (w *world) end() {
	if w.lobby != nil {
		w.lobby.leave()
	}
	for _, o := range append(slices.Clone(w.nodes), w.redis) {
		_ = o.C.Close()
	}
}

// replay runs steps in a world of its own, and returns how many it has run and how they differ
// in the end.
func (d *clusterDiffer) replay(tags []string, steps []step) (n int, differs string) {
	w := d.begin(tags)
	defer w.end()
	for i, s := range steps {
		if differs := w.do(s); differs != "" {
			return i + 1, differs
		}
	}
	return len(steps), ""
}

// shrinkFor is how long a failing sequence is looked at.
const shrinkFor = time.Minute

// fails reports a difference, with the shortest sequence that leads to one.
func (d *clusterDiffer) fails(tags []string, steps []step, differs string) {
	d.t.Helper()
	end := time.Now().Add(shrinkFor)
	tries := 1
	again := func(part []step) bool {
		for range tries {
			n, text := d.replay(tags, part)
			if text != "" {
				steps, differs = slices.Clone(part[:n]), text
				return true
			}
		}
		return false
	}
	d.t.Logf("at first: %s", differs)
	whole, always := slices.Clone(steps), 0
	for range 4 {
		if again(whole) {
			always++
		}
	}
	switch {
	case always == 0:
		steps = whole[max(0, len(whole)-60):]
		differs += "\n(not seen again in 4 more runs; the last steps)"
	case always < 4:
		tries = 4
		differs += fmt.Sprintf("\n(seen in %d of 4 more runs)", always)
		fallthrough
	default:
		shrink(steps, end, again)
	}
	var lines []string
	for _, s := range steps {
		lines = append(lines, s.text)
	}
	d.t.Fatalf("%s\nafter\n%s", differs, strings.Join(lines, "\n"))
}

// A family is commands of one kind.
type family struct {
	name  string
	begin func(*rand.Rand, []string) (first []step, next func() step)
	last  func([]string) []step
}

// runFamily runs steps until there were enough, and the keys have changed hands often enough.
func (d *clusterDiffer) runFamily(f family, seed uint64, steps, moves int) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	tags := make([]string, 3)
	for i := range tags {
		tags[i] = fmt.Sprintf("%s%x", f.name[:2], rnd.Uint32())
	}
	first, next := f.begin(rnd, tags)
	w := d.begin(tags)
	defer w.end()
	var done []step
	run := func(s step) {
		if done = append(done, s); len(done)%8 == 0 {
			w.look()
		}
		if differs := w.do(s); differs != "" {
			w.end() // who still waits there is not to be counted in another world
			d.fails(tags, done, differs)
		}
	}
	for _, s := range first {
		run(s)
	}
	for end := time.Now().Add(resptest.Patience); len(done) < steps || w.moves.n < moves; {
		run(next())
		if time.Now().After(end) {
			d.t.Fatalf("%d steps, %d moves", len(done), w.moves.n)
		}
	}
	for _, s := range f.last(tags) {
		run(s)
	}
	d.t.Logf("%d steps while the keys of %d tags changed hands %d times", len(done), len(tags), w.moves.n)
}

// DifferInCluster compares a cluster with a real Redis, for tests of whole nodes, which stand
// outside of this package. aim is told of which hash tags keys are to change hands meanwhile.
func DifferInCluster(t *testing.T, nodes []string, seed uint64, long bool, aim func(tags []string)) {
	redis := redistest.Start7(t)
	families, rounds, steps, moves := families, 1, 80, 1
	if long {
		rounds, steps, moves = 10, 2000, 10
	} else if !testing.Short() { // a random half in each run; test:cluster runs all
		families = slices.Clone(families)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(families), func(i, j int) { families[i], families[j] = families[j], families[i] })
		families = families[:(len(families)+1)/2]
	}
	if testing.Short() { // those in which several clients are at work
		families, steps = families[len(families)-3:], 30
	}
	for round := range rounds {
		for _, f := range families {
			t.Run(fmt.Sprint(f.name, round), func(t *testing.T) {
				d := &clusterDiffer{t: t, redis: redis, nodes: nodes, proto: 2 + (round+len(f.name))%2, aim: aim}
				d.runFamily(f, seed+uint64(round), steps, moves)
			})
		}
	}
}
