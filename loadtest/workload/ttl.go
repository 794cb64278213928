package workload

import (
	"math/rand/v2"
	"time"
)

// TTL says for how long keys live: from Least to Most, all alike, to the millisecond. The
// zero TTL is for good.
type TTL struct{ Least, Most time.Duration }

// longestTTL is ten years.
const longestTTL = 10 * 365 * 24 * time.Hour

// ParseTTL reads times to live, as in 10s or 1s..5m; none is for good. The error wraps
// [ErrTTL].
func ParseTTL(text string) (TTL, error) {
	words := Words(text, 1)
	if len(words) == 0 {
		return TTL{}, nil
	}
	if err := AtMost(1, ErrTTL, words); err != nil {
		return TTL{}, err
	}
	from, to, isRange := words[0].Range()
	least, err := from.Duration(ErrTTL, time.Millisecond, longestTTL)
	if err != nil || !isRange {
		return TTL{least, least}, err
	}
	most, err := to.Duration(ErrTTL, least, longestTTL)
	return TTL{least, most}, err
}

// draw returns milliseconds.
func (t TTL) draw(rnd *rand.Rand) int64 {
	least, most := t.Least.Milliseconds(), t.Most.Milliseconds()
	return least + rnd.Int64N(most-least+1)
}
