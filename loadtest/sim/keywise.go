package sim

import "time"

// keywise is the contestant of a yardstick, which has no ranges: each key is asked
// for by itself, at every step.
type keywise struct {
	script  *script
	keys    *keyspace
	hashes  []uint64 // of keys
	rule    rule
	sample  [][]byte // keys that look-ups are timed with, and their hashes
	sampled []uint64
	timed   int32 // what timed look-ups found, so that they are not left out
}

// A rule is a way to find the owners of a key by its hash.
type rule interface {
	// turn prepares for the owners of a scene.
	turn(scene int)
	// start gives the i-th key its owners in the first scene.
	start(i int, hash uint64, seat *seat)
	// move leaves the owners of the scene before and of this one in the seat, or tells
	// that they are the same.
	move(i int, hash uint64, seat *seat) bool
	// first is the primary's place.
	first(hash uint64) int32
	// bytes is the memory that a client needs to find it.
	bytes() int
}

// A seat is the room of one worker, so that nothing is made anew for every key.
type seat struct {
	before, after []int32
	ranking       []rank
}

// timedKeys is how many keys look-ups of a yardstick are timed with, over and over.
const timedKeys = 1 << 12

func newKeywise(s *script, keys *keyspace, hashes []uint64, r rule) *keywise {
	k := &keywise{script: s, keys: keys, hashes: hashes, rule: r, sample: keys.sample(timedKeys)}
	for _, key := range k.sample {
		k.sampled = append(k.sampled, wideKeyHash(key, keys.bySlot))
	}
	return k
}

func (k *keywise) step(w *crew, scene int, t *tally) (footprint, error) {
	start := time.Now()
	k.rule.turn(scene)
	compute := time.Since(start)

	tallies := make([]tally, w.workers)
	seats := make([]seat, w.workers)
	for i := range tallies {
		tallies[i].nodes = make([]nodeTally, len(k.script.nodes))
	}
	roles := rolesOf(k.script, scene)
	err := w.each(len(k.hashes), 0, 0.95, func(worker, _, from, to int) {
		t, s := &tallies[worker], &seats[worker]
		for i := from; i < to; i++ {
			if scene == 0 {
				k.rule.start(i, k.hashes[i], s)
				t.place(s.after, k.keys.load(i))
			} else if k.rule.move(i, k.hashes[i], s) {
				t.change(s.before, s.after, roles, k.keys.load(i))
			}
		}
	})
	if err != nil {
		return footprint{}, err
	}
	for i := range tallies {
		t.add(&tallies[i])
	}
	f := footprint{memory: k.rule.bytes(), compute: compute}
	k.time(len(k.script.scenes[scene].members), &f)
	return f, nil
}

// time measures less often where each look-up goes over all nodes.
func (k *keywise) time(nodes int, f *footprint) {
	times := max(timedKeys, 1<<20/nodes)
	n := len(k.sample)
	f.lookup = nanosEach(times, func(i int) { k.timed += k.rule.first(k.sampled[i%n]) })
	f.locate = nanosEach(times, func(i int) {
		k.timed += k.rule.first(wideKeyHash(k.sample[i%n], k.keys.bySlot))
	})
}
