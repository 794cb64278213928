package store

import (
	"math/rand/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// randomWindow is how many neighbours RandomKey chooses from, so that a key behind
// a wide gap is not much likelier than others.
const randomWindow = 16

// RandomKey returns a key, or nil if there is none. A slice of tokens is as likely
// as it has keys. Within one of few keys, all are equally likely; within others,
// and among the many keys of one hash tag, about so.
func (sc *scanner) RandomKey() ([]byte, error) {
	first := Place(sc.randomSlice()) << 48
	v := sc.s.view()
	key, err := v.keyNear(first|Place(rand.Uint64N(1<<48)), first, first|(1<<48-1))
	if err != nil {
		return nil, err
	}
	if key == nil { // the counts know more, or less, than can be seen
		return v.keyNear(Place(rand.Uint64()), 0, ^Place(0))
	}
	first = PlaceOf(sc.s.token, key) &^ (1<<32 - 1)
	again, err := v.keyNear(first|Place(rand.Uint32()), first, first|(1<<32-1))
	if again == nil { // it has gone meanwhile
		again = key
	}
	return again, err
}

func (sc *scanner) randomSlice() uint16 {
	total := sc.s.counts.Total().Keys
	if total <= 0 {
		return 0
	}
	left := rand.Int64N(total)
	for i := range 1 << 16 {
		if left -= sc.s.counts.KeysOf(uint16(i)); left < 0 {
			return uint16(i)
		}
	}
	return 0
}

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
	iter, err := v.s.scanner.headers(first)
	if err != nil {
		return keys, err
	}
	err = v.s.scanner.eachHeader(iter, func(p Place, key []byte, h *layout.Header) bool {
		if p > last {
			return false
		}
		if !h.Expired(v.now) && !v.changed(p, key) {
			keys = append(keys, append([]byte{}, key...))
		}
		return len(keys) < randomWindow
	})
	return keys, err
}
