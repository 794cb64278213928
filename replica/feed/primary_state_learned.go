package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// addLearned records ranges that this node receives by a copy.
func (p *primaryState) addLearned(ranges []ring.Range) {
	p.dropLearned(ranges)
	p.learned = append(p.learned, ranges...)
}

// dropLearnedRows records that this node follows another primary in rows. Other members may receive
// a tail that this node did not, so it can no longer assume that all had the same.
func (p *primaryState) dropLearnedRows(rows []joinRow) {
	if !p.rules.Enforced(rules.Followed) {
		return
	}
	ranges := make([]ring.Range, 0, len(rows))
	for i := range rows {
		ranges = append(ranges, rows[i].Range)
	}
	p.dropLearned(ranges)
}

func (p *primaryState) dropLearned(ranges []ring.Range) {
	if len(p.learned) > 0 {
		all := spans.New(ranges)
		p.learned = slices.DeleteFunc(p.learned, all.Overlap)
	}
}

// hasLearned reports whether this node received a range by a copy and has not followed it since.
func (p *primaryState) hasLearned(r ring.Range) bool {
	return slices.ContainsFunc(p.learned, func(l ring.Range) bool { return spans.Within(r, l) })
}
