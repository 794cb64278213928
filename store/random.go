package store

import (
	"math/rand/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// randomWindow is how many neighbours RandomKeyIn chooses from, so that a key behind
// a wide gap is not much likelier than others.
const randomWindow = 16

// keyNear returns one of the live keys that follow from, in the circle of the
// places from first to last, both included. It is none that the unit has changed.
func (v view) keyNear(from, first, last Place) ([]byte, error) {
	keys, err := v.liveKeys(nil, from, last)
	if err == nil && len(keys) < randomWindow && from > first {
		keys, err = v.liveKeys(keys, first, from-1)
	}
	if len(keys) == 0 || err != nil {
		return nil, err
	}
	return keys[rand.IntN(len(keys))], nil
}

// liveKeys appends the live keys at places from first to last to keys, until there
// are randomWindow.
func (v view) liveKeys(keys [][]byte, first, last Place) ([][]byte, error) {
	err := v.s.scanner.eachByStretches(first, v.s.cleaner.NewLooseIter, func(p Place, key []byte, h *layout.Header) bool {
		if p > last {
			return false
		}
		if database.Of(key) == v.database && !h.Expired(v.now) && !v.changed(p, key) {
			keys = append(keys, append([]byte{}, key...))
		}
		return len(keys) < randomWindow
	})
	return keys, err
}
