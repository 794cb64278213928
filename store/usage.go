package store

import (
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// What the eviction of keys asks of the store.

// A Usage is how long ago and how often a key was used, as far as the cache remembers.
type Usage = cache.Usage

// A Frequency says how uses of keys are counted.
type Frequency = cache.Frequency

// FirstFrequency is the counter of a new key.
const FirstFrequency = cache.FirstFrequency

// Usage returns how a key was used, which is no use of it; ok is false if the cache has dropped it.
func (ld *loads) Usage(key []byte) (u Usage, ok bool) {
	return ld.s.cache.UsageOf(PlaceOf(ld.s.token, key), key)
}

// SampleCached calls visit for keys that the cache knows, which is no use of them, until it returns false. It looks at so
// many slots of the cache's index at most, from a random one on, and reads nothing from disk. visit must not call the store.
func (ld *loads) SampleCached(slots int, visit func(Entry, Usage) bool) {
	now := ld.s.Now()
	ld.s.cache.Sample(slots, func(k *cache.Sampled) bool {
		var h layout.Header
		if h.Parse(k.Head) != nil || h.Expired(now) {
			return true
		}
		return visit(Entry{k.Key, h.Type, k.Place, h.Expiry, int64(len(k.Key)+k.Elided) + h.Size()}, k.Usage)
	})
}

// CountUses has uses of keys counted from now on; nil ends that.
func (ld *loads) CountUses(f *Frequency) { ld.s.cache.CountUses(f) }

// ActiveBytes returns the bytes of keys and values where this store follows no other one. A slice of
// 2¹⁶ tokens that the end of a range cuts counts as a whole, or not at all.
func (ld *loads) ActiveBytes() int64 { return ld.s.counts.ActiveBytes() }

// ActiveBytesOf is ActiveBytes of one database.
func (ld *loads) ActiveBytesOf(database int) int64 { return ld.s.counts.ActiveBytesOf(database) }

// SliceLoad returns what one database has in a slice of 2¹⁶ tokens; what all have, if database is -1.
func (ld *loads) SliceLoad(database int, slice uint16) Load {
	if database < 0 {
		return ld.s.counts.Of(slice)
	}
	return ld.s.counts.InSlice(database, slice)
}

// Growth returns by how many bytes the changes of a unit that are not applied yet raise what the store
// holds, or lower it if it is negative.
func Growth(u *Unit) (n int64) {
	for i := range u.deltas {
		n += u.deltas[i].Bytes
	}
	return n
}
