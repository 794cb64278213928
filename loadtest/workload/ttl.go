package workload

import (
	"math/rand/v2"
	"strings"
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
	switch {
	case len(words) == 0:
		return TTL{}, nil
	case len(words) > 1:
		return TTL{}, words[1].Fault(ErrTTL, "%.40q is too much", words[1].Text)
	}
	least, most, isRange := strings.Cut(words[0].Text, "..")
	w := Word{Text: least, Column: words[0].Column}
	a, err := w.Duration(ErrTTL, time.Millisecond, longestTTL)
	if err != nil || !isRange {
		return TTL{a, a}, err
	}
	w = Word{Text: most, Column: w.Column + len(least) + 2}
	b, err := w.Duration(ErrTTL, a, longestTTL)
	return TTL{a, b}, err
}

// draw returns milliseconds.
func (t TTL) draw(rnd *rand.Rand) int64 {
	least, most := t.Least.Milliseconds(), t.Most.Milliseconds()
	return least + rnd.Int64N(most-least+1)
}
