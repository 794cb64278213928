package keyversion

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Version tells whether a key has changed since: two Versions of a key that are equal
// mean that nothing was written to it in between. The converse does not hold: keys share
// counters, about one key in a million each, and what empties a range counts for all keys.
// That a key has expired, and is not removed yet, changes nothing: its expiry is for the
// caller to compare.
type Version struct{ all, stripe uint64 }

// Parts are two numbers that make up the version.
func (v Version) Parts() (a, b uint64) { return v.all, v.stripe }

// FromParts undoes Parts.
func FromParts(a, b uint64) Version { return Version{a, b} }

// Counters counts changes of keys, for watchers. Until there is one, it has no
// counters, and costs a commit one atomic load.
//
// Invariant: who changes keys counts that while it holds their latches, and before it lets
// go; who looks at a counter, or makes the counters, holds the key's latch. So a commit that
// saw no counters was over before anybody could look at one for its keys.
type Counters struct {
	all     atomic.Uint64
	stripes atomic.Pointer[stripes]
}

const stripeBits = 20

type stripes [1 << stripeBits]atomic.Uint64

func stripeOf(p layout.Place) int { return int(layout.Mix(uint64(p)) >> (64 - stripeBits)) }

// NoteBatch counts what a batch changes.
func (vs *Counters) NoteBatch(batch batchrepr.Reader) {
	counters := vs.stripes.Load()
	if counters == nil {
		return
	}
	for {
		kind, key, value, ok, err := batch.Next()
		if err != nil || !ok {
			if err != nil {
				vs.all.Add(1) // whatever it is
			}
			return
		}
		if len(key) <= layout.PlaceSize || key[0] != layout.KindData {
			continue
		}
		counters[stripeOf(layout.PlaceIn(key))].Add(1)
		if kind == pebble.InternalKeyKindRangeDelete &&
			(len(value) <= layout.PlaceSize || value[0] != layout.KindData || layout.PlaceIn(value) != layout.PlaceIn(key)) {
			vs.all.Add(1)
		}
	}
}

// Note counts an event of a key, whose latch the unit holds.
func (vs *Counters) Note(p layout.Place) {
	if counters := vs.stripes.Load(); counters != nil {
		counters[stripeOf(p)].Add(1)
	}
}

// Watched reports whether a version was ever asked for.
func (vs *Counters) Watched() bool { return vs.stripes.Load() != nil }

// Of returns the version of a key at a place, whose latch the caller holds.
func (vs *Counters) Of(p layout.Place) Version {
	counters := vs.stripes.Load()
	if counters == nil {
		vs.stripes.CompareAndSwap(nil, new(stripes))
		counters = vs.stripes.Load()
	}
	return Version{vs.all.Load(), counters[stripeOf(p)].Load()}
}

// After returns what the version of a place will be once events at some places count.
func (v Version) After(p layout.Place, noted []layout.Place) Version {
	for _, q := range noted {
		if stripeOf(p) == stripeOf(q) {
			v.stripe++
		}
	}
	return v
}

// NoteAll counts that ranges were emptied.
func (vs *Counters) NoteAll() { vs.all.Add(1) }
