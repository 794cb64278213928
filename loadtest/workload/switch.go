package workload

import (
	"strings"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// ParseSwitch reads what follows the word first in a step such as "strategy ketama points 40": a
// strategy with settings, as RING STRATEGY takes them, and returns it with single spaces. Its error
// wraps kind.
func ParseSwitch(kind error, first Word, rest []Word) (string, error) {
	if len(rest) == 0 {
		return "", first.Fault(kind, "which strategy is missing, as in strategy ketama")
	}
	words := make([]string, len(rest))
	for i := range rest {
		words[i] = rest[i].Text
	}
	if _, err := strategy.DefaultConfig().With(words[0], words[1:]); err != nil {
		return "", rest[0].Fault(kind, "%v", err)
	}
	return strings.Join(words, " "), nil
}
