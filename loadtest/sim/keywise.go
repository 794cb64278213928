package sim

import (
	"slices"
	"time"
)

// keywise is the contestant of a contender that has no ranges: each key is asked for by
// itself, at every step.
type keywise struct {
	*run
	hashes  []uint64 // of all keys
	rule    rule
	sample  [][]byte // keys that look-ups are timed with
	finders []finder // of each worker
	timed   int32    // what timed look-ups found, so that they are not left out
}

// timedKeys is the most keys that look-ups are timed with.
const timedKeys = 1 << 12

func (k *keywise) step(i int, t *tally) error {
	scene := &k.script.scenes[i]
	start := time.Now()
	var err error
	if k.rule, err = k.rule.next(scene.members, scene.places); err != nil {
		return err
	}
	t.Compute = time.Since(start)
	copies := min(k.Backups+1, len(scene.members))
	past := k.finders
	k.finders = make([]finder, k.crew.workers)
	tallies := make([]tally, k.crew.workers)
	for w := range tallies {
		tallies[w].nodes, tallies[w].zones = make([]nodeTally, len(k.script.nodes)), k.script.zones
		if k.finders[w], err = k.rule.finder(copies); err != nil {
			return err
		}
	}
	roles := rolesOf(k.script, i)
	err = k.crew.each(len(k.hashes), 0, 0.95, func(worker, _, from, to int) {
		t := &tallies[worker]
		var before, after []int32
		for at := from; at < to; at++ {
			after = k.finders[worker](k.hashes[at], after[:0])
			if i == 0 {
				t.place(after, k.keys.load(at))
				continue
			}
			before = past[worker](k.hashes[at], before[:0])
			if !slices.Equal(before, after) {
				t.change(before, after, roles, k.keys.load(at))
			}
		}
	})
	if err != nil {
		return err
	}
	for w := range tallies {
		t.add(&tallies[w])
	}
	t.MemoryBytes = k.rule.bytes(copies)
	k.time(len(scene.members), t)
	return nil
}

// time measures less often where each look-up goes over all nodes.
func (k *keywise) time(nodes int, t *tally) {
	times := min(len(k.sample), max(timedKeys/4, 1<<18/nodes))
	hashes := make([]uint64, times)
	for i := range hashes {
		hashes[i] = wideKeyHash(k.sample[i], k.keys.bySlot)
	}
	var owners []int32
	find := func(hash uint64) {
		owners = k.finders[0](hash, owners[:0])
		k.timed += owners[0]
	}
	t.LookupNanos = nanosEach(times, func(i int) { find(hashes[i]) })
	t.LocateNanos = nanosEach(times, func(i int) { find(wideKeyHash(k.sample[i], k.keys.bySlot)) })
}
