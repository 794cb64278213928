package lease

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// A ServedRow is a row that a node serves, with its epoch: between two epochs of a range other
// nodes have served it.
type ServedRow struct {
	ring.Range
	Lineage, Epoch uint64
}

// A rowLoss is the ranges that a node lost by one change of its rows.
type rowLoss struct {
	number uint64 // number of the change
	ranges []ring.Range
}

// maxLostRanges bounds the ranges in the remembered losses.
const maxLostRanges = 4096

// RowsChanged records a change of the node's rows. Both slices are sorted by start.
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

// rowsKept reports whether the rows of the tokens, or without tokens all rows that the node had, are still those of the
// mark.
func (l *Lease) rowsKept(rows uint64, of []ring.Token) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rowsVersion.Load() == rows {
		return true
	}
	if rows < l.forgottenUpTo {
		return false
	}
	for i := len(l.losses) - 1; i >= 0 && l.losses[i].number > rows; i-- {
		if len(of) == 0 {
			return false
		}
		for _, r := range l.losses[i].ranges {
			if slices.ContainsFunc(of, r.Contains) {
				return false
			}
		}
	}
	return true
}
