package quota

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/store"
)

// A candidate is a key that was drawn, as the store knew it then.
type candidate struct {
	key    []byte
	place  store.Place
	bytes  int64
	expiry int64 // ms since 1970; 0: none
	cached bool  // the cache knows how it was used
	idle   uint32
	uses   uint8 // the logarithmic counter
}

// colder returns a negative number if a is to be evicted before b.
func colder(p settings.Policy, a, b *candidate) int {
	switch p {
	case settings.VolatileTTL:
		return cmp.Compare(a.expiry, b.expiry)
	case settings.AllKeysRandom, settings.VolatileRandom:
		return 0
	}
	// What the cache has dropped was used before all that it has kept.
	if a.cached != b.cached {
		if b.cached {
			return -1
		}
		return 1
	}
	if p.CountsUses() {
		if c := cmp.Compare(a.uses, b.uses); c != 0 {
			return c
		}
	}
	return cmp.Compare(b.idle, a.idle)
}

// A pool keeps the coldest candidates of earlier draws, the coldest first, so that a key that is cold
// among all is found though few are drawn at a time. Keys in it may have been used or removed since.
type pool struct{ all, spare []candidate }

// maxPool is how many candidates a pool keeps.
const maxPool = 64

// isCold reports whether the next n candidates are as cold as any key can be, as far as is known, so that
// no others need be drawn.
func (c *pool) isCold(p settings.Policy, n int) bool {
	if len(c.all) < n || p == settings.VolatileTTL {
		return false
	}
	return p == settings.AllKeysRandom || p == settings.VolatileRandom || !c.all[n-1].cached
}

// add adds candidates and leaves the coldest. It takes the slice over.
func (c *pool) add(p settings.Policy, drawn []candidate) {
	slices.SortFunc(drawn, func(a, b candidate) int { return colder(p, &a, &b) })
	merged, rest := c.spare[:0], c.all
	for len(merged) < maxPool && len(rest)+len(drawn) > 0 {
		if len(drawn) == 0 || len(rest) > 0 && colder(p, &drawn[0], &rest[0]) >= 0 {
			merged, rest = append(merged, rest[0]), rest[1:]
			continue
		}
		d := &drawn[0]
		drawn = drawn[1:]
		same := func(o candidate) bool { return o.place == d.place && bytes.Equal(o.key, d.key) }
		if !slices.ContainsFunc(c.all, same) && !slices.ContainsFunc(merged, same) {
			merged = append(merged, *d)
		}
	}
	clear(c.all)
	c.all, c.spare = merged, c.all
}

// take removes up to n of the coldest candidates, which hold at least so many bytes together, or all.
func (c *pool) take(n int, bytes int64) (taken []candidate) {
	sum := int64(0)
	for len(taken) < min(n, len(c.all)) && sum < bytes {
		sum += c.all[len(taken)].bytes
		taken = append(taken, c.all[len(taken)])
	}
	rest := copy(c.all, c.all[len(taken):])
	clear(c.all[rest:])
	c.all = c.all[:rest]
	return taken
}
