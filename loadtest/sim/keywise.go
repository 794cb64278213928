package sim

import (
	"slices"
	"time"
)

// keywise is the contestant of a contender that has no ranges: each key is asked for by
// itself, at every step.
type keywise struct {
	script  *script
	keys    *keyspace
	hashes  []uint64 // of keys
	rule    rule
	sample  [][]byte // keys that look-ups are timed with, and their hashes
	sampled []uint64
	timed   int32 // what timed look-ups found, so that they are not left out

	before, now []finder // of each worker
}

// A rule is a way to find the owners of a key by its hash.
type rule interface {
	// turn goes to a scene and returns a finder for each worker.
	turn(scene, workers int) ([]finder, error)
	// bytes is the memory that a client needs to find the owners in the scene.
	bytes() int
}

// A finder appends the places of a key's owners, the primary first. It is used by one goroutine.
type finder func(hash uint64, to []int32) []int32

// timedKeys is the most keys that look-ups are timed with.
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
	finders, err := k.rule.turn(scene, w.workers)
	if err != nil {
		return footprint{}, err
	}
	k.before, k.now = k.now, finders
	compute := time.Since(start)

	tallies := make([]tally, w.workers)
	for i := range tallies {
		tallies[i].nodes, tallies[i].zones = make([]nodeTally, len(k.script.nodes)), k.script.zones
	}
	roles := rolesOf(k.script, scene)
	err = w.each(len(k.hashes), 0, 0.95, func(worker, _, from, to int) {
		t := &tallies[worker]
		var before, after []int32
		for i := from; i < to; i++ {
			after = k.now[worker](k.hashes[i], after[:0])
			if scene == 0 {
				t.place(after, k.keys.load(i))
				continue
			}
			before = k.before[worker](k.hashes[i], before[:0])
			if !slices.Equal(before, after) {
				t.change(before, after, roles, k.keys.load(i))
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
	times := min(len(k.sample), max(timedKeys/4, 1<<18/nodes))
	var owners []int32
	find := func(hash uint64) {
		owners = k.now[0](hash, owners[:0])
		k.timed += owners[0]
	}
	f.lookup = nanosEach(times, func(i int) { find(k.sampled[i]) })
	f.locate = nanosEach(times, func(i int) { find(wideKeyHash(k.sample[i], k.keys.bySlot)) })
}
