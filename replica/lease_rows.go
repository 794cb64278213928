package replica

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A served row is what a node serves and since when: others have served it between two
// epochs of the same range.
type served struct {
	ring.Range
	lineage, epoch uint64
}

// A loss is the ranges of rows that ended, as they were, by one change of a node's rows.
type loss struct {
	number uint64 // of the change
	ranges []ring.Range
}

// mostLost bounds the ranges of the losses that are remembered.
const mostLost = 4096

// changed takes in that the node's rows, in the order of their starts, are others now.
func (l *Lease) changed(were, are []served) {
	still := make(map[served]bool, len(are))
	for _, s := range are {
		still[s] = true
	}
	var lost []ring.Range
	for _, s := range were {
		if !still[s] {
			lost = append(lost, s.Range)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	number := l.rows.Load() + 1
	if len(lost) > 0 {
		l.losses = append(l.losses, loss{number, merged(lost)})
	}
	all := 0
	for i := len(l.losses) - 1; i >= 0; i-- {
		if all += len(l.losses[i].ranges); all > mostLost {
			l.forgotten = l.losses[i].number
			l.losses = slices.Delete(l.losses, 0, i+1)
			break
		}
	}
	l.rows.Store(number)
}

// kept tells whether the rows of tokens, or all if there are none, are what they were at
// a mark.
func (l *Lease) kept(rows uint64, of []ring.Token) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows.Load() == rows {
		return true
	}
	if len(of) == 0 || rows < l.forgotten {
		return false
	}
	for i := len(l.losses) - 1; i >= 0 && l.losses[i].number > rows; i-- {
		for _, r := range l.losses[i].ranges {
			if slices.ContainsFunc(of, r.Contains) {
				return false
			}
		}
	}
	return true
}
