package lease

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// A servedRow row is what a node serves and since when: others have served it between two
// epochs of the same range.
type ServedRow struct {
	ring.Range
	Lineage, Epoch uint64
}

// A rowLoss is the ranges of rows that ended, as they were, by one change of a node's rows.
type rowLoss struct {
	number uint64 // of the change
	ranges []ring.Range
}

// maxLostRanges bounds the ranges of the losses that are remembered.
const maxLostRanges = 4096

// rowsChanged takes in that the node's rows, in the order of their starts, are others now.
func (l *Lease) RowsChanged(were, are []ServedRow) {
	still := make(map[ServedRow]bool, len(are))
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
	number := l.rowsVersion.Load() + 1
	if len(lost) > 0 {
		l.losses = append(l.losses, rowLoss{number, spans.Join(lost)})
	}
	all := 0
	for i := len(l.losses) - 1; i >= 0; i-- {
		if all += len(l.losses[i].ranges); all > maxLostRanges {
			l.forgottenUpTo = l.losses[i].number
			l.losses = slices.Delete(l.losses, 0, i+1)
			break
		}
	}
	l.rowsVersion.Store(number)
}

// rowsKept tells whether the rows of tokens, or all if there are none, are what they were at
// a mark.
func (l *Lease) rowsKept(rows uint64, of []ring.Token) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rowsVersion.Load() == rows {
		return true
	}
	if len(of) == 0 || rows < l.forgottenUpTo {
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
