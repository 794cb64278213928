package feed

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// learns notes that ranges come here by a stream.
func (p *primaryState) addLearned(ranges []ring.Range) {
	p.dropLearned(ranges)
	p.learned = append(p.learned, ranges...)
}

// dropLearnedRows notes that this node follows another in ranges. How a handoff found them says
// nothing any more then: others may be brought what this node is not.
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

// hasLearned tells whether a range came here by a stream.
func (p *primaryState) hasLearned(r ring.Range) bool {
	return slices.ContainsFunc(p.learned, func(l ring.Range) bool { return spans.Within(r, l) })
}
