package replica

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// learns notes that ranges come here by a stream.
func (o *office) learns(ranges []ring.Range) {
	o.unlearn(ranges)
	o.learned = append(o.learned, ranges...)
}

// follows notes that this node follows another in ranges. How a handoff found them says
// nothing any more then: others may be brought what this node is not.
func (o *office) follows(rows []joinRow) {
	if !o.out.apply(ruleFollowed) {
		return
	}
	ranges := make([]ring.Range, 0, len(rows))
	for i := range rows {
		ranges = append(ranges, rows[i].Range)
	}
	o.unlearn(ranges)
}

func (o *office) unlearn(ranges []ring.Range) {
	if len(o.learned) > 0 {
		all := newSpans(ranges)
		o.learned = slices.DeleteFunc(o.learned, all.touch)
	}
}

// hasLearned tells whether a range came here by a stream.
func (o *office) hasLearned(r ring.Range) bool {
	return slices.ContainsFunc(o.learned, func(l ring.Range) bool { return within(r, l) })
}
